"""Proofs for `MultiTaskProblem.certify` and for its solvers; they end in `close` as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from rectiline._typing import Matrix, Vector
from rectiline.problems._certificate import DualPoint
from rectiline.problems.proof._balance import RADIUS, exact_balance
from rectiline.problems.proof._close import Closed, RowTerms, Term, close, row_terms
from rectiline.problems.proof._measure import Pair, gamma
from rectiline.problems.proof._prove import Proof, in_enough_digits, inside_boxes

if TYPE_CHECKING:
    from rectiline.problems._multitask import MultiTaskProblem
    from rectiline.problems._task import Task

_FREE_TOLERANCE = 1e-13  # what may be left of a sum that must be zero, relative to its terms
_NO_COLUMNS = np.zeros(0, dtype=np.intp)
_ROUNDS = 30
_ROUNDING_SHARE = 1e-15  # relative to the size of the terms: only rounding is left


@np.errstate(all="ignore")  # what overflows is not finite, and proves nothing
def prove_tasks(
    problem: MultiTaskProblem,
    coef: ArrayLike,
    intercept: ArrayLike | None = None,
    dual: Sequence[DualPoint | ArrayLike] | None = None,
    tol: float | None = None,
) -> Proof[list[DualPoint]]:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `MultiTaskProblem.certify` and, for `tol`, of `prove`.
    """
    U, b = problem.checked_point(coef, intercept)
    tasks, columns = problem.tasks, np.ascontiguousarray(U.T)
    z = [task.design.dot(u) for task, u in zip(tasks, columns)]
    if dual is None:
        dual = [DualPoint(task.rows.slopes(zt + b0)) for task, zt, b0 in zip(tasks, z, b)]
    if len(dual) != len(tasks):
        raise ValueError(f"dual must hold one entry per task, {len(tasks)}; got {len(dual)}.")
    points = list(map(inside_boxes, tasks, dual))
    for task, point in zip(tasks, points):
        if task.fit_intercept:
            task.rows.balance(point.sample)
    left = 0.0
    if problem.center:
        target = np.zeros(problem.n_features)
        for task, point in zip(tasks, points):
            target += task.terms.region.combined(point)
        moved, left = balance_common_part(tasks, [p.sample for p in points], target)
        points = [replace(p, sample=g) for p, g in zip(points, moved)]
    pairs = [Pair(*one[:4], _NO_COLUMNS, one[4]) for one in zip(tasks, columns, b, points, z)]

    def closed(twofold: bool) -> Closed:
        used = [pair.in_twofold_arithmetic() for pair in pairs] if twofold else pairs
        return _closed(problem, U, used, left)

    found = in_enough_digits(closed, tol)
    if found.by_zero_dual:
        points = [task.zero_dual() for task in tasks]
    return Proof(found.certificate, points)


def _closed(problem: MultiTaskProblem, U: Matrix, pairs: list[Pair], left: float) -> Closed:
    """Return the certificate of a pair; `left` is what the common part lacks of a balance."""
    rows: list[RowTerms] = []
    q, error = np.empty((2, len(pairs), problem.n_features))
    radius = math.inf
    for k, pair in enumerate(pairs):
        balance = exact_balance(pair)
        rows.append(row_terms(pair, balance))
        q[k], error[k] = pair.measured.q
        if balance.moves is not None:
            error[k] += balance.moves.q_error
        radius = min(radius, balance.radius)
    terms = [term for one in rows for term in one.terms]
    if problem.center:
        # The common part is free: it may be as large as coefficients without any cost are.
        largest = np.zeros(problem.n_features)
        for one in pairs:
            largest = np.maximum(largest, np.maximum(np.abs(one.b), one.problem.coef_unit))
        summed = np.abs(q.sum(axis=0)) + gamma(len(rows)) * np.abs(q).sum(axis=0)
        terms.append(Term(0.0, RADIUS * float((summed + error.sum(axis=0)) @ largest)))
        radius = RADIUS
    if left > _FREE_TOLERANCE:
        terms.append(Term(math.inf, math.inf))
    loss = sum(one.loss for one in rows)
    lost = sum(one.loss_error for one in rows) + gamma(len(rows)) * abs(loss)

    def at_zero() -> Term:
        found = [one.at_zero() for one in rows]
        return Term(sum(one.value for one in found), sum(one.upper for one in found))

    def scale(gap: float, away: float) -> float:
        return sum(one.scale(gap, away) for one in rows)

    together = RowTerms(loss, lost, terms, at_zero, problem.least_loss, scale)
    return close(problem, U, q.T, error.T, together, radius)


