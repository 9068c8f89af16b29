"""The units of a linear program by column, with their samples and signs; used by the master."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rectiline._typing import Indices, Vector

__all__ = ["UnitLayout"]


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
