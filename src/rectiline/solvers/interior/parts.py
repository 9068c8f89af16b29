"""The loss of a sample as boxed parts: units that share a knot become one dual variable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Shape", "shapes_of"]

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