def balance_common_part(
    tasks: Sequence[Task], samples: list[Vector], target: Vector
) -> tuple[list[Vector], float]:
    """Move the multipliers inside their boxes until ``sum_t X_t'g_t == target``.

    With ``u_t = u_0 + v_t`` and u_0 free, weak duality asks for ``sum_t q_t = 0`` besides
    ``sum_i g_ti = 0`` for each task with an intercept. Multipliers strictly inside their boxes sit
    on a kink or on a curved piece, where moving them costs little, so they move: least squares
    weighted by the room each has, clipped to the boxes, repeated. The intercepts are eliminated
    task by task, which leaves one d x d system.

    Returns the moved multipliers and the largest leftover relative to the terms of its sum. Every
    task with an intercept keeps ``sum_i g_ti == 0``.
    """
    samples = [np.array(g) for g in samples]
    boxes = [task.dual_boxes for task in tasks]
    widths = [_width(low, high, g) for (low, high), g in zip(boxes, samples)]
    level = _level(tasks, samples, target)
    best, best_left, stalls = samples, np.inf, 0
    for _ in range(_ROUNDS):
        residual = sum((task.design.tdot(g) for task, g in zip(tasks, samples)), -target)
        left = float(np.max(np.abs(residual) / level, initial=0.0))
        stalled = left > 0.5 * best_left
        if left < best_left:
            best, best_left = samples, left
        stalls = stalls + 1 if stalled else 0
        if left <= _ROUNDING_SHARE or stalls >= 3:
            break
        rooms = [_room(g, low, high, w) for g, (low, high), w in zip(samples, boxes, widths)]
        step = _least_squares(tasks, rooms, residual)
        samples = [
            _moved(task, g, room, step, box)
            for task, g, room, box in zip(tasks, samples, rooms, boxes)
        ]
    return best, best_left


def _width(low: Vector, high: Vector, g: Vector) -> Vector:
    """Return the width of each box, or a typical multiplier where it is infinite."""
    typical = float(np.mean(np.abs(g))) or 1.0
    return np.where(np.isfinite(high - low), high - low, typical)


def _level(tasks: Sequence[Task], samples: list[Vector], target: Vector) -> Vector:
    total = np.abs(target) + 1e-300
    for task, g in zip(tasks, samples):
        total = total + np.sqrt(task.design.column_squares()) * np.linalg.norm(g)
    return total


def _room(g: Vector, low: Vector, high: Vector, width: Vector) -> Vector:
    room = np.minimum(g - low, high - g)
    room = np.where(np.isfinite(room), np.minimum(room, width), width)
    return np.maximum(room, 0.0) ** 2 + (1e-7 * width) ** 2


def _least_squares(tasks: Sequence[Task], rooms: list[Vector], residual: Vector) -> Vector:
    """Solve ``sum_t X_t'W_t(X_t - means_t) step = residual``, W_t = diag(rooms)."""
    d = residual.size
    gram, plain = np.zeros((d, d)), np.zeros(d)
    for task, room in zip(tasks, rooms):
        full = task.design.weighted_gram(room, np.arange(d), task.fit_intercept)
        gram += full[:d, :d]
        plain += np.diag(full)[:d]
        if task.fit_intercept:
            gram -= np.outer(full[:d, d], full[:d, d]) / full[d, d]
    # Columns constant within every task vanish with the intercepts, but for rounding.
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-10 * plain + 1e-300))
    gram = gram / scale[:, None] / scale
    values, vectors = linalg.eigh(gram)
    kept = values > 1e-13 * values[-1]  # collinear columns: the residual has no part along them
    inner = (vectors.T @ (residual / scale))[kept] / values[kept]
    solved: Vector = (vectors[:, kept] @ inner) / scale
    return solved


def _moved(task: Task, g: Vector, room: Vector, step: Vector, box: tuple[Vector, Vector]) -> Vector:
    z = task.design.dot(step)
    if task.fit_intercept:
        z -= np.dot(room, z) / room.sum()
    moved = np.clip(g - room * z, *box)
    if task.fit_intercept:
        task.rows.balance(moved)
    return moved
