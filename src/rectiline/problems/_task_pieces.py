"""Rows of a task as places on the graph of the slope of their loss, for multi-task solvers.

The graph of all pairs (argument, slope) of a convex piecewise linear-quadratic function is a
staircase: even places are its pieces, odd places its kinks, where the argument stands still while
the slope moves. Once the place of every row is known, a task with a quadratic penalty is a system
of linear equations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems._samples import Samples

Places = NDArray[np.intp]


class Pieces:
    """Places of the rows of one task and what holds there; rows of weight zero are at place 0.

    Examples
    --------
    >>> from rectiline.losses import Hinge
    >>> pieces = Pieces(Samples((Hinge(),), None, np.ones(3), np.zeros(3), np.ones(3), False))
    >>> pieces.place(np.array([0.0, 1.0, 2.0]), np.array([-1.0, -0.5, 0.0]), np.ones(3))
    array([0, 1, 2])
    """

    def __init__(self, samples: Samples) -> None:
        curve, weight = samples.losses[0].curve, samples.weight
        self.direction, self.offset = samples.direction, samples.offset
        self.scale = weight * self.direction  # multiplier = scale * slope of the curve
        self._counts = None if (weight > 0).all() else weight > 0
        self._nodes = [
            (knot, slope)
            for knot, left, right in zip(curve.knots, curve.left, curve.right)
            for slope in (left, right)
        ]
        count = curve.knots.size
        anchor = curve.knots[np.maximum(np.arange(count + 1) - 1, 0)]
        slope = np.append(curve.left[:1], curve.right)
        curved = curve.curvature > 0
        inverse = np.divide(1.0, curve.curvature, out=np.zeros(count + 1), where=curved)
        self._inverse, self._level, self._slope = (np.zeros(2 * count + 1) for _ in range(3))
        self._inverse[::2], self._slope[::2] = inverse, slope
        self._level[::2], self._level[1::2] = anchor - slope * inverse, curve.knots
        self._resists = np.ones(2 * count + 1, dtype=bool)
        self._resists[::2] = curved

    def place(self, z: Vector, g: Vector, reach: Vector) -> Places:
        """Return where ``argument + reach * slope`` meets the graph, row by row."""
        slopes = g / self.scale if self._counts is None else _ratio(g, self.scale, self._counts)
        sought = self.direction * z + self.offset + reach * slopes
        found = np.zeros(z.size, dtype=np.intp)
        for knot, slope in self._nodes:
            found += sought > knot + reach * slope
        return found if self._counts is None else found * self._counts

    def resisting(self, places: Places) -> NDArray[np.intp]:
        """Return the rows on a kink or on a curved piece."""
        resists = self._resists[places]
        return np.flatnonzero(resists if self._counts is None else resists & self._counts)

    def resting(self, places: Places) -> Vector:
        """Return the multipliers of the rows on straight pieces, 0 elsewhere."""
        kept = np.where(self._resists, 0.0, self._slope)
        return np.asarray(self.scale * kept[places])

    def lines(self, places: Places, rows: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """Return (level, give) of resisting rows: there ``z = level + give * multiplier``."""
        at, sign = places[rows], self.direction[rows]
        level = (self._level[at] - self.offset[rows]) / sign
        return level, self._inverse[at] / (sign * self.scale[rows])


def _ratio(above: Vector, below: Vector, where: NDArray[np.bool_]) -> Vector:
    """Return the quotients of the entries in question, zero elsewhere."""
    return np.divide(above, below, out=np.zeros(above.size), where=where)
