"""B-spline terms of formulas, and the constraints that give them a shape; `_design` uses both.

A spline is increasing where its coefficients increase, and convex where the polygon of its
coefficients over the Greville points is convex. Both are linear inequalities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline

from rectiline._typing import Matrix, Vector

__all__ = ["basis", "make_knots", "shape_rows"]


def make_knots(x: Vector, df: int | None, knots: ArrayLike | None, degree: int) -> Vector:
    """Return the knots of a basis with `df` columns beside the constant, ends included.

    Inner knots are those given, or quantiles of x.
    """
    if degree < 1 or int(degree) != degree:
        raise ValueError(f"bs: degree must be an integer >= 1; got {degree}.")
    low, high = float(np.min(x)), float(np.max(x))
    if not low < high:
        raise ValueError("bs: the variable takes a single value; a spline needs at least two.")
    if knots is not None:
        if df is not None:
            raise ValueError("bs: pass df or knots, not both.")
        inner = np.sort(np.asarray(knots, dtype=np.float64).ravel())
        if inner.size and not (low < inner[0] and inner[-1] < high):
            raise ValueError(f"bs: knots must lie between {low} and {high}; got {knots}.")
    else:
        count = (degree + 3 if df is None else int(df)) - degree
        if count < 0:
            raise ValueError(f"bs: df must be at least degree={degree}; got {df}.")
        inner = np.quantile(x, np.linspace(0, 1, count + 2)[1:-1])
        if np.unique(inner).size < count or (count and not low < inner[0] <= inner[-1] < high):
            raise ValueError(
                f"bs: the variable has too few distinct values for df={df or degree + 3}; pass a "
                "smaller df, or knots."
            )
    return np.concatenate([np.full(degree + 1, low), inner, np.full(degree + 1, high)])


def basis(x: Vector, knots: Vector, degree: int) -> Matrix:
    """Return all columns of the basis but the first; beyond its ends a spline goes on as a line."""
    spline = BSpline(knots, np.eye(knots.size - degree - 1), degree)
    inside = np.clip(x, knots[0], knots[-1])
    beyond = (x - inside)[:, None]
    values = spline(inside)
    if beyond.any():
        values = values + np.where(beyond != 0, beyond * spline.derivative()(inside), 0.0)
    return np.asarray(values[:, 1:])


def shape_rows(state: dict[str, Any]) -> Matrix:
    """Return rows A with ``A @ coef >= 0`` for the columns of a term: its monotone and convex."""
    knots, degree = state["knots"], state["degree"]
    count = knots.size - degree - 1
    points = np.array([knots[j + 1 : j + degree + 1].mean() for j in range(count)])
    steps = np.diff(np.eye(count), axis=0)  # the first coefficient is zero
    rows = []
    if state["monotone"]:
        rows.append(np.sign(state["monotone"]) * steps)
    if state["convex"]:
        slopes = steps / (np.diff(points) / (points[-1] - points[0]))[:, None]
        bends = np.diff(slopes, axis=0)
        rows.append(np.sign(state["convex"]) * bends / np.abs(bends).max(axis=1, keepdims=True))
    return np.concatenate(rows)[:, 1:] if rows else np.zeros((0, count - 1))
