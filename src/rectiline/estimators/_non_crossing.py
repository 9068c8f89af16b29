"""Quantiles that must not cross, at the price of single ones: rows are generated where they do.

Each quantile is fitted on its own first. Where two neighbours cross, at rows of X or on the corners
of the box around them, the points join the constraints of that pair; quantiles that such points
tie together, a chain, become one problem, and the others stay as they are. That goes on until
nothing crosses anywhere in the region. Points that were never generated are satisfied and have the
multiplier zero, so that the proofs of the chains add up to one for the whole system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._typing import Vector
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.rows import Block, RowBlocks
from rectiline.solvers import Solution

_POINTS_AT_ONCE = 20  # of a pair, in one round
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

    def size(self, slopes: NDArray[np.float64], intercepts: Vector) -> float:
        """Return the size of the largest terms of a prediction."""
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        return float(np.max(np.abs(slopes) @ reach + np.abs(intercepts)))

    def checked(
        self, proof: Certificate, slopes: NDArray[np.float64], intercepts: Vector
    ) -> Certificate:
        """Return the certificate with the worst crossing anywhere in the region as a violation."""
        least = [distance.min(initial=np.inf) for distance, _ in self.closest(slopes, intercepts)]
        crossing = max(0.0, -min(least))
        if crossing <= proof.violation:
            return proof
        relative = max(crossing / self.size(slopes, intercepts), proof.relative_violation)
        return replace(proof, violation=crossing, relative_violation=relative)

    def closest(self, slopes: NDArray[np.float64], intercepts: Vector) -> list[tuple[Vector, Any]]:
        """Return, for each pair of neighbours, distances and the points where they are least."""
        if not self.is_box:
            found = list(self.rows.map_blocks(_closest_rows, (slopes, intercepts)))
            return [_least(parts) for parts in zip(*found, strict=True)]
        steps = np.diff(slopes, axis=0)
        corners = np.where(steps >= 0, self.low, self.high)
        distances = np.sum(steps * corners, axis=1) + np.diff(intercepts)
        pairs = zip(distances[:, None], corners, strict=True)
        return [(distance, sp.csr_array(corner[None])) for distance, corner in pairs]


def _block_ends(block: Block, width: int) -> NDArray[np.float64]:
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
        count = min(_POINTS_AT_ONCE, column.size)
        rows = np.sort(np.argpartition(column, count - 1)[:count]) if count else np.arange(0)
        found.append((column[rows], sp.csr_array(X[rows])))
    return found


def _least(parts: Sequence[tuple[Vector, Any]]) -> tuple[Vector, Any]:
    """Return the least distances among those of several blocks, and their points."""
    distance = np.concatenate([one for one, _ in parts])
    chosen = np.argsort(distance, kind="stable")[:_POINTS_AT_ONCE]
    return distance[chosen], sp.csr_array(sp.vstack([rows for _, rows in parts]))[chosen]


def fit_without_crossing(
    whole: StackedQuantiles,
    region: Region,
    singles: Sequence[Problem],
    solve: Callable[[Sequence[Problem], int], list[Solution]],
    is_late: Callable[[], bool],
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
    """
    m = whole.m
    points: list[Any] = [sp.csr_array((0, whole.d)) for _ in range(m - 1)]
    parts: dict[tuple[int, int], _Part] = {}
    while True:
        chains = _chains(points) if singles else [(0, m)]
        for chain in [one for one in parts if one not in chains]:
            del parts[chain]
        new = [one for one in chains if one not in parts]
        made = [_Part.of(whole, one, points, singles) for one in new]
        found = solve([part.problem for part in made], max(one.shape[0] for one in points))
        parts |= {
            one: replace(part, solution=answer)
            for one, part, answer in zip(new, made, found, strict=True)
        }
        listed = [parts[chain] for chain in sorted(parts)]
        slopes, intercepts = _joined([part.quantiles() for part in listed])
        least = -_LEAST_CROSSING * region.size(slopes, intercepts)
        closest = region.closest(slopes, intercepts)
        crossing = [k for k, (distance, _) in enumerate(closest) if (distance < least).any()]
        stopped = any(str(part.solution.status) != "solved" for part in listed)
        if not crossing or stopped or is_late():
            break
        for k in crossing:
            distance, rows = closest[k]
            points[k] = sp.csr_array(sp.vstack([points[k], rows[np.flatnonzero(distance < least)]]))
            parts = {chain: part for chain, part in parts.items() if not chain[0] <= k < chain[1]}
    if whole.fit_intercept:
        # What rounding left of a crossing is taken out, each quantile above the one below it.
        margin, lift = 4 * np.finfo(float).eps * region.size(slopes, intercepts), [0.0]
        for distance, _ in closest:
            lift.append(max(0.0, lift[-1] + margin - distance.min(initial=np.inf)))
        intercepts = intercepts + np.array(lift)
    whole = replace(whole, points=points)
    solution = _whole_solution(whole, listed, slopes, intercepts)
    if not whole.fit_intercept:
        proof = region.checked(solution.certificate, slopes, intercepts)
        solution = replace(solution, certificate=proof)
    return whole, solution


