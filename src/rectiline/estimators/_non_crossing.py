"""Quantiles that must not cross, at the price of single ones: rows are generated where they do.

Each quantile is fitted on its own first. Where two neighbours cross, at rows of X or on the corners
of the box around them, the points join the constraints of that pair; quantiles that such points
tie together, a chain, become one problem, and the others stay as they are. That goes on until
nothing crosses anywhere in the region. Points that were never generated are satisfied and have the
multiplier zero, so that the proofs of the chains add up to one for the whole system.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline._typing import Matrix, Vector
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.losses import Pinball
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.rows import Block, RowBlocks
from rectiline.solvers import Solution, Status

_POINTS_PER_PAIR_AND_ROUND = 20
_NEAR_ROOTS = 2.0  # samples that stay free to cross a quantile, as a multiple of sqrt(n (d + 1))
_LEAST_CROSSING = 2e-9  # relative; twice what a solved problem may leave of a violation


@dataclass(frozen=True, eq=False)
class Region:
    """Where quantiles must not cross: at the rows of a source, or on the box around them."""

    rows: RowBlocks
    low: Vector
    high: Vector
    is_box: bool

    @classmethod
    def of(cls, rows: RowBlocks, is_box: bool) -> Region:
        """Return the region of these rows; one pass finds its ends."""
        ends = np.array(list(rows.map_blocks(_block_ends, rows.n_features)))
        return cls(rows, ends[:, 0].min(axis=0), ends[:, 1].max(axis=0), is_box)

    def size(self, slopes: Matrix, intercepts: Vector) -> float:
        """Return the size of the largest terms of a prediction."""
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        return float(np.max(np.abs(slopes) @ reach + np.abs(intercepts)))

    def checked(self, proof: Certificate, slopes: Matrix, intercepts: Vector) -> Certificate:
        """Return the certificate with the worst crossing anywhere in the region as a violation."""
        least = [distance.min(initial=np.inf) for distance, _ in self.closest(slopes, intercepts)]
        crossing = max(0.0, -min(least))
        if crossing <= proof.violation:
            return proof
        relative = max(crossing / self.size(slopes, intercepts), proof.relative_violation)
        return replace(proof, violation=crossing, relative_violation=relative)

    def closest(self, slopes: Matrix, intercepts: Vector) -> list[tuple[Vector, Any]]:
        """Return, for each pair of neighbours, distances and the points where they are least."""
        if not self.is_box:
            found = list(self.rows.map_blocks(_closest_rows, (slopes, intercepts)))
            return [_least(parts) for parts in zip(*found, strict=True)]
        steps = np.diff(slopes, axis=0)
        corners = np.where(steps >= 0, self.low, self.high)
        distances = np.sum(steps * corners, axis=1) + np.diff(intercepts)
        return list(zip(distances[:, None], corners[:, None], strict=True))


def _block_ends(block: Block, width: int) -> Matrix:
    """Return the smallest and the largest values of the columns; nothing is outside of no rows."""
    X = _with_weight(block)
    if not X.shape[0]:
        return np.array([np.full(width, np.inf), np.full(width, -np.inf)])
    ends = [X.min(axis=0), X.max(axis=0)]
    return np.array([one.toarray().ravel() if sp.issparse(one) else one for one in ends], float)


def _with_weight(block: Block) -> Any:
    """Return the rows of a block that have weight."""
    is_used = None if block.weight is None else np.asarray(block.weight) > 0
    return block.X if is_used is None or is_used.all() else block.X[np.flatnonzero(is_used)]


def _closest_rows(block: Block, at: tuple[Any, Vector]) -> list[tuple[Vector, Any]]:
    """Return the least distances of each pair of neighbours in a block, with their rows."""
    X, (slopes, intercepts) = _with_weight(block), at
    distances = np.diff(np.asarray(X @ slopes.T) + intercepts, axis=1)
    found = []
    for column in np.ascontiguousarray(distances.T):
        rows = np.flatnonzero(column <= max(0.0, column.min(initial=np.inf)))
        found.append(_least([(column[rows], X[rows])]))
    return found


def _least(parts: Sequence[tuple[Vector, Any]]) -> tuple[Vector, Any]:
    """Return the least distances among those of one block or several, and their points."""
    distance = np.concatenate([one for one, _ in parts])
    chosen = np.argsort(distance, kind="stable")[:_POINTS_PER_PAIR_AND_ROUND]
    if len(parts) == 1:
        return distance[chosen], parts[0][1][chosen]
    return distance[chosen], sp.csr_array(sp.vstack([sp.csr_array(x) for _, x in parts]))[chosen]


def fit_without_crossing(
    whole: StackedQuantiles,
    region: Region,
    singles: Sequence[Problem],
    solve: Callable[[Sequence[Problem], int], list[Solution]],
    is_late: Callable[[], bool],
    tol: float,
) -> tuple[StackedQuantiles, Solution]:
    """Return quantiles that do not cross in a region: the problem of all, and its answer.

    Parameters
    ----------
    whole : StackedQuantiles
        All quantiles, without points.
    region : Region
    singles : sequence of Problem
        The problem of each quantile; none for rows in blocks, whose quantiles share the passes of
        one problem.
    solve : callable
        Solves several problems, told the most points that a pair of them has.
    is_late : callable
        Whether time is up: what still crosses is then moved apart by the intercepts alone.
    tol : float
        The relative gap that is asked for.
    """
    points: list[Any] = [sp.csr_array((0, whole.d)) for _ in range(whole.m - 1)]
    parts: dict[tuple[int, int], _Part] = {}
    frozen: dict[int, Vector] = {}  # see `_frozen_slopes`; of the quantiles of chains
    while True:
        chains = _chains(points) if singles else [(0, whole.m)]
        new = [chain for chain in chains if chain not in parts]
        made = [_Part.of(whole, chain, points, singles, frozen) for chain in new]
        found = solve([part.problem for part in made], max(one.shape[0] for one in points))
        for part, answer in zip(made, found, strict=True):
            parts[part.chain] = replace(part, solution=answer)
        listed = [parts[chain] for chain in chains]
        pairs = zip(*(part.quantiles() for part in listed), strict=True)
        slopes, intercepts = (np.concatenate(some) for some in pairs)
        least = -_LEAST_CROSSING * region.size(slopes, intercepts)
        closest = region.closest(slopes, intercepts)
        crossing = [k for k, (distance, _) in enumerate(closest) if (distance < least).any()]
        changed = set()  # quantiles of which samples were frozen that have crossed them
        for k in _joined_quantiles(chains, crossing) if singles else ():
            before = frozen.get(k)
            frozen[k] = _frozen_slopes(singles[k], slopes[k], intercepts[k], before)
            if before is not None and frozen[k] is not before:
                changed.add(k)
        if not (crossing or changed) or is_late() or not all(part.is_solved for part in listed):
            apart = intercepts
            if whole.fit_intercept:
                apart = intercepts + _lift(closest, region.size(slopes, intercepts))
            proofs = [part.proof(slopes, apart) for part in listed]
            weak = [
                one for one, proof in zip(listed, proofs, strict=True) if one.is_weak(proof, tol)
            ]
            if not weak or is_late():
                break
            for part in weak:  # all samples join its problem
                frozen |= {k: np.full_like(frozen[k], np.nan) for k in range(*part.chain)}
                changed |= set(range(*part.chain))
        for k in crossing:
            distance, rows = closest[k]
            rows = sp.csr_array(rows[np.flatnonzero(distance < least)])
            points[k] = sp.csr_array(sp.vstack([points[k], rows]))
            changed |= {k, k + 1}
        parts = {part.chain: part for part in listed if changed.isdisjoint(range(*part.chain))}
    whole = replace(whole, points=points)
    solution = _whole_solution(listed, proofs, whole.pack(slopes, apart))
    if weak and solution.status == Status.SOLVED:
        solution = replace(solution, status=Status.TIME_LIMIT)
    if not whole.fit_intercept:
        proof = region.checked(solution.certificate, slopes, apart)
        solution = replace(solution, certificate=proof)
    return whole, solution


def _chains(points: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the first quantile of each chain and the one after its last."""
    cuts = [k + 1 for k, one in enumerate(points) if not one.shape[0]]
    return list(pairwise([0, *cuts, len(points) + 1]))


