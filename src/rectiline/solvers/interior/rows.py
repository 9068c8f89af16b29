"""Rows as linear maps: what is reduced over rows is a vector or a matrix of the size of the
columns.

All of them act on the scaled columns of the program, with the intercept last where there is one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.backends import Design

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["DataRows", "MatrixRows", "Rows", "UnitRows"]


_FULL, _MOST_ENTRIES = 0.1, 2e7  # share of entries, and entries, of rows that become an array
_FEW_CHANGE = 4  # rows per row whose weight changes from which on the others are summed up once


class Rows(Protocol):
    """A block of rows."""

    size: int

    def dot(self, coef: Vector) -> Vector:
        """Return the rows' values."""

    def tdot(self, weights: Vector) -> Vector:
        """Return the sum of the rows with the given weights."""

    def add_gram(self, weights: Vector, gram: Matrix) -> None:
        """Add the sum of ``weight * row row'`` to a square matrix."""


class DataRows:
    """The samples: columns scaled, and centred where an intercept takes up the means.

    Parameters
    ----------
    design : Design
    active : ndarray of indices, or None
        Rows with a positive weight; None stands for all.
    scale : ndarray of shape (n_features,)
        Factor of each column.
    centre : ndarray of shape (n_features,), or None
        What is subtracted from the columns first.
    intercept : bool
        Whether the last column of the program is a column of ones.
    width : int
        Number of columns of the program.
    """

    def __init__(
        self,
        design: Design,
        active: Indices | None,
        scale: Vector,
        centre: Vector | None,
        intercept: bool,
        width: int,
    ) -> None:
        self.design, self.active, self.scale, self.centre = design, active, scale, centre
        self.intercept, self.width = intercept, width
        self.size = design.n_samples if active is None else int(active.size)
        self.changing: Indices | None = None  # rows whose weights change from step to step
        self._steady: Matrix | None = None  # the sum over the other rows, once it is known

    def dot(self, coef: Vector) -> Vector:
        """Return the predictions of the active rows."""
        own = self.scale * coef[: self.scale.size]
        z = self.design.dot(own)
        z = self.gathered(z)
        shift = coef[-1] if self.intercept else 0.0
        if self.centre is not None:
            shift -= self.centre @ own
        if shift:
            z += shift
        return z

    def tdot(self, weights: Vector) -> Vector:
        """Return the weighted sum of the active rows."""
        d = self.scale.size
        image = np.zeros(self.width)
        total = float(weights.sum())
        own = self.design.tdot(self.scattered(weights))
        if self.centre is not None:
            own -= total * self.centre
        image[:d] = self.scale * own
        if self.intercept:
            image[-1] = total
        return image

    def gathered(self, values: Vector) -> Vector:
        """Return the entries of the active rows."""
        return values if self.active is None else values[self.active]

    def scattered(self, weights: Vector) -> Vector:
        """Return the weights with zeros for the rows that are not active."""
        if self.active is None:
            return weights
        full = np.zeros(self.design.n_samples)
        full[self.active] = weights
        return full

    def add_gram(self, weights: Vector, gram: Matrix) -> None:
        """Add the weighted sum of the squares of the rows."""
        d = self.scale.size
        part, scale = self.plain_gram(weights)
        part *= scale
        part *= scale[:, None]
        gram[:d, :d] += part[:d, :d]
        if self.intercept:
            gram[-1, :d] += part[-1, :d]
            gram[:d, -1] += part[:d, -1]
            gram[-1, -1] += part[-1, -1]

    def kernel(self, weights: Vector) -> Matrix:
        """Return ``rows diag(weights) rows'`` for weights on the columns."""
        d = self.scale.size
        whole = self.design.weighted_kernel(weights[:d] * self.scale**2, self.centre)
        if self.intercept:
            whole += weights[-1]
        return whole if self.active is None else whole[np.ix_(self.active, self.active)]

    @property
    def fills(self) -> bool:
        """Whether all columns are columns of the data or the intercept."""
        return self.width == self.scale.size + self.intercept

    def plain_gram(self, weights: Vector) -> tuple[Matrix, Vector]:
        """Return the weighted sum of the squares of the rows before scaling, and the scale."""
        scale = np.append(self.scale, 1.0) if self.intercept else self.scale
        if not self.is_steady:
            return self._gram_of(self.design, self.scattered(weights)), scale
        assert self.changing is not None
        if self._steady is None:
            rest = weights.copy()
            rest[self.changing] = 0.0
            self._steady = self._gram_of(self.design, self.scattered(rest))
        gram = self._steady.copy()
        if self.changing.size:
            place = self.changing if self.active is None else self.active[self.changing]
            gram += self._gram_of(Design(self.design.by_rows.X[place]), weights[self.changing])
        return gram, scale

    @property
    def is_steady(self) -> bool:
        """Whether most rows keep their weights, so that the sum of their squares is kept."""
        return self.changing is not None and _FEW_CHANGE * self.changing.size <= self.size

    def _gram_of(self, design: Design, weights: Vector) -> Matrix:
        columns = np.arange(self.scale.size)
        return design.weighted_gram(weights, columns, self.intercept, self.centre)

    def block(
        self,
        chosen: Indices,
        columns: Indices,
        row_factor: Vector | None,
        column_factor: Vector | None,
        dtype: Any,
    ) -> NDArray[Any]:
        """Return some rows of some columns of dense data, times factors of each.

        The columns are in order: the intercept, where it is among them, is the last.
        """
        own = columns[columns < self.scale.size]
        place = chosen if self.active is None else self.active[chosen]
        taken = np.empty((chosen.size, columns.size), dtype=dtype)
        factor, ones = self.scale[own], np.ones(columns.size - own.size)
        if column_factor is not None:
            factor, ones = factor * column_factor[: own.size], column_factor[own.size :]
        centre = None if self.centre is None else self.centre[own]
        self.design.copy_part(place, own, factor, taken[:, : own.size], centre, row_factor)
        taken[:, own.size :] = ones if row_factor is None else ones * row_factor[:, None]
        return taken

    def columns(self, chosen: Indices) -> Matrix:
        """Return some of the columns as a dense matrix; the intercept is the last column."""
        d = self.scale.size
        taken = np.zeros((self.size, chosen.size))
        own = chosen < d
        part = self.design.dense_columns(chosen[own])
        if self.centre is not None:
            part -= self.centre[chosen[own]]
        part *= self.scale[chosen[own]]
        taken[:, own] = part if self.active is None else part[self.active]
        if self.intercept:
            taken[:, chosen == self.width - 1] = 1.0
        return taken


