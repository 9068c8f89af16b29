"""Spline terms of formulas: columns, penalties, and rows that give them a shape.

A term is a basis times a matrix: ``x -> basis(x) @ mix``, with a diagonal penalty.

``bs``  B-splines without penalty.
``s``   B-splines on equidistant knots whose second differences D c have the penalty
        ``strength/2 |D c|^2`` (Eilers and Marx 1996). With ``c = c0 + c1 j + D'(DD')^-1 a`` they
        are a, and the line c1 is free.
``tv``  Lines that bend at knots by a_j, with the penalty ``strength |a|_1``: the total variation
        of the derivative (Koenker, Ng and Portnoy 1994).

A spline is increasing where its coefficients increase, and convex where the polygon of its
coefficients over the Greville points is convex. Both are linear inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline

from rectiline._numbers import nonnegative
from rectiline._typing import Matrix, Vector

_MOST_BENDS = 200  # knots of `tv` without knots given: distinct values up to here, else quantiles


@dataclass(frozen=True, eq=False)
class Spline:
    """One term: its columns at any x, the strengths on its coefficients, its shape.

    Attributes
    ----------
    knots : ndarray
        Of the basis; for degree 0 of lines, where they bend, the ends included.
    degree : int
        Of the B-splines; 0 for lines.
    mix : ndarray of shape (n_basis, n_columns)
    rows : ndarray of shape (n_rows, n_columns)
        ``rows @ coef >= 0`` is the shape.
    l1, l2 : float, or ndarray of shape (n_columns,)
    """

    knots: Vector
    degree: int
    mix: Matrix
    rows: Matrix
    l1: Vector | float = 0.0
    l2: Vector | float = 0.0

    def columns(self, x: Vector) -> Matrix:
        """Return the columns of the term; beyond its ends a spline goes on as a line."""
        if not self.degree:
            low, bends = self.knots[0], self.knots[1:-1]
            line = (x - low)[:, None]
            return np.column_stack([line, np.maximum(x[:, None] - bends, 0.0)]) @ self.mix
        count = self.knots.size - self.degree - 1
        spline = BSpline(self.knots, np.eye(count), self.degree)
        inside = np.clip(x, self.knots[self.degree], self.knots[count])
        beyond = (x - inside)[:, None]
        values = spline(inside)
        if beyond.any():
            values = values + np.where(beyond != 0, beyond * spline.derivative()(inside), 0.0)
        return np.asarray(values @ self.mix)


def bs(
    x: Vector,
    df: int | None = None,
    knots: ArrayLike | None = None,
    degree: int = 3,
    monotone: int = 0,
    convex: int = 0,
) -> Spline:
    """Return a B-spline with `df` columns that is zero at its left end, without penalty.

    Inner knots are those given, or quantiles of x.
    """
    low, high = _ends("bs", x, degree)
    for name, sign in (("monotone", monotone), ("convex", convex)):
        if sign not in (-1, 0, 1):
            raise ValueError(f"bs: {name} must be -1, 0 or +1; got {sign!r}.")
    if knots is not None:
        if df is not None:
            raise ValueError("bs: pass df or knots, not both.")
        inner = _inner("bs", knots, low, high)
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
    made = np.concatenate([np.full(degree + 1, low), inner, np.full(degree + 1, high)])
    mix = np.eye(made.size - degree - 1)[:, 1:]
    return Spline(made, degree, mix, _shape_rows(made, degree, monotone, convex) @ mix)


def smooth(
    x: Vector, df: int = 20, degree: int = 3, strength: float = 1.0, shape: Any = None
) -> Spline:
    """Return a B-spline with `df` columns and a ridge penalty on its second differences."""
    low, high = _ends("s", x, degree)
    if df <= degree:
        raise ValueError(f"s: df must be greater than degree={degree}; got {df}.")
    monotone, convex = _signs("s", shape)
    step = (high - low) / (df + 1 - degree)
    knots = low + step * np.arange(-degree, df + 2, dtype=np.float64)
    bends = np.diff(np.eye(df + 1), n=2, axis=0)
    line = np.arange(df + 1.0) - 0.5 * df
    mix = np.column_stack([line, np.linalg.pinv(bends)])
    strengths = np.append(0.0, np.full(df - 1, nonnegative("s", "strength", strength)))
    rows = _shape_rows(knots, degree, monotone, convex) @ mix
    return Spline(knots, degree, mix, rows, l2=strengths)


def total_variation(
    x: Vector, knots: ArrayLike | None = None, strength: float = 1.0, shape: Any = None
) -> Spline:
    """Return lines that bend at knots: at all inner values of x, or at quantiles of many."""
    low, high = _ends("tv", x, 1)
    monotone, convex = _signs("tv", shape)
    if knots is None:
        inner = np.unique(x)[1:-1]
        if inner.size > _MOST_BENDS:
            inner = np.unique(np.quantile(x, np.linspace(0, 1, _MOST_BENDS + 2)[1:-1]))
            inner = inner[(inner > low) & (inner < high)]
    else:
        inner = _inner("tv", knots, low, high)
    slopes = np.tril(np.ones((inner.size + 1, inner.size + 1)))
    rows = [np.sign(monotone) * slopes] if monotone else []
    if convex:
        rows.append(np.sign(convex) * np.eye(inner.size + 1)[1:])
    strengths = np.append(0.0, np.full(inner.size, nonnegative("tv", "strength", strength)))
    made = np.concatenate([[low], inner, [high]])
    mix = np.eye(strengths.size)
    return Spline(made, 0, mix, np.concatenate([mix[:0], *rows]), l1=strengths)


def _ends(name: str, x: Vector, degree: int) -> tuple[float, float]:
    if degree < 1 or int(degree) != degree:
        raise ValueError(f"{name}: degree must be an integer >= 1; got {degree}.")
    low, high = float(np.min(x)), float(np.max(x))
    if not low < high:
        raise ValueError(f"{name}: the variable takes a single value; a spline needs at least two.")
    return low, high


def _inner(name: str, knots: ArrayLike, low: float, high: float) -> Vector:
    inner = np.unique(np.asarray(knots, dtype=np.float64).ravel())
    if inner.size and not (low < inner[0] and inner[-1] < high):
        raise ValueError(f"{name}: knots must lie between {low} and {high}; got {inner}.")
    return inner


_SHAPES = {"increasing": (1, 0), "decreasing": (-1, 0), "convex": (0, 1), "concave": (0, -1)}


def _signs(name: str, shape: Any) -> tuple[int, int]:
    """Return monotone and convex, each -1, 0 or 1, of one shape or several."""
    listed = [] if shape is None else [shape] if isinstance(shape, str) else list(shape)
    wrong = [one for one in listed if one not in _SHAPES]
    if wrong:
        raise ValueError(
            f"{name}: shape must be one or two of {sorted(_SHAPES)}; got {wrong[0]!r}."
        )
    pairs = np.array([_SHAPES[one] for one in listed]).reshape(-1, 2)
    if (np.abs(pairs).sum(axis=0) > 1).any():
        raise ValueError(f"{name}: the shapes {listed} exclude one another.")
    monotone, convex = pairs.sum(axis=0)
    return int(monotone), int(convex)


def _shape_rows(knots: Vector, degree: int, monotone: int, convex: int) -> Matrix:
    """Return rows A with ``A @ coefficients >= 0`` for all B-splines on these knots."""
    count = knots.size - degree - 1
    points = np.array([knots[j + 1 : j + degree + 1].mean() for j in range(count)])
    steps = np.diff(np.eye(count), axis=0)
    rows = [np.zeros((0, count))]
    if monotone:
        rows.append(np.sign(monotone) * steps)
    if convex:
        slopes = steps / (np.diff(points) / (points[-1] - points[0]))[:, None]
        bends = np.diff(slopes, axis=0)
        rows.append(np.sign(convex) * bends / np.abs(bends).max(axis=1, keepdims=True))
    return np.concatenate(rows)