def _lift(closest: Sequence[tuple[Vector, Any]], size: float) -> Vector:
    """Return what to add to the intercepts to take out what rounding left of a crossing."""
    margin, lift = 4 * np.finfo(float).eps * size, [0.0]
    for distance, _ in closest:
        lift.append(max(0.0, lift[-1] + margin - distance.min(initial=np.inf)))
    return np.array(lift)


def _joined_quantiles(chains: Sequence[tuple[int, int]], crossing: Sequence[int]) -> set[int]:
    """Return the quantiles that are in one problem with another, or will be."""
    joined = {k for first, end in chains if end - first > 1 for k in range(first, end)}
    return joined | {k + side for k in crossing for side in (0, 1)}


def _frozen_slopes(problem: Problem, b: Vector, b0: float, before: Vector | None) -> Vector:
    """Return slopes of samples that are expected to stay on their side of a quantile.

    NaN stands for the others: those near the quantile, at first and whenever samples that were
    frozen have crossed it, and those.
    """
    z = problem.design.dot(b) + b0
    now = problem.rows.slopes(z)
    has_crossed = np.zeros(z.size, dtype=bool)
    if before is not None:
        has_crossed = (before != now) & ~np.isnan(before)
        if not has_crossed.any():
            return before
    n_near = math.ceil(_NEAR_ROOTS * math.sqrt(z.size * (b.size + 1)))
    if 2 * n_near > z.size or not isinstance(problem.loss, Pinball):
        return np.full(z.size, np.nan)
    distance = np.abs(problem.direction * z + problem.offset)
    is_near = distance <= np.partition(distance, n_near)[n_near]
    return np.where(is_near | has_crossed, np.nan, now if before is None else before)


