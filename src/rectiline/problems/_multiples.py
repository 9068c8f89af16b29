"""The column functions under several multiples of their penalty at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rectiline.problems._columns import Columns

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Multiples"]


class Multiples:
    """Columns that pay ``factor * h_j``, one row of every matrix for each factor.

    Parameters
    ----------
    columns : Columns
        Without bounds, and with a cost on every one.
    factors : ndarray of shape (k,)
    """

    def __init__(self, columns: Columns, factors: Vector) -> None:
        self._columns, self._factors = columns, factors

    def some(self, which: NDArray[np.intp]) -> Multiples:
        """Return some of the multiples."""
        return Multiples(self._columns, self._factors[which])

    @property
    def strongly_convex(self) -> bool:
        """Whether every column pays for its square."""
        return self._columns.strongly_convex

    def values(self, coefs: Matrix) -> Vector:
        """Return what all columns pay."""
        paid = 0.5 * np.einsum("j,kj,kj->k", self._columns.rho, coefs, coefs)
        if self._columns.has_l1:
            paid += np.abs(coefs) @ self._columns.l1
        return np.asarray(self._factors * paid)

    def gaps(self, coefs: Matrix, q: Matrix) -> Vector:
        """Return the sums of ``h_j(b_j) + h_j*(q_j) - q_j b_j``."""
        if self._columns.is_plain_l1:
            terms = np.abs(coefs) * np.outer(self._factors, self._columns.l1) - q * coefs
            return np.asarray(np.maximum(terms, 0.0).sum(axis=1))
        if self._columns.has_l1:
            return np.asarray(self._stacked.fenchel_young(coefs, q).sum(axis=1))
        # Plain squares: (rho b - q)^2 / (2 rho) with multiples of rho.
        rho = self._columns.rho
        off = coefs * rho
        off *= self._factors[:, None]
        off -= q
        return np.asarray(np.einsum("j,kj,kj->k", 0.5 / rho, off, off) / self._factors)

    def shares_allowed(self, q: Matrix) -> Vector:
        """Return for every row of q the largest share of it, up to 1, where ``h_j*`` is finite."""
        return self.shares_within(self.extent(q))

    def shares_within(self, extent: Vector) -> Vector:
        """Return the same for rows of such an extent."""
        return np.asarray(1.0 / np.maximum(extent / self._factors, 1.0))

    def extent(self, q: Matrix) -> Vector:
        """Return for every row of q the least factor at which all ``h_j*`` are finite."""
        flat, l1 = self._columns.rho == 0, self._columns.l1
        if flat.all() and (l1 == l1[0]).all():
            return np.asarray(np.maximum(q.max(axis=1), -q.min(axis=1)) / l1[0])
        return np.asarray((np.abs(q[:, flat]) / l1[flat]).max(axis=1, initial=0.0))

    def in_use(self, coefs: Matrix) -> NDArray[np.intp] | None:
        """Return the columns that matter, if not all do: under an l1 penalty, those with coefs."""
        return np.flatnonzero(coefs.any(axis=0)) if self._columns.is_plain_l1 else None

    def on(self, which: NDArray[np.intp]) -> Multiples:
        """Return the same for some of the columns."""
        some = self._columns
        terms = some.rho[which], some.l1[which], some.lower[which], some.upper[which]
        return Multiples(Columns(*terms), self._factors)

    @cached_property
    def _stacked(self) -> Columns:
        columns, factors = self._columns, self._factors
        rho, l1 = np.outer(factors, columns.rho), np.outer(factors, columns.l1)
        return Columns(rho, l1, columns.lower, columns.upper)
