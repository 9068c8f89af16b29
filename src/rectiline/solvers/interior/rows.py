"""The rows of a program as linear maps, and as one matrix in compressed form.

All act on the scaled columns of the program, with the intercept last where there is one. Rows of
the data come first, then rows of constraints and epigraphs, then rows of single coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._typing import Indices, Matrix, Vector
from rectiline.backends import Design

__all__ = ["DataRows", "ProgramRows", "stacked"]

_FULL, _MOST_ENTRIES = 0.1, 2e7  # share of entries, and entries, of rows that become an array
_FEW_CHANGE = 4  # rows per row whose weight changes from which on the others are summed up once


class DataRows:
    """The samples: columns scaled, and centred where an intercept takes up the means.

    Parameters
    ----------
    design : Design
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
        scale: Vector,
        centre: Vector | None,
        intercept: bool,
        width: int,
    ) -> None:
        self.design, self.scale, self.centre = design, scale, centre
        self.intercept, self.width = intercept, width
        self.size = design.n_samples
        self.changing: Indices | None = None  # rows whose weights change from step to step
        self._steady: Matrix | None = None  # the sum over the other rows, once it is known

    def dot(self, coef: Vector) -> Vector:
        """Return the predictions of the rows."""
        own = self.scale * coef[: self.scale.size]
        z = self.design.dot(own)
        shift = coef[-1] if self.intercept else 0.0
        if self.centre is not None:
            shift -= self.centre @ own
        if shift:
            z += shift
        return z

    def tdot(self, weights: Vector) -> Vector:
        """Return the weighted sum of the rows."""
        d = self.scale.size
        image = np.zeros(self.width)
        total = float(weights.sum())
        own = self.design.tdot(weights)
        if self.centre is not None:
            own -= total * self.centre
        image[:d] = self.scale * own
        if self.intercept:
            image[-1] = total
        return image

    def gram(self, weights: Vector) -> Matrix:
        """Return the weighted sum of the squares of the rows, over the columns of X and the last.

        Rows that keep their weights from step to step are summed up once.
        """
        if not self.is_steady:
            return self._gram_of(self.design, weights)
        assert self.changing is not None
        if self._steady is None:
            rest = weights.copy()
            rest[self.changing] = 0.0
            self._steady = self._gram_of(self.design, rest)
        gram = self._steady.copy()
        if self.changing.size:
            changing = Design(self.design.by_rows.X[self.changing])
            gram += self._gram_of(changing, weights[self.changing])
        return gram

    @property
    def is_steady(self) -> bool:
        """Whether most rows keep their weights, so that the sum of their squares is kept."""
        return self.changing is not None and _FEW_CHANGE * self.changing.size <= self.size

    def _gram_of(self, design: Design, weights: Vector) -> Matrix:
        gram = design.weighted_gram(
            weights, np.arange(self.scale.size), self.intercept, self.centre
        )
        scale = np.append(self.scale, 1.0) if self.intercept else self.scale
        gram *= scale
        gram *= scale[:, None]
        return gram

    def kernel(self, weights: Vector) -> Matrix:
        """Return ``rows diag(weights) rows'`` for weights on the columns."""
        d = self.scale.size
        whole = self.design.weighted_kernel(weights[:d] * self.scale**2, self.centre)
        if self.intercept:
            whole += weights[-1]
        return whole

    def columns(self, chosen: Indices) -> Matrix:
        """Return some of the columns as a dense matrix; the intercept is the last column."""
        d = self.scale.size
        taken = np.zeros((self.size, chosen.size))
        own = chosen < d
        part = self.design.dense_columns(chosen[own])
        if self.centre is not None:
            part -= self.centre[chosen[own]]
        part *= self.scale[chosen[own]]
        taken[:, own] = part
        if self.intercept:
            taken[:, chosen == self.width - 1] = 1.0
        return taken


