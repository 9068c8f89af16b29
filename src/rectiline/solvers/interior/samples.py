"""The samples with weight: signs, offsets and dual variables of their losses, for `build`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Indices, Vector
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers.interior.parts import Shape, shapes_of

__all__ = ["Samples"]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples with a positive weight; `active` is None when that is all rows of X."""

    active: Indices | None
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
        active = None if used.all() else np.flatnonzero(used)
        weight, direction, offset = form.weight, form.direction, form.offset
        index = form.loss_index
        if active is not None:
            weight, direction, offset = weight[active], direction[active], offset[active]
            index = None if index is None else index[active]
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