class MatrixRows:
    """Rows given by a small matrix of their own, dense or sparse, already scaled."""

    def __init__(self, matrix: Any) -> None:
        if sp.issparse(matrix) and _is_nearly_full(matrix):
            matrix = matrix.toarray()
        self.matrix = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
        self.is_sparse = bool(sp.issparse(matrix))
        self.size = int(matrix.shape[0])
        self.transposed = self.matrix.T.tocsr() if self.is_sparse else self.matrix.T

    def dot(self, coef: Vector) -> Vector:
        """Return the rows' values."""
        return np.asarray(self.matrix @ coef)

    def tdot(self, weights: Vector) -> Vector:
        """Return the sum of the rows with the given weights."""
        return np.asarray(self.transposed @ weights)

    def add_gram(self, weights: Vector, gram: Matrix) -> None:
        """Add the weighted sum of the squares of the rows."""
        gram += Design(self.matrix).weighted_gram(weights, np.arange(gram.shape[0]), False)

    def kernel(self, weights: Vector) -> Matrix:
        """Return ``rows diag(weights) rows'`` for weights on the columns."""
        if self.is_sparse:
            scaled = sp.csr_array(self.matrix.multiply(np.sqrt(weights)))
            return np.asarray((scaled @ scaled.T).toarray())
        scaled = self.matrix * np.sqrt(weights)
        return np.asarray(scaled @ scaled.T)

    def columns(self, chosen: Indices) -> Matrix:
        """Return some of the columns as a dense matrix."""
        part = self.matrix[:, chosen]
        return np.asarray(part.toarray() if self.is_sparse else part)


def _is_nearly_full(matrix: Any) -> bool:
    entries = float(matrix.shape[0]) * matrix.shape[1]
    return bool(entries <= _MOST_ENTRIES and matrix.nnz >= _FULL * entries)


class UnitRows:
    """Rows that are one coefficient each."""

    def __init__(self, index: Indices, width: int) -> None:
        self.index, self.width, self.size = index, width, int(index.size)

    def dot(self, coef: Vector) -> Vector:
        """Return the coefficients."""
        return coef[self.index]

    def tdot(self, weights: Vector) -> Vector:
        """Return the weights at their columns (no column comes twice)."""
        image = np.zeros(self.width)
        image[self.index] = weights
        return image

    def add_gram(self, weights: Vector, gram: Matrix) -> None:
        """Add the weights to the diagonal."""
        gram[self.index, self.index] += weights
