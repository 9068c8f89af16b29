"""States what frozen rows add as a few rows of a problem, for solvers without a term for it."""

from __future__ import annotations

import numpy as np

from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._polling import checkpoint
from rectiline._typing import Matrix, Vector
from rectiline.losses import PiecewiseLQ
from rectiline.problems._problem import Problem
from rectiline.problems._samples import Samples

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
    (lines, *of_lines), (squares, *of_squares) = (
        _line_rows(near, gradient, total),
        _square_rows(near, curvature),
    )
    X = np.vstack([lines, squares])
    direction, weight = (np.concatenate(pair) for pair in zip(of_lines, of_squares))
    n_lines = lines.shape[0]
    offset = -direction * (X @ centre[0] + (centre[1] if near.fit_intercept else 0.0))
    room = abs(loss) / max(weight[:n_lines].sum(), 1e-300)
    offset[:n_lines] += _ROOM * near.argument_scale + room
    kind = np.repeat([0, 1], [n_lines, squares.shape[0]]).astype(np.uint8)
    frozen = Samples((_LINE, _SQUARE), kind, direction, offset, weight, near.fit_intercept)
    checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * float(near.n_samples) * near.n_features)
    return Problem.of(near.data.with_rows(X, frozen), near.terms)


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
