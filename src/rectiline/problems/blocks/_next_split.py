"""Which rows a pass keeps because they are near a knot of their loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector


@dataclass(frozen=True, slots=True, eq=False)
class LengthBound:
    """A bound that is quick to compute.

    ``|D x|^2 <= least + sum_j (scale_j (x_j - mean_j))^2``
    """

    scale: Vector
    mean: Vector
    least: float

    @classmethod
    def of(cls, directions: NDArray[np.float64], mean: Vector) -> LengthBound:
        """Return the bound for directions D; rows lie around `mean`, zeros if X is sparse.

        Let V = D'D in the coordinates ``x - mean``, the intercept last. Then
        ``v'Vv <= r sum_j V_jj v_j^2``, r the largest eigenvalue of V scaled to a unit diagonal.
        """
        d = mean.size
        moved = np.zeros((directions.shape[0], d + 1))
        moved[:, :d] = directions[:, :d]
        moved[:, d] = directions[:, :d] @ mean
        if directions.shape[1] > d:
            moved[:, d] += directions[:, d]
        size = np.sqrt(np.einsum("ij,ij->j", moved, moved))
        unit = moved / np.where(size > 0, size, 1.0)
        ratio = float(np.linalg.eigvalsh(unit.T @ unit)[-1]) * (1.0 + 1e-9)
        return cls(size[:d] * np.sqrt(ratio), mean, float(size[d] ** 2 * ratio))


@dataclass(frozen=True, slots=True, eq=False)
class NextSplit:
    """Which rows count as near: those within ``reach * |directions x|`` of a knot.

    Attributes
    ----------
    reach : float
    longest : float
        On a device, rows are looked at closely if they are within ``reach * longest`` of a knot.
    directions : ndarray of shape (k, n_features + fit_intercept)
    bound : LengthBound
        Elsewhere, rows are looked at closely if they are within reach by this bound.
    keeps_listed : bool
        Whether rows that are listed stay near.
    always : ndarray of int64
        Rows that are near in any case, growing.
    """

    reach: float
    longest: float
    directions: NDArray[np.float64]
    bound: LengthBound
    keeps_listed: bool = False
    always: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def parts(self) -> tuple[Any, ...]:
        """What `_core.PassMember` takes."""
        bound = (self.bound.scale, self.bound.mean, self.bound.least)
        return self.reach, self.directions, *bound, self.keeps_listed, self.always
