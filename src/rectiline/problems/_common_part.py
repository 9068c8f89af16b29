"""Repair the multipliers of several tasks for intercepts and a common part, for `prove_tasks`.

With ``u_t = u_0 + v_t`` and u_0 free, weak duality asks for ``sum_t q_t = 0`` besides
``sum_i g_ti = 0`` for each task with an intercept. Multipliers strictly inside their boxes sit on a
kink or on a curved piece, where moving them costs little, so they move: least squares weighted by
the room each has, clipped to the boxes, repeated. The intercepts are eliminated task by task, which
leaves one d x d system.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from rectiline._typing import Vector
from rectiline.problems._task import Task

_ROUNDS = 30
_ROUNDING_SHARE = 1e-15  # relative to the size of the terms: only rounding is left


def balance_common_part(
    tasks: Sequence[Task], samples: list[Vector], target: Vector
) -> tuple[list[Vector], float]:
    """Move the multipliers inside their boxes until ``sum_t X_t'g_t == target``.

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
