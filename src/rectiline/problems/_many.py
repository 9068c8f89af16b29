"""Certificates of many pairs at once, for problems that differ in the strength of a penalty only.

One product of X with many vectors costs far less than many products with one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.backends import Design
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._multiples import Multiples
from rectiline.problems._problem import Problem
from rectiline.problems._proofs import FREE_TOLERANCE

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["certify_all", "predict_all"]

_FEW = 8  # one column in so many


def predict_all(design: Design, coefs: Matrix, intercepts: Vector) -> Matrix:
    """Return the predictions of every row of `coefs` with its intercept, one row for each."""
    return design.dot_many(coefs, intercepts)


def certify_all(
    problem: Problem,
    strengths: Vector,
    coefs: Matrix,
    intercepts: Vector,
    samples: Matrix | None = None,
    predictions: list[Matrix] | None = None,
) -> list[tuple[Certificate, DualPoint]]:
    """Return `Problem.certify_repaired` of one pair for each of several strengths of the penalty.

    Parameters
    ----------
    problem : Problem
        With a penalty and without rows of constraints.
    strengths : ndarray of shape (k,)
    coefs : ndarray of shape (k, n_features)
    intercepts : ndarray of shape (k,)
    samples : ndarray of shape (k, n_samples), C-contiguous, optional
        Multipliers; repaired in place, and what the dual points returned look at. By default those
        that belong to the predictions, for losses without kinks.
    predictions : list, optional
        Receives the predictions of the pairs, one matrix of shape (k, n_samples), where they were
        needed for all samples at once.

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
    >>> pairs = np.ones((2, 1)), np.array([-1.0, -1.0]), np.array([[0.5, -0.5], [0.25, -0.25]])
    >>> [proof.gap for proof, _ in certify_all(problem, np.array([1.0, 0.5]), *pairs)]
    [0.0, 0.0]
    """
    if problem.has_constraint_rows:
        raise ValueError("certify_all takes no rows of constraints.")
    if problem.penalty is None:
        raise ValueError("certify_all needs a penalty that has a strength.")
    problem.remember_levels()
    columns = multiples(problem, strengths / problem.penalty.strength)

    def at(strength: float) -> Problem:
        assert problem.penalty is not None
        return problem.with_penalty(problem.penalty.with_strength(float(strength)))

    if columns is None:
        if samples is None:
            samples = problem.rows.slopes_of_many(predict_all(problem.design, coefs, intercepts))
        return [
            at(strength).certify_repaired(*pair)
            for strength, *pair in zip(strengths, coefs, intercepts, samples, strict=True)
        ]
    judge = _judge_fixed if columns.strongly_convex else _judge_shrunk
    z, samples, q, losses, row_gaps, totals, sizes = judge(
        problem, columns, coefs, intercepts, samples
    )
    if predictions is not None and (problem.weight > 0).all():  # others are left out
        predictions.append(z)
    sums = losses, row_gaps, totals, sizes
    primals, gaps, zeros = values_and_gaps(problem, columns, coefs, intercepts, q, sums)
    reference, found = abs(problem.loss_at_zero), []
    for k, (primal, gap) in enumerate(zip(primals.tolist(), gaps.tolist(), strict=True)):
        point = DualPoint(samples[k] if gap <= zeros[k] else np.zeros(problem.n_samples))
        found.append((Certificate(primal, min(gap, float(zeros[k])), 0.0, 0.0, reference), point))
    return found


def values_and_gaps(
    problem: Problem,
    columns: Multiples,
    coefs: Matrix,
    intercepts: Vector,
    q: Matrix,
    sums: tuple[Vector, Vector, Vector, Vector],
) -> tuple[Vector, Vector, Vector]:
    """Return objectives, gaps, and gaps with zero multipliers where these may prove more.

    `sums` over the rows: losses, gaps, totals of the multipliers and of their sizes.
    """
    losses, row_gaps, totals, sizes = sums
    primals = losses + columns.values(coefs)
    gaps = row_gaps + columns.gaps(coefs, q)
    if problem.fit_intercept:
        gaps += np.abs(intercepts * totals)
        gaps[np.abs(totals) > FREE_TOLERANCE * sizes] = np.inf
    return primals, gaps, _zero_gaps(problem, columns, coefs, losses, gaps)


def _zero_gaps(
    problem: Problem, columns: Multiples, coefs: Matrix, losses: Vector, gaps: Vector
) -> Vector:
    """Return the gaps with zero multipliers, where these may prove more; infinite elsewhere.

    See `Problem._or_zero_dual`.
    """
    excess = losses - problem._least_loss
    some = np.flatnonzero(excess < gaps)
    zeros = np.full(gaps.size, np.inf)
    if some.size:
        few = columns.some(some)
        zeros[some] = np.maximum(excess[some], 0.0)
        zeros[some] += few.gaps(coefs[some], np.zeros((some.size, problem.n_features)))
    return zeros


def multiples(problem: Problem, factors: Vector) -> Multiples | None:
    """Return what the columns pay under multiples of the penalty.

    None where bounds or columns without cost ask for more than one look at a pair.
    """
    columns = problem.columns
    if problem.is_constrained or not problem.is_separable:
        return None
    if not ((columns.rho > 0) | (columns.l1 > 0)).all():
        return None
    return Multiples(columns, factors)


def _predict_sparse(design: Design, coefs: Matrix, intercepts: Vector, weight: Vector) -> Matrix:
    """Return predictions from the columns that are used, if these are few."""
    used = np.flatnonzero(coefs.any(axis=0))
    if _FEW * used.size > design.n_features or design.is_sparse:
        return design.dot_many(coefs, intercepts, weight)
    found = coefs[:, used] @ design.X[:, used].T.astype(np.float64, copy=False)
    found += intercepts[:, None]
    return np.asarray(found)


_Judged = tuple[Matrix, Matrix, Matrix, Vector, Vector, Vector, Vector]


def _judge_fixed(
    problem: Problem, columns: Multiples, coefs: Matrix, intercepts: Vector, samples: Matrix | None
) -> _Judged:
    """Return predictions, repaired multipliers, q, losses, gaps of rows, totals and their sizes.

    For penalties under which any q will do: pair after pair is looked at while it is in the cache.
    """
    design, weight = problem.design, problem.weight
    predictions = design.dot_many(coefs, intercepts, weight)
    from_slopes = samples is None
    if samples is None:
        samples = np.empty_like(predictions)
    sums = problem.rows.judge_many(predictions, samples, from_slopes, problem.fit_intercept)
    q = design.tdot_many(samples, weight)
    return predictions, samples, np.negative(q, out=q), *sums


def _judge_shrunk(
    problem: Problem, columns: Multiples, coefs: Matrix, intercepts: Vector, samples: Matrix | None
) -> _Judged:
    """Return the same where multipliers have to shrink until q is in the penalty's range."""
    design, rows, weight = problem.design, problem.rows, problem.weight
    predictions = _predict_sparse(design, coefs, intercepts, weight)
    if samples is None:
        samples = rows.slopes_of_many(predictions)
    totals, sizes = rows.repair_many(samples, problem.fit_intercept)
    q = design.tdot_many(samples, weight)
    np.negative(q, out=q)
    shrink = columns.shares_allowed(q)
    q *= shrink[:, None]
    for k in np.flatnonzero(shrink < 1.0):
        samples[k] *= shrink[k]
        totals[k], sizes[k] = samples[k].sum(), np.abs(samples[k]).sum()
    sums = rows.sums_of_many(predictions, samples)
    return predictions, samples, q, *sums, totals, sizes
