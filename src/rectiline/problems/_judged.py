"""Pairs at several strengths of a penalty, and what rows and columns have to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._close import FREE_TOLERANCE
from rectiline.problems._multiples import Multiples
from rectiline.problems._problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

Proof = tuple[Certificate, DualPoint]

__all__ = ["JudgedPairs", "PairTerms", "RowSums", "can_judge", "gaps_of", "multiples"]


@dataclass(frozen=True, slots=True, eq=False)
class RowSums:
    """Sums over the rows, one entry for each pair.

    Attributes
    ----------
    losses : ndarray of shape (k,)
        Or upper bounds on them.
    gaps : ndarray of shape (k,)
        Of ``loss + conjugate - prediction * multiplier``, or upper bounds.
    totals, sizes : ndarray of shape (k,)
        Of the multipliers, and of their absolute values.
    """

    losses: Vector
    gaps: Vector
    totals: Vector
    sizes: Vector

    def some(self, which: NDArray[np.intp]) -> RowSums:
        """Return those of some of the pairs."""
        return RowSums(self.losses[which], self.gaps[which], self.totals[which], self.sizes[which])

    def shrunk(self, shares: Vector, least_loss: float) -> RowSums:
        """Return those with a share of the multipliers.

        Each term is, by convexity, at most that share of what it was, and the rest of what it is
        without multipliers.
        """
        gaps = shares * self.gaps + (1 - shares) * (self.losses - least_loss)
        return RowSums(self.losses, gaps, shares * self.totals, shares * self.sizes)


class PairTerms(NamedTuple):
    """What rows and columns need of several pairs, one row or entry for each.

    Attributes
    ----------
    coefs, q : ndarray of shape (k, n_features)
        Coefficients, and ``-X'g`` of the multipliers g.
    intercepts : ndarray of shape (k,)
    rows : RowSums
    """

    coefs: Matrix
    intercepts: Vector
    q: Matrix
    rows: RowSums

    def on(self, columns: NDArray[np.intp]) -> PairTerms:
        """Return the same for some of the columns."""
        return self._replace(coefs=self.coefs[:, columns], q=self.q[:, columns])

    def some(self, which: NDArray[np.intp]) -> PairTerms:
        """Return those of some of the pairs."""
        return PairTerms(
            self.coefs[which], self.intercepts[which], self.q[which], self.rows.some(which)
        )

    @staticmethod
    def picked(rows: Sequence[tuple[PairTerms, int]]) -> PairTerms:
        """Return pairs, each by where it is kept and its place there."""
        sums = [
            (one.rows.losses[k], one.rows.gaps[k], one.rows.totals[k], one.rows.sizes[k])
            for one, k in rows
        ]
        return PairTerms(
            np.array([one.coefs[k] for one, k in rows]),
            np.array([one.intercepts[k] for one, k in rows]),
            np.array([one.q[k] for one, k in rows]),
            RowSums(*np.array(sums).T),
        )


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Pairs with their certificates, and what proves them.

    Attributes
    ----------
    problem : Problem
        At any strength.
    strengths : ndarray of shape (k,)
    terms : PairTerms
    duals : sequence of DualPoint
        The multipliers that all this is about; certificates may have found better ones.
    proofs : list of (Certificate, DualPoint)
    """

    problem: Problem
    strengths: Vector
    terms: PairTerms
    duals: Sequence[DualPoint]
    proofs: list[Proof]

    @classmethod
    def of(
        cls,
        problem: Problem,
        strengths: Vector,
        columns: Multiples,
        terms: PairTerms,
        duals: Sequence[DualPoint],
    ) -> JudgedPairs:
        """Return pairs with certificates from their terms."""
        return cls(problem, strengths, terms, duals, _proofs(problem, columns, terms, duals))

    def some(self, which: list[int]) -> JudgedPairs:
        """Return some of the pairs; all of them, in their order, are not copied."""
        if which == list(range(len(self.duals))):
            return self
        places = np.array(which, dtype=np.intp)
        duals, proofs = [self.duals[k] for k in which], [self.proofs[k] for k in which]
        return JudgedPairs(
            self.problem, self.strengths[places], self.terms.some(places), duals, proofs
        )

    @classmethod
    def picked(cls, rows: Sequence[tuple[JudgedPairs, int]]) -> JudgedPairs:
        """Return pairs of the same problem, each by where it is kept and its place there."""
        first, places = rows[0][0], [k for _, k in rows]
        if all(one is first for one, _ in rows):
            return first.some(places)
        return cls(
            first.problem,
            np.array([one.strengths[k] for one, k in rows]),
            PairTerms.picked([(one.terms, k) for one, k in rows]),
            [one.duals[k] for one, k in rows],
            [one.proofs[k] for one, k in rows],
        )


def gaps_of(problem: Problem, columns: Multiples, terms: PairTerms) -> Vector:
    """Return the gaps of pairs; infinite where multipliers do not balance a free intercept."""
    rows = terms.rows
    gaps = rows.gaps + columns.gaps(terms.coefs, terms.q)
    if problem.fit_intercept:
        gaps += np.abs(terms.intercepts * rows.totals)
        gaps[np.abs(rows.totals) > FREE_TOLERANCE * rows.sizes] = np.inf
    return gaps


def _proofs(
    problem: Problem, columns: Multiples, terms: PairTerms, duals: Sequence[DualPoint]
) -> list[Proof]:
    """Return certificates, with the multipliers that prove more: those given, or zeros."""
    used = columns.in_use(terms.coefs)
    if used is not None:
        columns, terms = columns.on(used), terms.on(used)
    losses, coefs = terms.rows.losses, terms.coefs
    primals = losses + columns.values(coefs)
    gaps = gaps_of(problem, columns, terms)
    zeros = _zero_gaps(problem, columns, coefs, losses, gaps)
    reference, found = abs(problem.loss_at_zero), []
    values = zip(primals.tolist(), gaps.tolist(), zeros.tolist(), duals, strict=True)
    for primal, gap, zero, dual in values:
        point = dual if gap <= zero else DualPoint(np.zeros(problem.n_samples))
        found.append((Certificate(primal, min(gap, zero), 0.0, scale=reference), point))
    return found


def _zero_gaps(
    problem: Problem, columns: Multiples, coefs: Matrix, losses: Vector, gaps: Vector
) -> Vector:
    """Return the gaps with zero multipliers, where these may prove more; infinite elsewhere.

    See `Problem._or_zero_dual`.
    """
    excess = losses - problem.least_loss
    some = np.flatnonzero(excess < gaps)
    zeros = np.full(gaps.size, np.inf)
    if some.size:
        few = columns.some(some)
        zeros[some] = np.maximum(excess[some], 0.0)
        zeros[some] += few.gaps(coefs[some], np.zeros_like(coefs[some]))
    return zeros


def can_judge(problem: Problem) -> bool:
    """Whether pairs can be judged at one look: a cost on every column, and no constraints."""
    columns = problem.columns
    plain = problem.penalty is not None and problem.is_separable and not problem.is_constrained
    return plain and bool(((columns.rho > 0) | (columns.l1 > 0)).all())


def multiples(problem: Problem, strengths: Vector) -> Multiples:
    """Return what the columns pay at several strengths of the penalty, for what can be judged."""
    assert problem.penalty is not None
    return Multiples(problem.columns, strengths / problem.penalty.strength)
