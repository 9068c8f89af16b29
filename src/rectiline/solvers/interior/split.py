"""Choose the rows and columns of a factor, once iterates of `interior` are near their bounds.

With row weights w and column diagonals ``delta`` the equations are those of the matrix
``B_ij = sqrt(w_i / delta_j) R_ij``. Near the end rows away from their kinks have tiny weights and
columns on their way to zero have large diagonals, so that the block of B where such *light* rows
and *stiff* columns meet is small: leaving it out makes a factor of the size of the others, which
iterative refinement turns into the solution of all the equations. The error shrinks by the square
of the norm of that block in every refinement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.linear_algebra import Workspace

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["Coupling", "Split"]

_WANTED, _LARGEST = 0.02, 0.1
_CANDIDATES = 32  # numbers of columns that are looked at
_ATTEMPTS = 3
_POWER_STEPS = 2  # of the power method, which goes on from where it ended in the last iteration
_PAYS = 0.8  # of the cost of a factor of everything
_GATHER = 40.0  # arithmetic operations that copying an entry costs
_LEAST_SIZE = 200  # rows and columns below which everything is cheap
_SAFETY = 1.5  # the power method approaches the norm from below


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Heavy and light rows, soft and stiff columns."""

    heavy: Indices
    light: Indices
    soft: Indices
    stiff: Indices


class Coupling:
    """Chooses splits, and learns how strongly the rows and columns of the data are coupled.

    `wanted` is the squared norm of the block to leave out, `largest` what is accepted.
    """

    def __init__(self, wanted: float = _WANTED, largest: float = _LARGEST) -> None:
        self._wanted, self._largest = wanted, largest
        self.mean = 0.0  # of the complementarity products
        self.space = Workspace()
        self.single = True  # whether early factors are in single precision
        self._allowed = True
        self._strength = 0.1  # relative to independent columns
        self._vector: Vector | None = None

    def retreat(self) -> None:
        """Be more careful from now on: first in double precision, then without splits."""
        self._allowed, self.single = self.single, False

    def choose(
        self, rows: Any, weight: Vector, diagonal: Vector, always: Indices, by_rows: bool
    ) -> Split | None:
        """Return the split that costs least, or None if a factor of everything is as good.

        `always` are columns that must stay.
        """
        if not self._allowed or min(weight.size, diagonal.size) < _LEAST_SIZE:
            return None
        whole = _whole_cost(weight.size, diagonal.size, always.size, by_rows)
        for _ in range(_ATTEMPTS):
            found = self._cheapest(weight, diagonal, always)
            if found is None or found[1] > _PAYS * whole:
                return None
            split, _, guess = found
            norm = _SAFETY * self._left_out(rows, weight, diagonal, split)
            self._strength *= max(norm / guess, 0.1)
            if norm <= self._largest:
                return split
        return None

    def _cheapest(
        self, weight: Vector, diagonal: Vector, always: Indices
    ) -> tuple[Split, float, float] | None:
        n, d = weight.size, diagonal.size
        order = np.argsort(diagonal, kind="stable")
        rising = np.sort(weight)
        spread = self._strength * (np.sqrt(n) + np.sqrt(d)) ** 2
        best = None
        for soft in np.unique(np.linspace(always.size, d - 1, _CANDIDATES).astype(np.intp)):
            stiffness = diagonal[order[soft]]
            lightest = self._wanted * stiffness / spread
            light = int(np.searchsorted(rising, lightest, side="right"))
            cost = _split_cost(n - light, light, int(soft), d - int(soft))
            if best is None or cost < best[0]:
                best = cost, int(soft), lightest
        if best is None:
            return None
        cost, count, lightest = best
        is_soft = np.zeros(d, dtype=bool)
        is_soft[order[:count]] = True
        is_soft[always] = True
        is_light = weight <= lightest
        split = Split(*map(np.flatnonzero, (~is_light, is_light, is_soft, ~is_soft)))
        top = float(weight[is_light].max(initial=0.0) / diagonal[~is_soft].min(initial=np.inf))
        return split, cost, max(spread * top, 1e-30)

    def _left_out(self, rows: Any, weight: Vector, diagonal: Vector, split: Split) -> float:
        """Return about the squared norm of the block that the split leaves out."""
        if not split.light.size or not split.stiff.size:
            return 0.0
        root = np.zeros(diagonal.size)
        root[split.stiff] = 1.0 / np.sqrt(diagonal[split.stiff])
        light = np.zeros(weight.size)
        light[split.light] = weight[split.light]
        if self._vector is None:
            self._vector = np.random.default_rng(0).standard_normal(diagonal.size)
        vector, norm = self._vector * (root > 0), 0.0
        for _ in range(_POWER_STEPS):
            size = float(np.linalg.norm(vector))
            if size == 0.0:
                return 0.0
            vector = root * rows.tdot(light * rows.dot(root * (vector / size)))
            norm = float(np.linalg.norm(vector))
        # A little of everything, in case the next block is another one.
        self._vector = vector / max(norm, 1e-300) + 0.1 * self._vector / np.linalg.norm(
            self._vector
        )
        return norm


def _whole_cost(n: int, d: int, always: int, by_rows: bool) -> float:
    if not by_rows:
        return _GATHER * n * d / 4 + float(d) ** 2 * n + float(d) ** 3 / 3
    if always < 2:
        return _GATHER * n * d / 4 + float(n) ** 2 * d + float(n) ** 3 / 3
    return _GATHER * n * d / 4 + float(n) ** 2 * d + 2 / 3 * float(n + always) ** 3


def _split_cost(heavy: int, light: int, soft: int, stiff: int) -> float:
    h, a = float(heavy), float(soft)
    grams = h**2 * stiff + a**2 * light
    factors = h**3 / 3 + h**2 * a + h * a**2 + a**3 / 3
    return grams + factors + _GATHER * (h * stiff + a * light + h * a)
