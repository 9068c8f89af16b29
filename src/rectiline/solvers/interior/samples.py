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


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples with a positive weight; `active` says which rows of X they are."""

    active: Indices | slice
    weight: Vector
    direction: Vector
    offset: Vector
    index: NDArray[np.uint8] | None  # which loss each of them pays, if there are several
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
        losses = [shapes_of(units) for units in form.units]
        constants = np.array([units.constant for units in form.units])
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
