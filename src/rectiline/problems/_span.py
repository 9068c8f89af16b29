"""Certificates of many pairs in the span of the rows: coefficients come from the multipliers.

Under a plain ridge penalty ``b = -X'g / rho`` belongs to multipliers g, and with ``K = X X'``

    z = X b + b0 = b0 - K g / rho,        rho |b|^2 / 2 = g'K g / (2 rho),

so that columns lose nothing, and rows can be judged without another product with X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._close import FREE_TOLERANCE
from rectiline.problems._problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["certify_span"]


def certify_span(
    problem: Problem, strengths: Vector, intercepts: Vector, samples: Matrix
) -> tuple[Matrix, list[tuple[Certificate, DualPoint]]]:
    """Return the coefficients that belong to multipliers, and certificates of the pairs.

    Parameters
    ----------
    problem : Problem
        With a ridge penalty, the same for all columns, and nothing else.
    strengths : ndarray of shape (k,)
        Of the penalty, one for each pair.
    intercepts : ndarray of shape (k,)
    samples : ndarray of shape (k, n_samples), C-contiguous
        Multipliers; repaired in place, and what the dual points returned look at.

    Returns
    -------
    coefs : ndarray of shape (k, n_features)
    proofs : list of (Certificate, DualPoint)

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.problems import certify_span
    >>> X, y = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]), np.array([-1, 1])
    >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
    >>> pair = np.array([-1.0]), np.array([[2 / 3, -2 / 3]])
    >>> coefs, [(proof, _)] = certify_span(problem, np.ones(1), *pair)
    >>> coefs.round(3), round(proof.gap, 12)
    (array([[0.667, 0.667, 0.667]]), 0.0)
    """
    columns = problem.columns
    plain = problem.is_separable and not problem.is_constrained and not columns.has_l1
    same = columns.rho[0] > 0 and bool((columns.rho == columns.rho[0]).all())
    if problem.penalty is None or not plain or not same:
        raise ValueError("certify_span needs a ridge penalty, the same for all columns, alone.")
    rows, design = problem.rows, problem.design
    rho = float(columns.rho[0]) * strengths / problem.penalty.strength
    totals, sizes = rows.repair_many(samples, problem.fit_intercept)
    pulls = samples @ design.row_gram
    paid = 0.5 * np.einsum("ki,ki->k", samples, pulls) / rho
    pulls /= -rho[:, None]
    pulls += intercepts[:, None]
    losses, gaps = rows.sums_of_many(pulls, samples)
    coefs = design.tdot_many(samples, problem.weight)
    coefs /= -rho[:, None]
    if problem.fit_intercept:
        gaps = gaps + np.abs(intercepts * totals)
        gaps[np.abs(totals) > FREE_TOLERANCE * sizes] = np.inf
    # No multipliers at all may prove more.
    zeros = np.maximum(losses - problem.least_loss, 0.0) + paid
    reference, proofs = abs(problem.loss_at_zero), []
    for k, (primal, gap) in enumerate(zip((losses + paid).tolist(), gaps.tolist(), strict=True)):
        point = DualPoint(samples[k] if gap <= zeros[k] else np.zeros(problem.n_samples))
        proofs.append((Certificate(primal, min(gap, float(zeros[k])), 0.0, scale=reference), point))
    return coefs, proofs