def _chains(points: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the first quantile of each chain and the one after its last."""
    cuts = [k + 1 for k, one in enumerate(points) if not one.shape[0]]
    return list(pairwise([0, *cuts, len(points) + 1]))


@dataclass(frozen=True, eq=False)
class _Part:
    """A chain of quantiles with its problem and answer."""

    first: int
    stacked: StackedQuantiles
    problem: Problem
    is_single: bool
    solution: Any = None

    @classmethod
    def of(cls, whole: StackedQuantiles, chain: Any, points: Any, singles: Any) -> _Part:
        first, end = chain
        some = replace(whole, losses=whole.losses[first:end], points=points[first : end - 1])
        is_single = bool(singles) and end - first == 1
        return cls(first, some, singles[first] if is_single else some.problem(), is_single)

    def quantiles(self) -> tuple[NDArray[np.float64], Vector]:
        """Return slopes and intercepts."""
        if self.is_single:
            return self.solution.coef[None], np.array([self.solution.intercept])
        return self.stacked.unpack(self.solution.coef)

    def proof(self, slopes: NDArray[np.float64], intercepts: Vector) -> Certificate:
        """Return the certificate of the quantiles at these values."""
        own, own0 = self.quantiles()
        if (own == slopes).all() and (own0 == intercepts).all():
            proof: Certificate = self.solution.certificate
            return proof
        dual = self.solution.dual
        if self.is_single:
            return self.problem.certify(slopes[0], float(intercepts[0]), dual)
        return self.problem.certify(self.stacked.pack(slopes, intercepts), 0.0, dual)


def _joined(parts: Sequence[tuple[Any, Vector]]) -> tuple[NDArray[np.float64], Vector]:
    slopes, intercepts = zip(*parts, strict=True)
    return np.concatenate(slopes), np.concatenate(intercepts)


def _whole_solution(
    whole: StackedQuantiles, parts: Sequence[_Part], slopes: Any, intercepts: Vector
) -> Solution:
    """Return the answer of the problem of all quantiles from those of its chains."""
    ends = [(part.first, part.first + part.stacked.m) for part in parts]
    proofs = [
        part.proof(slopes[a:b], intercepts[a:b]) for part, (a, b) in zip(parts, ends, strict=True)
    ]
    answers: list[Solution] = [part.solution for part in parts]
    unsolved = [one for one in answers if str(one.status) != "solved"]
    dual = answers[0].dual
    if len(parts) > 1:
        between = [sum(one.shape[0] for one in part.stacked.points) for part in parts]
        rows = [one.dual.inequality for one in answers]
        cut = [(row[:count], row[count:]) for row, count in zip(rows, between, strict=True)]
        dual = DualPoint(
            np.concatenate([one.dual.sample for one in answers]),
            np.concatenate([*(one for one, _ in cut), *(own for _, own in cut)]),
            np.concatenate([one.dual.equality for one in answers]),
        )
    return replace(
        unsolved[0] if unsolved else answers[0],
        coef=whole.pack(slopes, intercepts),
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
