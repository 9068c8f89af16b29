"""The directions in which the restricted problem may move the coefficients.

A direction is a signed column for L1-type and sorted penalties, a sign vector on a group for
GroupLinf. The coefficients are the sum of the directions times their multipliers. Both kinds of
sets list directions in the order in which they were added, and answer the same questions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import LinearProgramForm

__all__ = ["AtomSet", "ColumnSet", "allowed_range"]

_FEW_SAMPLES = 8  # one in so many, of which a copy is small


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
            if samples is None:
                part = X[:, columns]
            elif X.format == "csr" and _FEW_SAMPLES * samples.size < X.shape[0]:
                part = X[samples][:, columns]
            else:  # in this order only the small part is ever copied
                part = X[:, columns][samples]
            part = sp.csr_array(part, dtype=np.float64)
            part.data *= signs[part.indices]
            return part
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
    """Sign vectors on groups of columns, one after the other."""

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self._columns = np.zeros(0, dtype=np.int64)
        self._signs = np.zeros(0)
        self._ends = np.zeros(1, dtype=np.int64)  # atom a is [ends[a], ends[a + 1])
        self.costs = np.zeros(0)

    @property
    def size(self) -> int:
        """Number of directions."""
        return self.costs.size

    def add(self, columns: list[Indices], signs: list[Vector], costs: Vector) -> None:
        """Append atoms, each given by its columns, their signs and what a unit of length costs."""
        sizes = np.array([one.size for one in columns], dtype=np.int64)
        self.costs = np.concatenate([self.costs, costs])
        self._columns = np.concatenate([self._columns, *columns])
        self._signs = np.concatenate([self._signs, *signs])
        self._ends = np.concatenate([self._ends, self._ends[-1] + np.cumsum(sizes)])

    def keep(self, marked: NDArray[np.bool_]) -> None:
        """Drop the atoms that are not marked."""
        sizes = np.diff(self._ends)
        inside = np.repeat(marked, sizes)
        self._columns, self._signs = self._columns[inside], self._signs[inside]
        self._ends = np.concatenate([[0], np.cumsum(sizes[marked])])
        self.costs = self.costs[marked]

    def block(self, design: Design, samples: Indices | None, first: int = 0) -> Any:
        """Return the sums of signed columns at the samples."""
        if design.is_sparse:
            part = design.X if samples is None else design.X[samples]
            return sp.csr_array(part @ self._matrix(first))
        if samples is not None:
            design = Design(design.X[samples])
        start = self._ends[first]
        ends = self._ends[first:] - start
        sums = _core.signed_sums(design.view, self._columns[start:], ends, self._signs[start:])
        return sums.T

    def along(self, values: Vector, first: int = 0) -> Vector:
        """Return the inner products with the atoms."""
        start = self._ends[first]
        terms = self._signs[start:] * values[self._columns[start:]]
        return np.add.reduceat(terms, self._ends[first:-1] - start) if terms.size else terms

    def of_rows(self, rows: Any, first: int = 0) -> NDArray[np.float64]:
        """Return the products of a constraint matrix with the atoms."""
        product = rows @ self._matrix(first)
        return product.toarray() if sp.issparse(product) else np.asarray(product)

    def spread(self, lengths: Vector, n_features: int) -> Vector:
        """Return the coefficients."""
        terms = self._signs * np.repeat(lengths, np.diff(self._ends))
        busy = np.flatnonzero(terms)
        columns, terms = self._columns[busy], terms[busy]
        coef: Vector = np.bincount(columns, terms, minlength=n_features).astype(np.float64)
        size = np.bincount(columns, np.abs(terms), minlength=n_features)
        coef[np.abs(coef) <= 1e-14 * size] = 0.0  # opposite signs that cancel up to rounding
        return coef

    def _matrix(self, first: int) -> sp.csc_array:
        start = self._ends[first]
        ends = self._ends[first:] - start
        return sp.csc_array(
            (self._signs[start:], self._columns[start:], ends),
            shape=(self._n_features, ends.size - 1),
        )


def allowed_range(
    form: LinearProgramForm, directions: ColumnSet | AtomSet, first: int
) -> tuple[Vector, Vector]:
    """Return where -a'q must lie for each direction from `first` on."""
    count = directions.size - first
    if form.is_separable:
        assert isinstance(directions, ColumnSet)
        columns, j = form.columns, directions.columns[first:]
        cost = columns.l1[j]
        if not columns.has_bounds:
            return -cost, cost
        low = np.where(columns.upper[j] == 0, -np.inf, -cost)
        return low, np.where(columns.lower[j] == 0, np.inf, cost)
    if form.levels is not None:
        return np.full(count, -form.levels.base), np.full(count, np.inf)
    assert isinstance(directions, AtomSet)
    cost = directions.costs[first:]
    return -cost, cost
