"""The arrays of a ``PLQCurve`` before it is made: sorting, merging and checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rectiline._typing import Vector

_EPS = float(np.finfo(np.float64).eps)
_CONSISTENT = 1e-9  # a slip of the caller is larger than this, rounding is smaller


class Shape(NamedTuple):
    """The arrays of a ``PLQCurve``, not yet checked."""

    knots: Vector
    values: Vector
    left: Vector
    right: Vector
    curvature: Vector


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


def lowest(left: Vector, right: Vector) -> int:
    """Index of the lowest knot."""
    return min(int(np.searchsorted(right, 0.0)), right.size - 1)


def integrated(t: Vector, left: Vector, right: Vector, here: int, value: float) -> Vector:
    """Values at the knots from the slopes and the value at the knot ``here``, outwards."""
    steps = np.diff(t) * (0.5 * right[:-1] + 0.5 * left[1:])
    values = np.full(t.size, value)
    values[here + 1 :] += np.cumsum(steps[here:])
    values[:here] -= np.cumsum(steps[:here][::-1])[::-1]
    return values


def merged(shape: Shape) -> Shape:
    """Drop the knots where nothing happens; the minimiser stays, and at least one knot."""
    knots, values, left, right, curvature = shape
    before, after = curvature[:-1], curvature[1:]
    keep = left != right
    keep |= np.abs(after - before) > 8 * _EPS * np.maximum(np.abs(after), np.abs(before))
    # The lowest knot of a piece that is flat there is a kink anyway; this keeps vertices.
    keep |= (left == 0) & (right == 0) & (before > 0) & (after > 0)
    if not keep.any():
        keep[lowest(left, right)] = True
    curvature = np.concatenate([curvature[:1], after[keep]])
    return Shape(knots[keep], values[keep], left[keep], right[keep], curvature)


def check(shape: Shape) -> None:
    """Raise ValueError unless the knots increase, the slopes rise and all numbers agree."""
    t, _, left, right, curvature = shape
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
    _check_agreement(shape)


def _check_agreement(shape: Shape) -> None:
    t, values, left, right, curvature = shape
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
