"""How far the predictions may get at the strengths to come.

Rows that cannot meet a knot of their loss meanwhile need not take part in looking for the answers.
Nothing depends on these ranges being right but time: answers are certified on all rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.paths._guide import Guide

Vector = NDArray[np.float64]

__all__ = ["Reach"]

_AT_FIRST = 0.3  # distance to the guide that may come up, in units of the arguments' scale
_LATER = 1.0  # the same, in distances of now


class Reach:
    """Ranges around the predictions of a guide."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide

    def ranges(self, here: Vector | None, first: int, last: int) -> tuple[Vector, Vector]:
        """Return least and largest predictions from strength `first` up to `last`.

        `here` are those at the last answer, None at the guide's own.
        """
        if here is None:
            there = self.guide.predictions(first, last)
            margin = _AT_FIRST * self.guide.problem.argument_scale
            return there.min(axis=0) - margin, there.max(axis=0) + margin
        # The mean distance is that of the intercepts; the spread may come on top.
        return _core.path_ranges(self.guide.predictions(first - 1, last), here, _LATER)
