"""The units of a linear program: their columns, and which of them move.

A unit at the bottom of its box is right as long as ``t_i <= t_k``, one at the top as long as
``t_i >= t_k``. Far from its knot it stays at an end of its box and is a constant. Both ends are
allowed, so clearly misclassified samples leave the program as well as clearly well classified ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Indices, Vector

if TYPE_CHECKING:
    from rectiline.solvers.generation._master import Master

__all__ = ["UnitLayout", "nearest_units", "opposing_units", "wrong_units"]


@dataclass(frozen=True, slots=True, eq=False)
class UnitLayout:
    """Some units, one column for each.

    Attributes
    ----------
    sample : ndarray of int
        The sample of each unit.
    sign : ndarray
        How its variable moves the multiplier of the sample: +1 or -1.
    samples : ndarray of int or None
        The samples that have a unit, in order; None: all of them.
    places : ndarray of int or None
        Where the sample of each unit is among these; None: they are the same.
    n_samples : int
    """

    sample: Indices
    sign: Vector
    samples: Indices | None
    places: Indices | None
    n_samples: int

    @classmethod
    def of(cls, sample: Indices, sign: Vector, n_samples: int) -> UnitLayout:
        """Return the layout of units that belong to these samples."""
        if sample.size == n_samples and np.array_equal(sample, np.arange(n_samples)):
            return cls(sample, sign, None, None, n_samples)
        if (sample[1:] > sample[:-1]).all():
            return cls(sample, sign, sample, None, n_samples)
        samples, places = np.unique(sample, return_inverse=True)
        return cls(sample, sign, samples, places, n_samples)

    def share(self, base: Vector) -> Vector | None:
        """Return values by samples as signed values by units; None if some have no unit."""
        units = np.bincount(self.sample, minlength=self.n_samples)
        if np.any(base[units == 0]):
            return None
        return np.asarray(self.sign * (base / np.maximum(units, 1))[self.sample])

    def gathered(self, values: Vector) -> Vector:
        """Return what the units move the multipliers of all samples by."""
        found = np.bincount(self.sample, self.sign * values, minlength=self.n_samples)
        return np.asarray(found, dtype=np.float64)


def nearest_units(
    arguments: Vector, width: Vector, count: int, inside: NDArray[np.bool_] | None = None
) -> Indices:
    """Return up to `count` units nearest to their knots, among those not inside."""
    distance = np.where(width > 0, np.abs(arguments), np.inf)
    if inside is not None:
        distance = np.where(inside, np.inf, distance)
    found = np.flatnonzero(np.isfinite(distance))
    if found.size > count:
        found = found[np.argpartition(distance[found], count - 1)[:count]]
    return np.sort(found)


def wrong_units(master: Master, arguments: Vector, limit: int) -> Indices:
    """Return the units outside the program that sit at the wrong end, costliest first."""
    miss = np.where(master.top, -arguments, arguments) * master.width
    miss[master.is_in] = 0.0
    found = np.flatnonzero(miss > 0)
    if found.size > limit:
        found = found[np.argpartition(-miss[found], limit - 1)[:limit]]
    return np.sort(found)


def opposing_units(master: Master, arguments: Vector, limit: int) -> Indices:
    """Return the units that stop the fall of an unbounded restricted problem, soonest first.

    Without a direction of the fall, the units nearest to their knots.
    """
    found = master.ray()
    if found is not None:
        coef, intercept = found
        rate = master.form.design.dot(coef) + intercept
        turn = np.where(master.top, -1.0, 1.0)
        push = turn * (master.form.direction * rate)[master.sample]
        inside, cost = master.is_in, master.form.problem.penalty_value(coef)
        for sign in (1.0, -1.0):  # HiGHS does not say which way the ray points
            gain = float((master.width[inside] * np.maximum(sign * push[inside], 0.0)).sum())
            if sign * float(master.base @ rate) + cost + gain <= 0:
                break
        # A unit at the bottom has t < t_k and opposes when t rises; at the top the other way round.
        opposes = ~inside & (sign * push > 0) & (master.width > 0)
        where = np.flatnonzero(opposes)
        if where.size:
            time = np.abs(arguments[where]) / np.abs(push[where])
            return np.sort(where[np.argsort(time, kind="stable")[:limit]])
    return nearest_units(arguments, master.width, limit, master.is_in)
