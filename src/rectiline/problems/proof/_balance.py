"""Multipliers that balance free columns: found up to rounding, and shown to exist exactly.

A column without penalty and bounds requires ``q_j = 0``, an intercept requires ``sum_i g_i = 0``.
No multipliers in floating point satisfy this, but exact ones exist nearby: they move by d with
``Z'd = r``, where r is what is left and Z holds the free columns (and a column of ones). A bound on
|d| is all that a certificate needs, because it can charge what such a move may cost.

Both steps are compiled for dense Z (`core`, room `proof`). Many columns of a sparse X stay sparse:
see `_sparse_system`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rectiline import _core
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems._certificate import DualPoint
from rectiline.problems.proof._measure import UNIT, FrozenRows, Pair, gamma
from rectiline.problems.proof._sparse_system import SparseNormalSystem

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

RADIUS = 1024.0  # see `Certificate.radius`
_UP = 1 + 4 * UNIT  # rounds a bound up after a few operations
_COLUMNS_TO_STAY_SPARSE = 32  # a dense copy of fewer columns costs next to nothing
_ENTRIES_TO_STAY_SPARSE = 1_000_000
MOST_COLUMNS_MOVED = 200  # the linear systems have the order of the columns that are moved
_NEARLY_STATIONARY = 1e-4  # relative to the terms of q
_WEIGHTED_ROUNDS = 3  # products of rows are known once
_NO_COLUMNS = np.zeros(0, dtype=np.intp)
# The last free columns of a design: every certificate of a run asks for the same ones.
_sparse_parts: WeakKeyDictionary[Design, tuple[Indices, Design]] = WeakKeyDictionary()


class Moves(NamedTuple):
    """Rows whose multipliers move, by how much at most, and what that may change in q."""

    rows: Indices
    by: Vector
    q_error: Vector
    constraints: Vector | float = 0.0  # by how much multipliers of constraint rows move at most


class Balance(NamedTuple):
    """What an exact balance of free columns and of the intercept takes.

    Attributes
    ----------
    moves : Moves or None
        How far multipliers may have to move; None if they do not.
    charge : float
        What is charged where no exact balance was found.
    radius : float
    """

    moves: Moves | None = None
    charge: float = 0.0
    radius: float = math.inf


def free_part(design: Design, columns: Indices) -> Design | None:
    """Return a design of these columns alone, dense unless they are many of a sparse X."""
    k, n = columns.size, design.n_samples
    if not k:
        return None
    if design.is_sparse and k > _COLUMNS_TO_STAY_SPARSE and n * k > _ENTRIES_TO_STAY_SPARSE:
        if k == design.n_features:
            return design
        kept = _sparse_parts.get(design)
        if kept is None or not np.array_equal(kept[0], columns):
            kept = columns.copy(), Design(design.by_rows.X[:, columns])
            _sparse_parts[design] = kept
        return kept[1]
    if k == design.n_features and not design.is_sparse:
        return design
    return Design(design.dense_columns(columns))


def balancing_products(design: Design, n_free: int, rounds: int = _WEIGHTED_ROUNDS) -> float:
    """Return about how many products it takes to balance so many free columns."""
    n = design.n_samples
    if not n_free:
        return 0.0
    if design.is_sparse:  # of entries of one row
        return 0.5 * rounds * design.n_stored**2 / max(n, 1)
    return 0.5 * (rounds if n_free <= n else 1) * n * n_free * min(n_free, n)


def balance_free_columns(
    design: Design,
    columns: Indices,
    intercept: bool,
    sample: Vector,
    low: Vector,
    high: Vector,
    target: Vector,
    target_size: Vector | None = None,
) -> tuple[Vector, float]:
    """Move `sample` inside ``[low, high]`` until ``X[:, columns]' sample == target``.

    With `intercept` a column of ones is appended (and `target` has one entry more); `target_size`
    is the size of the terms that make up `target` (its own size if not given). Returns the moved
    point and the largest leftover relative to the terms of its sum.
    """
    if not design.is_sparse:  # the factor of a sparse one is asked for its time on the way
        checkpoint(products=balancing_products(design, columns.size, rounds=1))
    part = free_part(design, columns) or Design(np.empty((design.n_samples, 0)))
    return _core.balance_columns(
        part.view,
        intercept,
        sample,
        low,
        high,
        design.norm_bounds.columns[columns],
        target,
        np.abs(target) if target_size is None else target_size,
        SparseNormalSystem.of(part, intercept).solve if part.is_sparse else None,
    )


class Movable(NamedTuple):
    """Multipliers that move together to balance some columns: of samples and of constraint rows.

    Multipliers of constraint rows may be large beside what samples add to q on such a column, so
    that their rounding alone leaves more than samples can balance at a small price. Those in use
    are listed after the samples unless there are too many entries, as rows with the other sign that
    are scaled by powers of two to multipliers of the size of the samples'. They move by at most
    their own size, samples then by at most that of the largest one.

    Attributes
    ----------
    design : Design
        Has a row for each multiplier: X, or the columns to balance of X and of constraint rows,
        with that of the intercept last.
    columns : ndarray of int
        Columns of the design to balance.
    intercept : bool
        Whether the sum of the multipliers is to be balanced besides.
    multipliers, low, high : ndarray
        Multipliers and boxes.
    places : ndarray of int
        Which constraint rows follow the samples.
    scale : ndarray
        What their multipliers are divided by.
    """

    design: Design
    columns: Indices
    intercept: bool
    multipliers: Vector
    low: Vector
    high: Vector
    places: Indices = _NO_COLUMNS
    scale: Vector = np.zeros(0)

    @classmethod
    def of(cls, problem: Problem, point: DualPoint, columns: Indices) -> Movable:
        """Return what can move at a dual point."""
        design, sample, (low, high) = problem.design, point.sample, problem.dual_boxes
        n, k, intercept = sample.size, columns.size, problem.fit_intercept
        alone = cls(design, columns, intercept, sample, low, high)
        if not (k and problem.terms.region.has_rows):
            return alone
        dual, largest = point.constraints, float(np.abs(sample).max(initial=0.0))
        places = dual.nonzero()[0]
        if not places.size or largest == 0.0 or (n + dual.size) * k > _ENTRIES_TO_STAY_SPARSE:
            return alone
        # Rounded down: the method moves rows with the most room, and these are to be among them.
        power = np.frexp(dual[places] / largest)[1] - 1
        scale = np.ldexp(1.0, np.minimum(np.maximum(power, -40), 40))
        rows = problem.terms.region.stacked.design.dense_columns(columns)[places]
        Z = np.zeros((n + places.size, k + intercept))
        Z[:n, :k] = design.dense_columns(columns)
        Z[n:, :k] = -scale[:, None] * rows
        Z[:n, k:] = 1.0
        own = dual[places] / scale
        u, room = np.concatenate([sample, own]), np.concatenate([np.full(n, largest), abs(own)])
        ends = u - room, u + room
        np.maximum(ends[0][:n], low, out=ends[0][:n])
        np.minimum(ends[1][:n], high, out=ends[1][:n])
        return cls(Design(Z), np.arange(k + intercept), False, u, *ends, places, scale)

    def moved(self, point: DualPoint, target: Vector, target_size: Vector) -> DualPoint:
        """Return the dual point moved until the columns add up to `target`, nearly."""
        found, _ = balance_free_columns(*self[:6], target, target_size)
        if not self.places.size:
            return replace(point, sample=found)
        n, m, dual = point.sample.size, point.inequality.size, point.constraints
        dual[self.places] = self.scale * found[n:]
        return DualPoint(found[:n].copy(), dual[:m], dual[m:])


def balanced_on(
    problem: Problem,
    point: DualPoint,
    columns: Indices,
    frozen: FrozenRows | None = None,
    wanted: Vector | float = 0.0,
) -> DualPoint:
    """Return the dual point moved so that q is nearly `wanted` on some columns.

    With an intercept the multipliers of samples sum to zero then, nearly.
    """
    if not point.sample.size:
        return point  # all rows are frozen
    if not columns.size and (frozen is None or not problem.fit_intercept):
        if problem.fit_intercept:
            problem.rows.balance(point.sample)
        return point
    k, region, movable = columns.size, problem.terms.region, Movable.of(problem, point, columns)
    target, size = np.zeros((2, k + problem.fit_intercept))
    target[:k] = -wanted
    if frozen is not None:
        target[:k] -= frozen.gradient[columns]
        size[:k] += frozen.gradient_size[columns]
        if problem.fit_intercept:
            target[-1], size[-1] = -frozen.total, frozen.total_size
    if region.has_rows and not movable.places.size:
        target[:k] += np.asarray(region.combined(point))[columns]
        size[:k] += region.combined_size(point)[columns]
    if not (point.sample.any() or target.any()):
        return point  # nothing to move
    point = movable.moved(point, target, size)
    problem.rows.clip(point.sample)  # exactly into the boxes
    return point


def moved_to_stationarity(pair: Pair, gap: float) -> DualPoint | None:
    """Return multipliers moved so that q_j is a slope of the penalty at b_j; None: no need.

    A column in large units has a ridge part that is tiny beside its products, so that q_j may miss
    ``rho_j b_j`` by next to nothing and still add ``(q_j - rho_j b_j)^2 / (2 rho_j)``, most of the
    gap of a right answer. So does the slope of a frozen row that has crossed a knot under a weak
    penalty. Samples on kinks can move until nothing is left. Where q misses by more than a small
    share of its terms, b is not optimal.
    """
    problem, point, frozen = pair.problem, pair.point, pair.frozen
    columns, region, d = problem.columns, problem.terms.region, problem.n_features
    if not (problem.is_separable and columns.strongly_convex and d <= MOST_COLUMNS_MOVED):
        return None
    q = region.combined(point) - problem.design.tdot(point.sample)
    size = problem.terms_of_q(point)
    if frozen is not None:
        q = q - frozen.gradient
        size = size + frozen.gradient_size
    wanted = np.clip(q, *columns.slopes(pair.b))
    miss = np.abs(q - wanted)
    is_near = (miss <= _NEARLY_STATIONARY * size).all()
    if not is_near or float((0.5 * miss * miss / columns.rho).sum()) < 0.5 * gap:
        return None
    return balanced_on(problem, point, np.arange(d), frozen, wanted)


def exact_balance(pair: Pair, outside: Indices = _NO_COLUMNS) -> Balance:
    """Return what it takes to balance the free columns and the intercept exactly.

    On the columns `outside`, q moves into the range that the penalty allows as well.
    """
    problem, free, (q, error), total = pair.problem, pair.free, pair.measured.q, pair.measured.total
    columns = np.append(free, outside) if outside.size else free
    left = np.zeros(columns.size + problem.fit_intercept)
    if free.size:
        left[: free.size] = np.abs(q[free]) + error[free]
    if outside.size:
        low, high = problem.columns.dual_range
        excess = np.maximum(np.maximum(q - high, low - q), 0.0)
        left[free.size : columns.size] = (error + excess)[outside]
    if problem.fit_intercept:
        left[-1] = abs(total[0]) + total[1]
    if not left.any():
        return Balance()
    moves = exact_moves(problem, pair.point, columns, left * _UP)
    return _charge_for_imbalance(pair) if moves is None else Balance(moves)


def _charge_for_imbalance(pair: Pair) -> Balance:
    """Return what is charged for columns and an intercept that are not balanced exactly."""
    problem, free, (q, error), total = pair.problem, pair.free, pair.measured.q, pair.measured.total
    largest = RADIUS * np.maximum(np.abs(pair.b), problem.coef_unit)
    charge = float((np.abs(q) + error)[free] @ largest[free])
    if problem.fit_intercept:
        offset = float(np.max(np.abs(problem.offset), initial=0.0))
        most = RADIUS * max(abs(pair.b0), offset, problem.argument_scale)
        charge += (abs(total[0]) + total[1]) * most
    return Balance(charge=charge * (1 + gamma(free.size)), radius=RADIUS)


def exact_moves(problem: Problem, point: DualPoint, columns: Indices, left: Vector) -> Moves | None:
    """Return bounds on how far multipliers have to move for an exact balance.

    Parameters
    ----------
    problem : Problem
    point : DualPoint
        Multipliers in their boxes.
    columns : ndarray of int
        The columns on which q has to be zero.
    left : ndarray
        Upper bounds on ``|q_j|`` on these columns, and on ``|sum_i g_i|`` with an intercept.

    Returns
    -------
    Moves, or None if no such move could be shown to exist.
    """
    movable, n = Movable.of(problem, point, columns), problem.n_samples
    design, intercept, boxes = movable.design, movable.intercept, movable[3:6]
    part = free_part(design, movable.columns)
    if part is not None and part.is_sparse:
        sparse = SparseNormalSystem.of(part, intercept).exact_moves(*boxes, left)
        if sparse is None:
            return None
        rows, by, norm = sparse
        return Moves(rows, by, design.norm_bounds.columns * (norm * _UP))
    found = _core.exact_moves(
        design.view, None if part is None else part.view, intercept, *boxes, left
    )
    if found is None or not movable.places.size:
        return None if found is None else Moves(*found)
    rows, by, _ = found
    stacked, own = problem.terms.region.stacked.design.X, rows[rows >= n] - n
    moved = np.zeros(stacked.shape[0])
    moved[movable.places[own]] = movable.scale[own] * by[rows >= n]
    rows, by = rows[rows < n], by[rows < n]
    change = abs(problem.design.by_rows.X[rows]).T @ by + abs(stacked).T @ moved
    return Moves(rows, by, change * (1 + gamma(rows.size + moved.size)), moved)
