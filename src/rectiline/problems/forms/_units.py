"""Losses as sums of units, each with one dual variable in a box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.losses import PLQCurve
from rectiline.problems._samples import Samples


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


def shapes_of(curve: PLQCurve) -> list[Shape]:
    """Return the kinks and the curved pieces of a loss, each without the slope where it is least.

    The slopes of a part are those of the loss less the one nearest to zero: so they add up. On
    each side of the minimum parts come from there outward.
    """
    knots, left, right, bends = (
        values.tolist() for values in (curve.knots, curve.left, curve.right, curve.curvature)
    )
    last = len(knots) - 1
    parts: list[Shape] = []
    low = -math.inf  # slope at the beginning of the piece
    for k, bend in enumerate(bends):
        is_open = k > last
        if not is_open and left[k] == right[k] and bend == bends[k + 1]:
            continue  # the piece goes on
        high = math.inf if is_open else left[k]
        if bend > 0.0:
            least = min(max(low, 0.0), high)
            knot = knots[min(k, last)] + (least - (right[last] if is_open else high)) / bend
            parts.append(Shape(knot, low - least, high - least, 1.0 / bend))
        if not is_open:
            low = right[k]
            least = min(max(high, 0.0), low)
            if low > high:
                parts.append(Shape(knots[k], high - least, low - least, 0.0))
    left = [part for part in parts if part.high <= 0.0]
    return parts[len(left) :] + left[::-1]


class LossUnits(NamedTuple):
    """All kinks and curved pieces of the losses of the samples with a weight.

    ``f_i(t) = const + sum_u max over low <= a <= high of a (t - knot) - soft a^2 / 2``, where t is
    the argument of the loss. Linear terms have no units.
    """

    sample: Indices
    knot: Vector
    low: Vector
    high: Vector
    soft: Vector

    @classmethod
    def of(cls, samples: Samples) -> LossUnits:
        """Return the units of the losses, part by part."""
        parts = [(np.zeros(0, dtype=np.intp), *(np.zeros(0) for _ in range(4)))]
        for curve, rows in samples.by_loss:
            chosen = np.arange(samples.weight.size)[rows]
            chosen = chosen[samples.weight[chosen] > 0.0]
            weight = samples.weight[chosen]
            for one in shapes_of(curve):
                knot = np.full(chosen.size, one.knot)
                box = weight * one.low, weight * one.high
                parts.append((chosen, knot, *box, one.soft / weight))
        return cls(*(np.concatenate(part) for part in zip(*parts)))
