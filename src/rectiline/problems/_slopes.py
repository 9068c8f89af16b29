"""Certificates of many pairs whose multipliers are slopes of the losses, but for a few samples.

Far from kinks a multiplier is the slope at the prediction, or at another one on the same piece. At
a kink any slope between two will do, and predictions do not tell which ones balance. So the few are
listed, and no matrix of multipliers is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._judged import JudgedPairs, PairTerms, RowSums, can_judge, multiples
from rectiline.problems._problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.int64]

__all__ = ["SlopeMultipliers", "certify_slopes", "gather_slopes", "judge_slopes"]

_NO_EXCEPTIONS = None, np.zeros(0, dtype=np.int64), np.zeros(0)
_BALANCING = 250  # samples: so many move so little each that their losses hardly notice


@dataclass(frozen=True, slots=True, eq=False)
class SlopeMultipliers:
    """Multipliers of several pairs by their exceptions.

    Attributes
    ----------
    slopes : list of ndarray of shape (n_samples,)
        Slopes of the losses, per unit of weight and in their own arguments; NaN stands for the
        slope at the pair's own prediction.
    reference : ndarray of shape (k,)
        Which of the `slopes` belong to a pair; -1 for slopes at its own predictions throughout.
    first : ndarray of shape (k + 1,)
        The exceptions of pair i are at ``first[i]`` to ``first[i + 1]`` of the other two.
    row : ndarray
        Samples, growing within a pair.
    value : ndarray
        Their multipliers, slopes in the predictions; NaN for what they have without being listed.
        Multipliers of listed samples may be moved to balance an intercept.
    """

    slopes: list[Vector]
    reference: Index
    first: Index
    row: Index
    value: Vector

    @classmethod
    def of(cls, parts: list[tuple[Vector | None, Index, Vector]]) -> SlopeMultipliers:
        """Return those of several pairs: known slopes or None, exceptions, their multipliers.

        The same slopes, known by their identity, are kept once.
        """
        rows: list[Vector] = []
        reference = np.full(len(parts), -1)
        for k, (slopes, _, _) in enumerate(parts):
            if slopes is None:
                continue
            if not rows or rows[-1] is not slopes:
                rows.append(slopes)
            reference[k] = len(rows) - 1
        first = np.append(0, np.cumsum([row.size for _, row, _ in parts])).astype(np.int64)
        return cls(
            rows,
            reference,
            first,
            np.concatenate([row for _, row, _ in parts]),
            np.concatenate([value for _, _, value in parts]),
        )

    @classmethod
    def own(cls, problem: Problem, count: int) -> SlopeMultipliers:
        """Return those of `count` pairs that are slopes at their own predictions throughout.

        Some samples, spread over all, balance an intercept.
        """
        return cls.of([(None, *cls.balancing(problem))] * count)

    @staticmethod
    def balancing(problem: Problem) -> tuple[Index, Vector]:
        """Return exceptions that are none but may balance an intercept: samples spread over all."""
        some = np.zeros(0, dtype=np.int64)
        if problem.fit_intercept:
            used = np.flatnonzero(problem.weight)
            some = used[:: max(1, used.size // _BALANCING)].astype(np.int64)
        return some, np.full(some.size, np.nan)


class _SlopesDual(DualPoint):
    """Multipliers that are worked out when somebody asks for them."""

    _made: tuple[Problem, Vector | None, Vector, float, Index, Vector, float]

    @classmethod
    def of(
        cls,
        problem: Problem,
        slopes: Vector | None,
        pair: tuple[Vector, float],
        exceptions: tuple[Index, Vector],
        share: float,
    ) -> _SlopesDual:
        new = cls.__new__(cls)
        nothing = np.zeros(0)
        made = (problem, slopes, *pair, *exceptions, share)
        for name, value in (("_made", made), ("inequality", nothing), ("equality", nothing)):
            object.__setattr__(new, name, value)
        return new

    def any_inside(self, rows: _core.RowFunctions, margin: float) -> bool:
        """Whether a sample's multiplier lies inside its range, by a share `margin` of it."""
        *_, some, values, share = self._made
        return rows.any_inside(share * values, margin, some) or super().any_inside(rows, margin)

    @cached_property
    def sample(self) -> Vector:
        """A slope of each sample's weighted loss in its prediction."""
        problem, slopes, coef, intercept, rows, values, share = self._made
        sample = problem.rows.slopes(problem.design.dot(coef) + intercept)
        if slopes is not None:
            known = problem.direction * problem.weight * slopes
            sample = np.where(np.isnan(known), sample, known)
        sample[rows] = values
        problem.rows.clip(sample)
        return share * sample


