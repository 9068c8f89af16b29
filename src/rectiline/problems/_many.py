"""Certificates of many pairs at once, for problems that differ in their penalty only.

One product of X with many vectors costs far less than many products with one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rectiline.backends import Design
from rectiline.penalties import Penalty
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._columns import Columns
from rectiline.problems._problem import Problem
from rectiline.problems._proofs import FREE_TOLERANCE

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["certify_all", "gather_all", "predict_all"]


def predict_all(design: Design, coefs: Matrix, intercepts: Vector) -> Matrix:
    """Return the predictions of every row of `coefs` with its intercept, one row for each."""
    return design.dot_many(coefs, intercepts)


def gather_all(design: Design, samples: Matrix) -> Matrix:
    """Return ``X'g`` for every row g of `samples`, one row for each."""
    return design.tdot_many(samples)


def certify_all(
    problem: Problem,
    penalties: Sequence[Penalty],
    coefs: Matrix,
    intercepts: Vector,
    samples: Matrix | None = None,
) -> list[tuple[Certificate, DualPoint]]:
    """Return `Problem.certify_repaired` of one pair for the problem under each of the penalties.

    Parameters
    ----------
    problem : Problem
        Without rows of constraints.
    penalties : sequence of Penalty
    coefs : ndarray of shape (k, n_features)
    intercepts : ndarray of shape (k,)
    samples : ndarray of shape (k, n_samples), C-contiguous, optional
        Multipliers; repaired in place, and what the dual points returned look at. By default those
        that belong to the predictions, for losses without kinks.

    Returns
    -------
    list of (Certificate, DualPoint)

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.problems import certify_all
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
    >>> penalties = [rl.penalties.Ridge(1.0), rl.penalties.Ridge(0.5)]
    >>> pairs = np.ones((2, 1)), np.array([-1.0, -1.0]), np.array([[0.5, -0.5], [0.25, -0.25]])
    >>> [proof.gap for proof, _ in certify_all(problem, penalties, *pairs)]
    [0.0, 0.0]
    """
    if problem.has_constraint_rows:
        raise ValueError("certify_all takes no rows of constraints.")
    problem.remember_levels()
    columns = _stacked_columns(problem, penalties)
    predictions = None
    if samples is None:
        predictions = predict_all(problem.design, coefs, intercepts)
        samples = problem.rows.slopes_of_many(predictions)
    if columns is None:
        return [
            problem.with_penalty(penalty).certify_repaired(*pair)
            for penalty, *pair in zip(penalties, coefs, intercepts, samples, strict=True)
        ]
    totals, sizes = problem.rows.repair_many(samples, problem.fit_intercept)
    unbalanced = np.abs(totals) > FREE_TOLERANCE * sizes
    predictions, q = _products(problem.design, coefs, intercepts, samples, predictions)
    np.negative(q, out=q)
    if not columns.strongly_convex:  # the largest share of each dual point in the penalty's range
        low, high = columns.dual_range
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(q > high, high / q, np.where(q < low, low / q, 1.0))
        shrink = room.min(axis=1, keepdims=True)
        q *= shrink
        for k in np.flatnonzero(shrink < 1.0):
            samples[k] *= shrink[k]
            totals[k] = samples[k].sum()
    paid = 0.5 * np.einsum("kj,kj,kj->k", columns.rho, coefs, coefs)
    paid += np.einsum("kj,kj->k", columns.l1, np.abs(coefs))
    gaps = columns.fenchel_young(coefs, q).sum(axis=1)
    losses, row_gaps = problem.rows.sums_of_many(predictions, samples)
    primals = losses + paid
    gaps += row_gaps
    if problem.fit_intercept:
        gaps += np.abs(intercepts * totals)
        gaps[unbalanced] = np.inf
    trivial = problem._least_loss > losses - gaps  # there zero multipliers may prove more
    reference, found = abs(problem.loss_at_zero), []
    for k, (primal, gap) in enumerate(zip(primals.tolist(), gaps.tolist(), strict=True)):
        point = DualPoint(samples[k])
        if trivial[k]:
            one = problem.with_penalty(penalties[k])
            gap, point = one._or_zero_dual(coefs[k], primal, gap, point)
        found.append((Certificate(primal, float(gap), 0.0, 0.0, reference), point))
    return found


def _stacked_columns(problem: Problem, penalties: Sequence[Penalty]) -> Columns | None:
    """Return what the columns pay under each penalty, one row for each.

    None where bounds or columns without cost ask for more than one look at a pair.
    """
    parts = [penalty.separable(problem.n_features) for penalty in penalties]
    if problem.is_constrained or any(part is None for part in parts):
        return None
    rho, l1 = (np.array(each) for each in zip(*parts, strict=True))
    if not ((rho > 0) | (l1 > 0)).all():
        return None
    rows = problem.constraint_rows
    return Columns(rho, l1, rows.lower, rows.upper)


def _products(
    design: Design, coefs: Matrix, intercepts: Vector, samples: Matrix, predictions: Matrix | None
) -> tuple[Matrix, Matrix]:
    """Return the predictions, computed unless they are known, and ``X'g`` for every sample."""
    if predictions is None and design.is_sparse:
        both = [design.both(b, g) for b, g in zip(coefs, samples, strict=True)]
        z = np.array([one for one, _ in both]) + intercepts[:, None]
        return z, np.array([image for _, image in both])
    if predictions is None:
        predictions = predict_all(design, coefs, intercepts)
    return predictions, gather_all(design, samples)
