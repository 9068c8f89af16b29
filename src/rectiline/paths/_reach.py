"""How far the predictions may get at the strengths to come.

Rows that cannot meet a knot of their loss meanwhile need not take part in looking for the answers.
Nothing depends on these ranges being right but time: answers are certified on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.paths._guide import Guide
from rectiline.problems import Problem

Vector = NDArray[np.float64]

__all__ = ["Beside", "Range"]

_AT_FIRST = 0.15  # distance to the guide that may come up, in units of the arguments' scale
_LATER = 1.0  # the same, in distances of now


class Point(Protocol):
    """Coefficients and an intercept."""

    @property
    def coef(self) -> Vector: ...

    @property
    def intercept(self) -> float: ...


class Range(NamedTuple):
    """Least and largest predictions up to the strength `until`, and those of now if known."""

    low: Vector
    high: Vector
    here: Vector | None
    until: int


class Beside:
    """Ranges around the predictions of a guide, which are looked at in some `places` only."""

    def __init__(self, guide: Guide, problem: Problem, places: Sequence[int]) -> None:
        self.guide, self._problem, self._places = guide, problem, places

    def look(self, index: int, latest: Point | None, at: int) -> Range:
        """Return a range up to some strength beyond `index`, from the latest answer on, `at`.

        Without an answer yet, one around those of the guide.
        """
        until = index + self.guide.stretch(index)
        if latest is None:
            least, most = self.guide.ends(self._between(index, until))
            margin = _AT_FIRST * self.guide.problem.argument_scale
            return Range(least - margin, most + margin, None, until)
        here = _predictions(self._problem, latest)
        # The mean distance is that of the intercepts; the spread may come on top.
        [there] = self.guide.predictions([at])
        ends = self.guide.ends(self._between(at, until))
        return Range(*_core.path_ranges(there, *ends, here, _LATER), here, until)

    def _between(self, first: int, last: int) -> list[int]:
        """Return the places from one on, and before the last, with those at the ends."""
        inner = [k for k in self._places if first < k < last - 1]
        return [first, *inner, *([last - 1] if last - 1 > first else [])]


def _predictions(problem: Problem, point: Point) -> Vector:
    return problem.design.dot(point.coef) + point.intercept
