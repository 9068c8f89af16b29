"""A loss whose targets are signs and offsets already; the tasks of a multi-task problem use it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector
from rectiline.losses import Loss, PLQCurve, PLQUnits

__all__ = ["Encoded", "encode_tasks"]


class Encoded(Loss):
    """The curve of another loss at ``t = direction z + offset``, whatever y says.

    A task may hold one class only, which the loss itself has to refuse, and a step from a given
    point shifts every offset; both are only a matter of signs and offsets.
    """

    name = "encoded"

    def __init__(self, loss: Loss, direction: Vector, offset: Vector) -> None:
        self.of = loss.of
        self.inner: Loss = loss.inner if isinstance(loss, Encoded) else loss
        self.direction, self.offset = direction, offset

    def _make_curve(self) -> PLQCurve:
        return self.inner.curve

    @property
    def units(self) -> PLQUnits:
        """The units of the inner loss, decomposed once."""
        return self.inner.units

    def encode(self, y: ArrayLike) -> tuple[Vector, Vector]:
        """Return the signs and offsets given at construction."""
        return self.direction, self.offset

    def shifted(self, z: Vector) -> Encoded:
        """Return the loss as a function of the change from the predictions `z`."""
        return Encoded(self.inner, self.direction, self.offset + self.direction * z)

    def __repr__(self) -> str:
        return repr(self.inner)


def encode_tasks(loss: Loss, targets: list[NDArray[np.generic]]) -> list[Encoded]:
    """Check the targets of all tasks together and return one encoded loss per task.

    Margin losses take two labels over all tasks; one task alone may hold only one of them. If all
    labels are -1 or 1 these are the signs, even if one of them never occurs.
    """
    sizes = [y.size for y in targets]
    together = np.concatenate(targets)
    if loss.of == "margin" and together.dtype.kind in "iuf":
        signs = np.array([-1, 1], dtype=together.dtype if together.dtype.kind != "u" else int)
        if np.isin(together, signs).all():
            together = np.concatenate([together, signs])  # both are known, present or not
    direction, offset = loss.encode(together)
    ends = np.cumsum(sizes)
    return [
        Encoded(loss, direction[end - size : end].copy(), offset[end - size : end].copy())
        for size, end in zip(sizes, ends)
    ]
