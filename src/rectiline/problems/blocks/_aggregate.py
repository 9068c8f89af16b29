"""States what frozen rows add as a few rows of a problem, for solvers without a term for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._polling import checkpoint
from rectiline._typing import Matrix, Vector
from rectiline.backends import Design
from rectiline.losses import PiecewiseLQ
from rectiline.problems._data import Data
from rectiline.problems._problem import Problem

_LINE = PiecewiseLQ.maximum([(0, 0, 0), (0, 1, 0)], of="prediction")  # slope 1 from zero on
_SQUARE = PiecewiseLQ([], [(0.5, 0.0, 0.0)])
_ROOM = 10.0  # how far above its kink a line is kept, in units of the arguments


def with_frozen_rows(
    near: Problem,
    centre: tuple[Vector, float],
    gradient: Vector,
    total: float,
    curvature: Matrix | None,
    loss: float,
) -> Problem:
    """Return the problem on near rows with rows that stand for the frozen ones.

    They add ``gradient'(b - c) + total (b0 - c0)`` and half of the quadratic form of `curvature`
    around the centre (c, c0), up to a constant. Every row has the entry 1 for the intercept, so two
    rows with slopes of both signs stand for the linear term, and pairs of rows around a mean for
    the quadratic one.
    """
    lines = _line_rows(near, gradient, total)
    squares = _square_rows(near, curvature)
    X = np.vstack([rows for rows, _, _ in (lines, squares)])
    direction = np.concatenate([lines[1], squares[1]])
    weight = np.concatenate([lines[2], squares[2]])
    z = X @ centre[0] + (centre[1] if near.fit_intercept else 0.0)
    n_lines = lines[2].size
    offset = -direction * z
    offset[:n_lines] += _ROOM * near.argument_scale + abs(loss) / max(
        weight[:n_lines].sum(), 1e-300
    )
    samples = near.data.samples
    count = len(samples.losses)
    kind = np.repeat([count, count + 1], [n_lines, squares[2].size])
    index = np.zeros(near.n_samples, np.uint8) if samples.index is None else samples.index
    made = replace(
        samples,
        losses=(*samples.losses, _LINE, _SQUARE),
        index=np.concatenate([index, kind.astype(np.uint8)]),
        direction=np.concatenate([samples.direction, direction]),
        offset=np.concatenate([samples.offset, offset]),
        weight=np.concatenate([samples.weight, weight]),
    )
    return Problem.of(Data.of(Design(_stacked(near.design.by_rows.X, X)), made), near.terms)


def _line_rows(near: Problem, gradient: Vector, total: float) -> tuple[Matrix, Vector, Vector]:
    """Return rows, signs and weights of the linear term."""
    size = float(near.weight.sum()) * near.slope_width[0]
    if not near.fit_intercept:
        return gradient[None, :] / size, np.ones(1), np.full(1, size)
    mean = near.column_means
    size += 2.0 * abs(total)
    up, down = 0.5 * (size + total), 0.5 * (size - total)
    rows = np.vstack([(gradient + down * mean) / up, mean])
    return rows, np.array([1.0, -1.0]), np.array([up, down])


def _square_rows(near: Problem, curvature: Matrix | None) -> tuple[Matrix, Vector, Vector]:
    """Return rows, signs and weights of the quadratic term."""
    d = near.n_features
    if curvature is None:
        return np.zeros((0, d)), np.zeros(0), np.zeros(0)
    if not near.fit_intercept:
        values, vectors = np.linalg.eigh(curvature)
        rows = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return rows, np.full(d, -1.0), np.ones(d)
    total = float(curvature[d, d])
    mean = curvature[:d, d] / total
    values, vectors = np.linalg.eigh(curvature[:d, :d] - total * np.outer(mean, mean))
    spread = (vectors * np.sqrt(np.maximum(values, 0.0) * d / total)).T
    rows = np.vstack([mean + spread, mean - spread])
    return rows, np.full(2 * d, -1.0), np.full(2 * d, total / (2 * d))


def _stacked(X: Any, more: Matrix) -> Any:
    checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * float(X.shape[0]) * X.shape[1])
    if sp.issparse(X):
        return sp.vstack([X, sp.csr_array(more)], format="csr")
    return np.vstack([X, more])
