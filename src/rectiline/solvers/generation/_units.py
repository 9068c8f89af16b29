"""The units of a linear program: which of them move.

A unit at the bottom of its box is right as long as ``t_i <= t_k``, one at the top as long as
``t_i >= t_k``. Far from its knot it stays at an end of its box and is a constant. Both ends are
allowed, so clearly misclassified samples leave the program as well as clearly well classified ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.solvers._screening import largest

if TYPE_CHECKING:
    from rectiline.solvers.generation._master import Master


def nearest_units(arguments: Vector, width: Vector, count: int) -> Indices:
    """Return up to `count` units nearest to their knots, among those that have a width."""
    distance = np.where(width > 0, np.abs(arguments), np.inf)
    return largest(-distance, count, -np.inf)


def wrong_units(master: Master, arguments: Vector, limit: int) -> Indices:
    """Return the units outside the program that sit at the wrong end: the costliest."""
    miss = np.where(master.top, -arguments, arguments) * master.width
    miss[master.is_in] = 0.0
    return largest(miss, limit, 0.0)
