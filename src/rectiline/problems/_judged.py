"""Pairs at several strengths of a penalty, and what rows and columns have to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._multiples import Multiples
from rectiline.problems._problem import Problem
from rectiline.problems._proofs import FREE_TOLERANCE

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

Proof = tuple[Certificate, DualPoint]

__all__ = ["JudgedPairs", "RowSums", "can_judge", "gaps_of", "multiples"]


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


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Pairs with their certificates, and what proves them.

    Attributes
    ----------
    problem : Problem
        At any strength.
    strengths : ndarray of shape (k,)
    coefs, q : ndarray of shape (k, n_features)
        Coefficients, and ``-X'g`` of the multipliers g.
    intercepts : ndarray of shape (k,)
    rows : RowSums
    duals : sequence of DualPoint
        The multipliers that all this is about; certificates may have found better ones.
    proofs : list of (Certificate, DualPoint)
    """

    problem: Problem
    strengths: Vector
    coefs: Matrix
    intercepts: Vector
    q: Matrix
    rows: RowSums
    duals: Sequence[DualPoint]
    proofs: list[Proof]

    @classmethod
    def of(
        cls,
        problem: Problem,
        strengths: Vector,
        columns: Multiples,
        coefs: Matrix,
        intercepts: Vector,
        q: Matrix,
        rows: RowSums,
        duals: Sequence[DualPoint],
    ) -> JudgedPairs:
        """Return pairs with certificates from the sums over their rows."""
        proofs = _proofs(problem, columns, coefs, intercepts, q, rows, duals)
        return cls(problem, strengths, coefs, intercepts, q, rows, duals, proofs)

    def some(self, which: list[int]) -> JudgedPairs:
        """Return some of the pairs."""
        places = np.array(which, dtype=np.intp)
        return JudgedPairs(
            self.problem,
            self.strengths[places],
            self.coefs[places],
            self.intercepts[places],
            self.q[places],
            self.rows.some(places),
            [self.duals[k] for k in which],
            [self.proofs[k] for k in which],
        )

    @classmethod
    def joined(cls, parts: Sequence[JudgedPairs]) -> JudgedPairs:
        """Return the pairs of several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]

        def all_of(name: str) -> NDArray[np.float64]:
            return np.concatenate([getattr(part, name) for part in parts])

        fields = ("losses", "gaps", "totals", "sizes")
        rows = [np.concatenate([getattr(part.rows, name) for part in parts]) for name in fields]
        return cls(
            parts[0].problem,
            all_of("strengths"),
            all_of("coefs"),
            all_of("intercepts"),
            all_of("q"),
            RowSums(*rows),
            [dual for part in parts for dual in part.duals],
            [proof for part in parts for proof in part.proofs],
        )


def gaps_of(
    problem: Problem,
    columns: Multiples,
    coefs: Matrix,
    intercepts: Vector,
    q: Matrix,
    rows: RowSums,
) -> Vector:
    """Return the gaps of pairs; infinite where multipliers do not balance a free intercept."""
    gaps = rows.gaps + columns.gaps(coefs, q)
    if problem.fit_intercept:
        gaps += np.abs(intercepts * rows.totals)
        gaps[np.abs(rows.totals) > FREE_TOLERANCE * rows.sizes] = np.inf
    return gaps


def _proofs(
    problem: Problem,
    columns: Multiples,
    coefs: Matrix,
    intercepts: Vector,
    q: Matrix,
    rows: RowSums,
    duals: Sequence[DualPoint],
) -> list[Proof]:
    """Return certificates, with the multipliers that prove more: those given, or zeros."""
    primals = rows.losses + columns.values(coefs)
    gaps = gaps_of(problem, columns, coefs, intercepts, q, rows)
    zeros = _zero_gaps(problem, columns, coefs, rows.losses, gaps)
    reference, found = abs(problem.loss_at_zero), []
    values = zip(primals.tolist(), gaps.tolist(), zeros.tolist(), duals, strict=True)
    for primal, gap, zero, dual in values:
        point = dual if gap <= zero else DualPoint(np.zeros(problem.n_samples))
        found.append((Certificate(primal, min(gap, zero), 0.0, 0.0, reference), point))
    return found


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