@dataclass(frozen=True, eq=False)
class _Part:
    """A chain of quantiles with its problem and answer."""

    chain: tuple[int, int]
    stacked: StackedQuantiles
    problem: Problem
    is_single: bool
    solution: Any = None

    @classmethod
    def of(
        cls, whole: StackedQuantiles, chain: Any, points: Any, singles: Any, frozen: Any
    ) -> _Part:
        first, end = chain
        some = replace(whole, losses=whole.losses[first:end], points=points[first : end - 1])
        if singles and end - first == 1:
            return cls(chain, some, singles[first], True)
        stay = np.array([frozen[k] for k in range(first, end)]) if singles else np.zeros(0)
        if not np.isnan(stay).all():
            some = replace(some, frozen=stay)
        return cls(chain, some, some.problem(), False)

    @property
    def is_solved(self) -> bool:
        """Whether the problem is solved; samples that have crossed may be missing in it."""
        return bool(self.solution.status == Status.SOLVED)

    def is_weak(self, proof: Certificate, tol: float) -> bool:
        """Whether all samples have to join the problem before it can be said to be solved."""
        is_good = self.is_solved and proof.holds(tol, math.inf)
        return self.stacked.frozen is not None and not is_good

    def quantiles(self) -> tuple[Matrix, Vector]:
        """Return slopes and intercepts."""
        if self.is_single:
            return self.solution.coef[None], np.array([self.solution.intercept])
        return self.stacked.unpack(self.solution.coef)

    @property
    def dual(self) -> DualPoint:
        """Multipliers of all samples and of the points."""
        dual: DualPoint = self.solution.dual
        if self.stacked.frozen is None:
            return dual
        return replace(dual, sample=self.stacked.all_multipliers(dual.sample))

    def proof(self, slopes: Matrix, intercepts: Vector) -> Certificate:
        """Return the certificate of its quantiles at these values of all."""
        own0, mine = self.quantiles()[1], slice(*self.chain)
        b, b0 = slopes[mine], intercepts[mine]
        if self.stacked.frozen is None and (own0 == b0).all():
            proof: Certificate = self.solution.certificate
            return proof
        if self.is_single:
            return self.problem.certify(b[0], float(b0[0]), self.dual)
        whole = replace(self.stacked, frozen=None)
        problem = self.problem if self.stacked.frozen is None else whole.problem()
        return problem.certify(whole.pack(b, b0), 0.0, self.dual)


def _whole_solution(
    parts: Sequence[_Part], proofs: Sequence[Certificate], coef: Vector
) -> Solution:
    """Return the answer of the problem of all quantiles from those of its chains."""
    answers: list[Solution] = [part.solution for part in parts]
    unsolved = [one for one in answers if one.status != Status.SOLVED]
    duals = [part.dual for part in parts]
    dual = duals[0]
    if len(parts) > 1:
        between = [sum(one.shape[0] for one in part.stacked.points) for part in parts]
        rows = [one.inequality for one in duals]
        cut = [(row[:count], row[count:]) for row, count in zip(rows, between, strict=True)]
        dual = DualPoint(
            np.concatenate([one.sample for one in duals]),
            np.concatenate([*(one for one, _ in cut), *(own for _, own in cut)]),
            np.concatenate([one.equality for one in duals]),
        )
    return replace(
        unsolved[0] if unsolved else answers[0],
        coef=coef,
        intercept=0.0,
        solver=", ".join(dict.fromkeys(one.solver for one in answers)),
        n_iter=sum(one.n_iter for one in answers),
        seconds=sum(one.seconds for one in answers),
        dual=dual,
        certificate=_sum(proofs),
        problem=None,
    )


def _sum(proofs: Sequence[Certificate]) -> Certificate:
    """Return the certificate of a problem that falls apart into several."""
    added, worst = ("primal", "gap", "rounding", "scale"), ("violation", "relative_violation")
    sums = {name: sum(getattr(one, name) for one in proofs) for name in added}
    most = {name: max(getattr(one, name) for one in proofs) for name in worst}
    return Certificate(**sums, **most, radius=min(one.radius for one in proofs))