def gather_slopes(problem: Problem, coefs: Matrix, intercepts: Vector) -> tuple[Matrix, Vector]:
    """Return ``X'g`` and the sum of g for the slopes g at the predictions of every pair.

    One row for each; no matrix of predictions or slopes is made.
    """
    own = SlopeMultipliers.of([_NO_EXCEPTIONS] * len(coefs))
    rows, pulls = _judged(problem, coefs, intercepts, own, balanced=False)
    return pulls, rows.totals


def _judged(
    problem: Problem,
    coefs: Matrix,
    intercepts: Vector,
    multipliers: SlopeMultipliers,
    balanced: bool,
) -> tuple[RowSums, Matrix]:
    """Return sums over the rows, and ``X'g``."""
    *sums, pulls = _core.judge_slopes(
        problem.design.by_rows.view,
        problem.rows,
        coefs,
        intercepts,
        multipliers.reference,
        multipliers.slopes,
        multipliers.first,
        multipliers.row,
        multipliers.value,
        balanced,
    )
    return RowSums(*sums), pulls


def certify_slopes(
    problem: Problem,
    strengths: Vector,
    coefs: Matrix,
    intercepts: Vector,
    multipliers: SlopeMultipliers,
) -> list[tuple[Certificate, DualPoint]]:
    """Return certificates of one pair for each of several strengths of the penalty.

    Parameters
    ----------
    problem : Problem
        As for `certify_all`, with a cost on every column and no bounds.
    strengths : ndarray of shape (k,)
    coefs : ndarray of shape (k, n_features)
    intercepts : ndarray of shape (k,)
    multipliers : SlopeMultipliers
        All are clipped into their ranges; exceptions, and these are moved to balance an intercept,
        in place.

    Returns
    -------
    list of (Certificate, DualPoint)

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.problems import SlopeMultipliers, certify_slopes
    >>> X, y = np.array([[0.0], [2.0], [5.0]]), np.array([-1, 1, 1])
    >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
    >>> kinked = np.array([0, 1]), np.array([0.5, -0.5])
    >>> multipliers = SlopeMultipliers.of([(None, *kinked)])
    >>> pair = np.ones((1, 1)), np.array([-1.0])
    >>> [proof.gap for proof, _ in certify_slopes(problem, np.ones(1), *pair, multipliers)]
    [0.0]
    """
    return judge_slopes(problem, strengths, coefs, intercepts, multipliers).proofs


def judge_slopes(
    problem: Problem,
    strengths: Vector,
    coefs: Matrix,
    intercepts: Vector,
    multipliers: SlopeMultipliers,
) -> JudgedPairs:
    """Return the same with what proves it."""
    if not can_judge(problem):
        raise ValueError("certify_slopes needs a cost on every column and no constraints.")
    columns = multiples(problem, strengths)
    rows, pulls = _judged(problem, coefs, intercepts, multipliers, problem.fit_intercept)
    q, shares = np.negative(pulls, out=pulls), np.ones(len(coefs))
    if not columns.strongly_convex:
        shares = columns.shares_allowed(q)
        q *= shares[:, None]
        rows = rows.shrunk(shares, problem.least_loss)
    first, row, value = multipliers.first, multipliers.row, multipliers.value
    duals = []
    for k, place in enumerate(multipliers.reference):
        some = slice(first[k], first[k + 1])
        known = None if place < 0 else multipliers.slopes[place]
        pair, exceptions = (coefs[k], float(intercepts[k])), (row[some], value[some])
        duals.append(_SlopesDual.of(problem, known, pair, exceptions, float(shares[k])))
    terms = PairTerms(coefs, intercepts, q, rows)
    return JudgedPairs.of(problem, strengths, columns, terms, duals)
