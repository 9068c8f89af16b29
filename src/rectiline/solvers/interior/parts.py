"""The loss of a sample as boxed parts: units that share a knot become one dual variable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Indices = NDArray[Any]

__all__ = ["Shape", "Slot", "arrange", "shapes_of"]

_SAME = 1e-12  # relative difference of two knots, or curvatures, that are one


@dataclass(frozen=True, slots=True)
class Shape:
    """``max over low <= a <= high of a (t - knot) - soft a^2/2``, for weight 1."""

    knot: float
    low: float
    high: float
    soft: float

    def width(self, distance: float) -> float:
        """Return the width of the dual box, or the slope at a distance from the knot."""
        width = self.high - self.low
        return width if math.isfinite(width) else distance / self.soft

    def joined(self, other: Shape) -> Shape | None:
        """Return the sum of the two as one part, or None if it is not one."""
        size = max(abs(self.knot), abs(other.knot))
        if abs(self.knot - other.knot) > _SAME * size:
            return None
        if abs(self.soft - other.soft) > _SAME * max(self.soft, other.soft):
            return None
        # One must bend up to the right of the knot only, the other to the left only.
        if self.low == 0.0 == other.high or self.high == 0.0 == other.low:
            low, high = min(self.low, other.low), max(self.high, other.high)
            return Shape(self.knot, low, high, self.soft)
        if self.soft == 0.0:  # two kinks at one place
            return Shape(self.knot, self.low + other.low, self.high + other.high, 0.0)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One dual variable on some of the rows: a shape of the same kind for each loss concerned."""

    shapes: dict[int, Shape]  # by the number of the loss

    def on_rows(self, name: str, index: Indices | None) -> Vector | float:
        """Return a field of the shapes for every row that has one."""
        if index is None:
            return float(getattr(self.shapes[0], name))
        table = np.zeros(max(self.shapes) + 1)
        for loss, shape in self.shapes.items():
            table[loss] = getattr(shape, name)
        return table[index]

    def rows(self, index: Indices | None) -> Indices | None:
        """Return the rows concerned, or None for all."""
        if index is None:
            return None
        concerned = np.isin(index, list(self.shapes))
        return None if concerned.all() else np.flatnonzero(concerned)


def arrange(losses: list[list[Shape]]) -> list[Slot]:
    """Return the dual variables of losses so that all shapes of one variable have the same kind."""
    slots: dict[tuple[bool, bool, bool, int], dict[int, Shape]] = {}
    for number, shapes in enumerate(losses):
        seen: dict[tuple[bool, bool, bool], int] = {}
        for shape in shapes:
            kind = (math.isfinite(shape.low), math.isfinite(shape.high), shape.soft > 0.0)
            count = seen.get(kind, 0)
            seen[kind] = count + 1
            slots.setdefault((*kind, count), {})[number] = shape
    return [Slot(shapes) for shapes in slots.values()]


def shapes_of(units: Any) -> list[Shape]:
    """Return the parts of a loss given by its ReLU and ReHU units."""
    parts = [
        Shape(-v / u, min(u, 0.0), max(u, 0.0), 0.0)
        for u, v in zip(units.relu_u.tolist(), units.relu_v.tolist(), strict=True)
        if u != 0.0
    ]
    for s, t, tau in zip(
        units.rehu_s.tolist(), units.rehu_t.tolist(), units.rehu_tau.tolist(), strict=True
    ):
        if s != 0.0:
            parts.append(Shape(-t / s, min(s * tau, 0.0), max(s * tau, 0.0), 1.0 / s**2))
    merged: list[Shape] = []
    for part in parts:
        for position, other in enumerate(merged):
            both = other.joined(part)
            if both is not None:
                merged[position] = both
                break
        else:
            merged.append(part)
    return merged
