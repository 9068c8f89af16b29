"""The samples with weight: signs, offsets and dual variables of their losses, for `build`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Indices, Vector
from rectiline.problems.forms import EpigraphForm

__all__ = ["Samples", "Shape", "shapes_of"]


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


def shapes_of(curve: Any) -> list[Shape]:
    """Return the kinks and the curved pieces of a loss, each without the slope where it is least.

    The slopes of a part are those of the loss less the one nearest to zero: so they add up.
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
    return parts


def _least_value(curve: Any) -> float:
    """Return the least value of a loss; 0.0 of a linear term, which has none."""
    low, high = curve.domain()
    return float(curve.minimum()[1]) if low <= 0 <= high else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples with a positive weight; `active` says which rows of X they are."""

    active: Indices | slice
    weight: Vector
    direction: Vector
    offset: Vector
    index: NDArray[np.uint8] | None  # which loss each of them has, if there are several
    losses: list[list[Shape]]
    constant: float  # what the losses' constants add to the objective

    @classmethod
    def of(cls, form: EpigraphForm) -> Samples:
        """Return the samples of a form."""
        used = form.weight > 0
        used[form.linear_rows] = False  # that term is a vector of the program
        active = slice(None) if used.all() else np.flatnonzero(used)
        weight, direction, offset = (
            values[active] for values in (form.weight, form.direction, form.offset)
        )
        index = None if form.loss_index is None else form.loss_index[active]
        curves = [loss.curve for loss in form.problem.losses]
        losses = [shapes_of(curve) for curve in curves]
        constants = np.array([_least_value(curve) for curve in curves])
        constant = float(
            weight.sum() * constants[0] if index is None else weight @ constants[index]
        )
        return cls(active, weight, direction, offset, index, losses, constant)

    def _of_rows(self, per_loss: list[float]) -> Vector | float:
        return per_loss[0] if self.index is None else np.array(per_loss)[self.index]

    def first_knots(self) -> Vector | float:
        """Return a place where the loss of each row bends."""
        return self._of_rows([shapes[0].knot if shapes else 0.0 for shapes in self.losses])

    def width(self, distance: float) -> float:
        """Return the sum of the widths of the dual boxes of all rows."""
        widths = self._of_rows([sum(s.width(distance) for s in shapes) for shapes in self.losses])
        return float(np.sum(self.weight * widths))
