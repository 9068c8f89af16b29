"""Normal equations of many sparse columns, and how well they are conditioned; for `_balance`.

Nothing here is dense in the number of columns. That exact multipliers exist near given ones is
shown by a bound on the smallest eigenvalue of ``N = M'M``, where M holds the columns weighted by
the room w_i that the boxes leave and scaled to norm one: with ``d = diag(w) M u`` and
``N u = r`` the columns balance exactly, and ``|M u|^2 = r' N^-1 r <= |r|^2 / lambda``, so that
``|d_i| <= w_i |r| / sqrt(lambda)``. If ``N - s I = L L' + R``, then ``lambda >= s - |R|``, and R is
bounded by the rounding of the sums that make up L (Rump, "Verification of positive definiteness",
BIT 46, 2006). The order of elimination is found once for a design.
"""

from __future__ import annotations

import math
import threading
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse as sp

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._polling import checkpoint, time_left
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.proof._measure import UNIT, gamma, norm_of

_MOST_ENTRIES_OF_A_FACTOR = 2e8  # 1.6 gigabytes
_RIDGE = 1e-14  # added to the diagonal of ones, as for dense columns
_INVERSE_ITERATIONS = 6  # that estimate the smallest eigenvalue
_EIGENVALUE_SHARES_TO_PROVE = (0.5, 0.1)


class SparseNormalSystem:
    """``Z' diag(weight) Z`` for sparse Z, with a column of ones last if there is an intercept."""

    def __init__(self, design: Design, intercept: bool) -> None:
        checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * design.n_stored)
        X = design.by_rows.X
        ones = sp.csr_array(np.ones((X.shape[0], 1)))
        Z = sp.csr_array(sp.hstack([X, ones]) if intercept else X, dtype=np.float64)
        if not Z.has_canonical_format:
            Z = Z.copy() if Z is X else Z
            Z.sum_duplicates()
        self._Z, self._lengths = Z, np.diff(Z.indptr)
        begin, columns = Z.indptr.astype(np.int64), Z.indices.astype(np.int64)
        self._equations = _core.NormalEquations(begin, columns, Z.data, Z.shape[1], False)
        self._is_bearable = True  # whether there is memory for a factor
        if not intercept and design.normal_equations is not None:
            self._equations.adopt(design.normal_equations)
        else:
            self._is_bearable = self._equations.analyse(_MOST_ENTRIES_OF_A_FACTOR, time_left())
            checkpoint()
        self._is_free = threading.Lock()  # the equations hold one factor at a time

    @classmethod
    def of(cls, design: Design, intercept: bool) -> SparseNormalSystem:
        """Return the system of a design, the same one for every certificate."""
        kept = _systems.get(design, {})
        if intercept not in kept:
            kept = _systems.setdefault(design, kept)
            kept[intercept] = cls(design, intercept)
        return kept[intercept]

    def solve(self, weight: Vector, right: Vector) -> Vector | None:
        """Return a solution of the normal equations, or None if there is none."""
        with self._is_free:
            size = self._scale(np.sqrt(weight))
            if size is None or not self._factorise(_RIDGE):
                return None
            return np.asarray(self._equations.solve(right / size) / size)

    def exact_moves(
        self, sample: Vector, low: Vector, high: Vector, left: Vector
    ) -> tuple[Indices, Vector, float] | None:
        """Return rows, bounds on their moves and on the norm of all of them, as `Moves` has them.

        None if no moves could be shown to balance what is `left`.
        """
        ends = sum(np.where(np.isfinite(one), np.abs(one), 0.0) for one in (low, high))
        # The ends have been rounded.
        room = 0.5 * np.minimum(sample - low, high - sample) - 4 * UNIT * ends
        rows = np.flatnonzero(room > 0)
        if rows.size < left.size or not np.isfinite(left).all():
            return None
        finite = room[rows][np.isfinite(room[rows])]
        most = float(np.max(finite, initial=0.0)) or max(norm_of(sample), 1.0)
        weight = np.zeros(sample.size)
        weight[rows] = np.minimum(room[rows], most) / most
        with self._is_free:
            size = self._scale(weight)
            least = 0.0 if size is None else self._smallest_eigenvalue()
        if size is None or not least > 0.0:
            return None
        norm = norm_of(left / size) * (1 + 8 * UNIT) / math.sqrt(least) * (1 + 8 * UNIT)
        by = weight[rows] * (norm * (1 + 8 * UNIT))
        return (rows, by, norm) if (by <= room[rows]).all() else None

    def _scale(self, weight: Vector) -> Vector | None:
        """Set M to ``diag(weight) Z`` with columns of norm one; return the norms, if there are."""
        checkpoint()
        Z = self._Z
        if not self._is_bearable:
            return None
        values = Z.data * np.repeat(weight, self._lengths)
        size = np.sqrt(np.bincount(Z.indices, values * values, Z.shape[1]))
        if not (size.size and size.min() > 1e-150 and size.max() < np.inf):
            return None
        self._values = values / size[Z.indices]
        self._equations.set_values(self._values)
        return size

    def _factorise(self, ridge: float) -> bool:
        """Factorise ``M'M + ridge I``; return whether it has a factor."""
        n, k = self._Z.shape
        found = self._equations.factorise(np.ones(n), np.full(k, ridge), time_left())
        checkpoint()
        return bool(found)

    def _smallest_eigenvalue(self) -> float:
        """Return a lower bound on the smallest eigenvalue of ``M'M``; zero if it is unknown."""
        Z, equations = self._Z, self._equations
        order, ones = Z.shape[1], np.ones(Z.shape[1])
        sizes = sp.csr_array((np.abs(self._values), Z.indices, Z.indptr), shape=Z.shape)
        # Entries of M are rounded, and so are the sums of their products.
        terms = int(np.bincount(Z.indices, minlength=1).max())
        formed = gamma(terms + 8) * float((sizes.T @ (sizes @ ones)).max()) * (1 + gamma(Z.nnz))
        if not self._factorise(UNIT):
            return 0.0
        vector, estimate = ones / math.sqrt(order), 0.0
        for _ in range(_INVERSE_ITERATIONS):
            vector = equations.solve(vector)
            estimate = 1.0 / float(np.linalg.norm(vector))
            vector *= estimate
        for shift in (share * estimate for share in _EIGENVALUE_SHARES_TO_PROVE):
            if 0.5 * shift <= formed or not self._factorise(-shift):
                continue
            missed = gamma(equations.most_terms + 8) * equations.growth
            missed *= 1 + gamma(order + int(equations.entries))
            if missed + formed < 0.5 * shift:
                return (shift - missed - formed) * (1 - 8 * UNIT)
        return 0.0


_systems: WeakKeyDictionary[Design, dict[bool, SparseNormalSystem]] = WeakKeyDictionary()
