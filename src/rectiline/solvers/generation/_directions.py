"""The directions in which the restricted problem may move the coefficients.

A direction is a signed column for L1-type and sorted penalties, a sign vector on a group for
GroupLinf. The coefficients are the sum of the directions times their multipliers.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.backends import Design

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["AtomSet", "ColumnSet", "DirectionSet"]


class DirectionSet(Protocol):
    """Directions, in the order in which they were added."""

    @property
    def size(self) -> int:
        """Number of directions."""

    def block(self, design: Design, samples: Indices | None, first: int = 0) -> Any:
        """Return ``X[samples] @ directions[first:]``, dense or CSR as X is."""

    def along(self, values: Vector, first: int = 0) -> Vector:
        """Return the inner products of a coefficient-space vector with the directions."""

    def of_rows(self, rows: Any, first: int = 0) -> NDArray[np.float64]:
        """Return ``rows @ directions[first:]`` for a constraint matrix, dense."""

    def spread(self, lengths: Vector, n_features: int) -> Vector:
        """Return the sum of the directions times `lengths`."""

    def keep(self, marked: NDArray[np.bool_]) -> None:
        """Drop the directions that are not marked."""


class ColumnSet:
    """Signed columns of X."""

    def __init__(self) -> None:
        self.columns = np.zeros(0, dtype=np.intp)
        self.signs = np.zeros(0)

    @property
    def size(self) -> int:
        """Number of directions."""
        return self.columns.size

    def add(self, columns: Indices, signs: Vector | None = None) -> None:
        """Append columns; all signs are +1 if not given."""
        self.columns = np.concatenate([self.columns, columns])
        self.signs = np.concatenate([self.signs, np.ones(columns.size) if signs is None else signs])

    def keep(self, marked: NDArray[np.bool_]) -> None:
        """Drop the columns that are not marked."""
        self.columns, self.signs = self.columns[marked], self.signs[marked]

    def block(self, design: Design, samples: Indices | None, first: int = 0) -> Any:
        """Return the signed columns at the samples."""
        columns, signs = self.columns[first:], self.signs[first:]
        X = design.X
        if design.is_sparse:
            part = X if samples is None else X[samples]
            return sp.csr_array(part[:, columns]) @ sp.diags_array(signs, format="csr")
        part = X[:, columns] if samples is None else X[np.ix_(samples, columns)]
        return part * signs

    def along(self, values: Vector, first: int = 0) -> Vector:
        """Return the signed entries of `values`."""
        picked: Vector = values[self.columns[first:]] * self.signs[first:]
        return picked

    def of_rows(self, rows: Any, first: int = 0) -> NDArray[np.float64]:
        """Return the signed columns of a constraint matrix."""
        part = rows[:, self.columns[first:]]
        dense = part.toarray() if sp.issparse(part) else np.asarray(part)
        return np.asarray(dense * self.signs[first:])

    def spread(self, lengths: Vector, n_features: int) -> Vector:
        """Return the coefficients."""
        coef = np.zeros(n_features)
        np.add.at(coef, self.columns, self.signs * lengths)
        return coef


class AtomSet:
    """Sign vectors on groups of columns."""

    def __init__(self, n_features: int) -> None:
        self._atoms: sp.csc_array = sp.csc_array((n_features, 0))
        self.costs = np.zeros(0)

    @property
    def size(self) -> int:
        """Number of directions."""
        return int(self._atoms.shape[1])

    def add(self, columns: list[Indices], signs: list[Vector], costs: Vector) -> None:
        """Append atoms, each given by its columns, their signs and what a unit of length costs."""
        self.costs = np.concatenate([self.costs, costs])
        start = np.concatenate([[0], np.cumsum([c.size for c in columns])])
        new = sp.csc_array(
            (np.concatenate(signs), np.concatenate(columns), start),
            shape=(self._atoms.shape[0], len(columns)),
        )
        self._atoms = sp.hstack([self._atoms, new], format="csc")

    def keep(self, marked: NDArray[np.bool_]) -> None:
        """Drop the atoms that are not marked."""
        self._atoms, self.costs = self._atoms[:, np.flatnonzero(marked)], self.costs[marked]

    def block(self, design: Design, samples: Indices | None, first: int = 0) -> Any:
        """Return the sums of signed columns at the samples."""
        atoms = self._atoms[:, first:]
        if design.is_sparse:
            part = design.X if samples is None else design.X[samples]
            return sp.csr_array(part @ atoms)
        used, place = np.unique(atoms.indices, return_inverse=True)
        X = design.X
        part = X[:, used] if samples is None else X[np.ix_(samples, used)]
        small = sp.csc_array((atoms.data, place, atoms.indptr), shape=(used.size, atoms.shape[1]))
        return np.asarray((small.T @ part.T).T, dtype=np.float64)

    def along(self, values: Vector, first: int = 0) -> Vector:
        """Return the inner products with the atoms."""
        product: Vector = self._atoms[:, first:].T @ values
        return product

    def of_rows(self, rows: Any, first: int = 0) -> NDArray[np.float64]:
        """Return the products of a constraint matrix with the atoms."""
        product = rows @ self._atoms[:, first:]
        return product.toarray() if sp.issparse(product) else np.asarray(product)

    def spread(self, lengths: Vector, n_features: int) -> Vector:
        """Return the coefficients."""
        coef: Vector = self._atoms @ lengths
        size = abs(self._atoms) @ np.abs(lengths)
        coef[np.abs(coef) <= 1e-14 * size] = 0.0  # opposite signs that cancel up to rounding
        return coef