class ProgramRows:
    """All rows of a program.

    Parameters
    ----------
    data : DataRows
    matrix : ndarray or csr_array
        Scaled rows of constraints and of an epigraph, over all columns but the intercept.
    single : ndarray of indices
        The coefficients that have a row of their own.
    width : int
        Number of columns of the program.
    """

    def __init__(self, data: DataRows, matrix: Any, single: Indices, width: int) -> None:
        self.data, self.single, self.width = data, single, width
        self.matrix = (
            matrix.toarray() if sp.issparse(matrix) and _is_nearly_full(matrix) else matrix
        )
        self.transposed = self.matrix.T.tocsr() if sp.issparse(self.matrix) else self.matrix.T
        self.ends = np.cumsum([data.size, matrix.shape[0], single.size])
        self.size = int(self.ends[-1])

    def parts(self, values: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the entries of the data rows, of the matrix and of single coefficients."""
        first, second, third = np.split(values, self.ends[:-1])
        return first, second, third

    def dot(self, x: Vector) -> Vector:
        """Return the values of all rows."""
        own = self.matrix @ x[: self.matrix.shape[1]]
        return np.concatenate([self.data.dot(x), own, x[self.single]])

    def tdot(self, values: Vector) -> Vector:
        """Return the sum of all rows with the given weights."""
        data, matrix, single = self.parts(values)
        image = self.data.tdot(data)
        if matrix.size:
            image[: self.matrix.shape[1]] += self.transposed @ matrix
        image[self.single] += single
        return image

    def compressed(self) -> tuple[Any, Any, Vector]:
        """Return the rows as begins, columns and values, the columns of a row in order."""
        data = self.data
        X = data.design.X
        if data.centre is not None:
            X = X - data.centre
        counts, columns, values = _compressed(X)
        values = values * data.scale[columns]
        if data.intercept:  # a further entry at the end of each row
            counts = counts + 1
            ends = np.cumsum(counts) - 1
            others = np.ones(columns.size + counts.size, dtype=bool)
            others[ends] = False
            columns, values = _spread(columns, others), _spread(values, others)
            columns[ends], values[ends] = self.width - 1, 1.0
        more = _compressed(self.matrix)
        ones = np.ones(self.single.size)
        counts = np.concatenate([counts, more[0], ones.astype(np.int64)])
        begin = np.zeros(self.size + 1, dtype=np.int64)
        np.cumsum(counts, out=begin[1:])
        columns = np.concatenate([columns, more[1], self.single]).astype(np.int64, copy=False)
        return begin, columns, np.concatenate([values, more[2], ones])


def stacked(
    matrices: list[Any], column: Vector, scales: tuple[Vector, ...]
) -> tuple[Any, list[Indices], list[NDArray[np.bool_]]]:
    """Return the scaled rows of all matrices, and for each where its rows are.

    Rows that are bounded on both sides come twice, as they are and as their negatives: these share
    one row, and the last result says which of them are negatives.
    """
    pieces, places, negative, first = [], [], [], 0
    for matrix, scale in zip(matrices, scales, strict=True):
        kept, place, is_opposite = opposites(matrix)
        places.append(first + place)
        negative.append(is_opposite)
        if scale.size:
            piece = matrix[kept]
            if sp.issparse(piece):
                piece = sp.csr_array(piece)
                counts = np.diff(piece.indptr)
                data = piece.data * column[piece.indices] / np.repeat(scale[kept], counts)
                piece = sp.csr_array((data, piece.indices, piece.indptr), shape=piece.shape)
            else:
                piece = piece * column[: piece.shape[1]] / scale[kept][:, None]
            pieces.append(piece)
            first += piece.shape[0]
    if not pieces:
        return np.zeros((0, column.size)), places, negative
    if len(pieces) > 1:
        pieces = [sp.csr_array(sp.vstack([sp.csr_array(piece) for piece in pieces], format="csr"))]
    return pieces[0], places, negative


def opposites(matrix: Any) -> tuple[Any, Indices, NDArray[np.bool_]]:
    """Return rows to keep, and where each row is among them, and whether it is the opposite."""
    n = int(matrix.shape[0])
    is_opposite = np.zeros(n, dtype=bool)
    if n < 2:
        return slice(None), np.arange(n), is_opposite
    key = matrix @ np.sqrt(np.arange(2.0, matrix.shape[1] + 2.0))
    order = np.argsort(np.abs(key), kind="stable")
    pairs = key[order[1:]] == -key[order[:-1]]
    pairs[1:] &= ~pairs[:-1]
    one, other = order[:-1][pairs], order[1:][pairs]
    if not one.size:
        return slice(None), np.arange(n), is_opposite
    same = np.asarray(abs(matrix[one] + matrix[other]).sum(axis=1)).ravel() == 0.0
    one, other = one[same], other[same]
    is_opposite[other] = True
    kept = np.flatnonzero(~is_opposite)
    place = np.zeros(n, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    place[other] = place[one]
    return (kept if other.size else slice(None)), place, is_opposite


def _compressed(matrix: Any) -> tuple[Any, Any, Vector]:
    """Return the number of entries of each row, their columns and their values."""
    if not sp.issparse(matrix):
        n, d = matrix.shape
        if matrix.all():
            return np.full(n, d), np.tile(np.arange(d), n), matrix.ravel().astype(np.float64)
        at, columns = np.nonzero(matrix)
        counts = np.bincount(at, minlength=matrix.shape[0])
        return counts.astype(np.int64), columns.astype(np.int64), matrix[at, columns]
    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    return np.diff(rows.indptr).astype(np.int64), rows.indices.astype(np.int64), rows.data


def _spread(entries: Any, places: NDArray[np.bool_]) -> Any:
    """Return a longer vector with the entries in the given places."""
    longer = np.zeros(places.size, dtype=entries.dtype)
    longer[places] = entries
    return longer


def _is_nearly_full(matrix: Any) -> bool:
    entries = float(matrix.shape[0]) * matrix.shape[1]
    return bool(entries <= _MOST_ENTRIES and matrix.nnz >= _FULL * entries)
