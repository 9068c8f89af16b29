"""The arrays of a ``PLQCurve`` before it is made: sorting, merging and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rectiline._typing import Vector

_EPS = float(np.finfo(np.float64).eps)
_CONSISTENT = 1e-9  # a slip of the caller is larger than this, rounding is smaller


def vertex(
    knots: Vector, left: Vector, right: Vector, curvature: Vector
) -> tuple[int, float] | None:
    """Find the minimiser if it lies inside a piece: (index of the piece, position)."""
    k = int(np.searchsorted(right, 0.0))  # the first knot with a right slope >= 0
    if k < knots.size and left[k] <= 0:
        return None
    if curvature[k] <= 0:  # unbounded below
        return None
    if k == 0:
        at = knots[0] - left[0] / curvature[0]
    else:
        at = knots[k - 1] - right[k - 1] / curvature[k]
    inside = (k == 0 or at > knots[k - 1]) and (k == knots.size or at < knots[k])
    return (k, float(at)) if inside else None


def lowest(right: Vector) -> int:
    """Index of the lowest knot, from the slopes on the right of the knots."""
    return min(int(np.searchsorted(right, 0.0)), right.size - 1)


def with_minimiser(
    knots: Vector, left: Vector, right: Vector, curvature: Vector, exact: Vector | None = None
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the arrays with the minimiser among the knots.

    `exact` holds the minimisers of the pieces where they are better known than by the slopes.
    """
    bottom = vertex(knots, left, right, curvature)
    if bottom is None:
        return knots, left, right, curvature
    k, at = bottom
    if exact is not None:
        low, high = np.append(-np.inf, knots)[k], np.append(knots, np.inf)[k]
        at = float(exact[k]) if low < exact[k] < high else at
    knots, curvature = np.insert(knots, k, at), np.insert(curvature, k, curvature[k])
    return knots, np.insert(left, k, 0.0), np.insert(right, k, 0.0), curvature


def integrated(
    t: Vector, left: Vector, right: Vector, curvature: Vector, value: Callable[[float], Any]
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Return the arrays of a curve: values from slopes and from `value` at the lowest knot.

    Knots where nothing happens are dropped; the minimiser stays, and at least one knot.
    """
    here = lowest(right)
    steps = np.diff(t) * (0.5 * right[:-1] + 0.5 * left[1:])
    values = np.full(t.size, float(value(t[here])))
    values[here + 1 :] += np.cumsum(steps[here:])
    values[:here] -= np.cumsum(steps[:here][::-1])[::-1]
    before, after = curvature[:-1], curvature[1:]
    keep = left != right
    keep |= np.abs(after - before) > 8 * _EPS * np.maximum(np.abs(after), np.abs(before))
    # The lowest knot of a piece that is flat there is a kink anyway; this keeps vertices.
    keep |= (left == 0) & (right == 0) & (before > 0) & (after > 0)
    if not keep.any():
        keep[here] = True
    curvature = np.concatenate([curvature[:1], after[keep]])
    return t[keep], values[keep], left[keep], right[keep], curvature


def check(t: Vector, values: Vector, left: Vector, right: Vector, curvature: Vector) -> None:
    """Raise ValueError unless the knots increase, the slopes rise and all numbers agree."""
    if not (np.diff(t) > 0).all():
        k = int(np.argmin(np.diff(t) > 0))
        raise ValueError(
            f"PLQCurve: knots must increase strictly, but knots[{k}]={t[k]} is followed by "
            f"knots[{k + 1}]={t[k + 1]}."
        )
    if (curvature < 0).any():
        k = int(np.argmax(curvature < 0))
        raise ValueError(f"PLQCurve is not convex: curvature[{k}]={curvature[k]} is negative.")
    if (left > right).any():
        k = int(np.argmax(left > right))
        raise ValueError(
            f"PLQCurve is not convex at knots[{k}]={t[k]}: the slope falls from {left[k]} to "
            f"{right[k]}."
        )
    h, start, stop, curvature = np.diff(t), right[:-1], left[1:], curvature[1:-1]
    scale = np.abs(start) + np.abs(stop) + curvature * (np.abs(t[:-1]) + np.abs(t[1:]))
    wrong = np.abs(stop - start - curvature * h) > _CONSISTENT * scale
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(
            f"PLQCurve: between knots[{k}]={t[k]} and knots[{k + 1}]={t[k + 1]} the slope goes "
            f"from {start[k]} to {stop[k]}, which curvature[{k + 1}]={curvature[k]} contradicts."
        )
    scale = np.abs(values[:-1]) + np.abs(values[1:]) + h * (np.abs(start) + np.abs(stop))
    wrong = np.abs(np.diff(values) - h * (0.5 * start + 0.5 * stop)) > _CONSISTENT * scale
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(
            f"PLQCurve: between knots[{k}]={t[k]} and knots[{k + 1}]={t[k + 1]} the value goes "
            f"from {values[k]} to {values[k + 1]}, which the slopes {start[k]} and {stop[k]} "
            f"contradict."
        )
