"""How far the predictions may get at the strengths to come.

Rows that cannot meet a knot of their loss meanwhile need not take part in looking for the answers.
Nothing depends on these ranges being right but time: answers are certified on all rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._guide import Guide

Vector = NDArray[np.float64]

__all__ = ["Reach"]

_AT_FIRST = 0.3  # distance to the guide that may come up, in units of the arguments' scale
_LATER = 1.0  # the same, in distances of now


class Reach:
    """Ranges around the predictions of a guide."""

    def __init__(self, guide: Guide) -> None:
        self._guide = guide

    def ranges(self, here: Vector | None, first: int, last: int) -> tuple[Vector, Vector]:
        """Return least and largest predictions from strength `first` up to `last`.

        `here` are those at the last answer, None at the guide's own.
        """
        if here is None:
            there = self._guide.predictions(first, last)
            margin = _AT_FIRST * self._guide.problem.argument_scale
            return there.min(axis=0) - margin, there.max(axis=0) + margin
        there = self._guide.predictions(first - 1, last)
        away = here - there[0]
        margin = _LATER * float(np.std(away))  # the mean is that of the intercepts
        low = there.min(axis=0) + (np.minimum(away, 0.0) - margin)
        return low, there.max(axis=0) + (np.maximum(away, 0.0) + margin)
