"""Certificates of many pairs at once, for problems that differ in the strength of a penalty only.

One product of X with many vectors costs far less than many products with one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.backends import Design
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._judged import JudgedPairs, PairTerms, RowSums, can_judge, multiples
from rectiline.problems._multiples import Multiples
from rectiline.problems._problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["certify_all", "judge_all", "predict_all"]

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
    if can_judge(problem):
        return judge_all(problem, strengths, coefs, intercepts, samples, predictions).proofs

    def at(strength: float) -> Problem:
        assert problem.penalty is not None
        return problem.with_penalty(problem.penalty.with_strength(float(strength)))

    if samples is None:
        samples = problem.rows.slopes_of_many(predict_all(problem.design, coefs, intercepts))
    return [
        at(strength).certify_repaired(*pair)
        for strength, *pair in zip(strengths, coefs, intercepts, samples, strict=True)
    ]


def judge_all(
    problem: Problem,
    strengths: Vector,
    coefs: Matrix,
    intercepts: Vector,
    samples: Matrix | None = None,
    predictions: list[Matrix] | None = None,
) -> JudgedPairs:
    """Return the same with what proves it, for a cost on every column and no constraints."""
    if not can_judge(problem):
        raise ValueError("judge_all needs a cost on every column and no constraints.")
    columns = multiples(problem, strengths)
    judge = _judge_fixed if columns.strongly_convex else _judge_shrunk
    z, samples, q, rows = judge(problem, columns, coefs, intercepts, samples)
    if predictions is not None and (problem.weight > 0).all():  # others are left out
        predictions.append(z)
    duals = [DualPoint(sample) for sample in samples]
    terms = PairTerms(coefs, intercepts, q, rows)
    return JudgedPairs.of(problem, strengths, columns, terms, duals)


def _predict_sparse(design: Design, coefs: Matrix, intercepts: Vector, weight: Vector) -> Matrix:
    """Return predictions from the columns that are used, if these are few."""
    used = np.flatnonzero(coefs.any(axis=0))
    if _FEW * used.size > design.n_features or design.is_sparse:
        return design.dot_many(coefs, intercepts, weight)
    found = coefs[:, used] @ design.X[:, used].T.astype(np.float64, copy=False)
    found += intercepts[:, None]
    return np.asarray(found)


_Judged = tuple[Matrix, Matrix, Matrix, RowSums]


def _judge_fixed(
    problem: Problem, columns: Multiples, coefs: Matrix, intercepts: Vector, samples: Matrix | None
) -> _Judged:
    """Return predictions, repaired multipliers, q, and sums over the rows.

    For penalties under which any q will do: pair after pair is looked at while it is in the cache.
    """
    design, weight = problem.design, problem.weight
    predictions = design.dot_many(coefs, intercepts, weight)
    from_slopes = samples is None
    if samples is None:
        samples = np.empty_like(predictions)
    sums = problem.rows.judge_many(predictions, samples, from_slopes, problem.fit_intercept)
    q = design.tdot_many(samples, weight)
    return predictions, samples, np.negative(q, out=q), RowSums(*sums)


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
    losses, gaps = rows.sums_of_many(predictions, samples)
    return predictions, samples, q, RowSums(losses, gaps, totals, sizes)
