"""The rows of a program as linear maps, and as one matrix in compressed form.

All act on the scaled columns of the program, with the intercept last where there is one. Rows of
the data come first, then rows of constraints and epigraphs, then rows of single coefficients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._typing import Indices, Matrix, Vector
from rectiline.backends import Design
from rectiline.problems.forms import EpigraphForm


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
        self.is_steady = False  # whether all rows keep their weights from step to step
        self._steady: Matrix | None = None  # then the sum of their squares, once it is known

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
        if self._steady is not None:
            return self._steady.copy()
        every = np.arange(self.scale.size)
        gram = self.design.weighted_gram(weights, every, self.intercept, self.centre)
        scale = np.append(self.scale, 1.0) if self.intercept else self.scale
        gram *= scale
        gram *= scale[:, None]
        if self.is_steady:
            self._steady = gram.copy()
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
        self.matrix = matrix
        self.transposed = matrix.T.tocsr() if sp.issparse(matrix) else matrix.T
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
        X = data.design.X if data.centre is None else data.design.X - data.centre
        scale, place = data.scale, np.arange(data.scale.size)
        if data.intercept:
            ones = np.ones((data.size, 1))
            X = sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])
            scale, place = np.append(scale, 1.0), np.append(place, self.width - 1)
        own, more, single = _entries(X), _entries(self.matrix), np.ones(self.single.size)
        counts = np.concatenate([own[0], more[0], single.astype(np.int64)])
        columns = np.concatenate([place[own[1]], more[1], self.single])
        values = np.concatenate([own[2] * scale[own[1]], more[2], single])
        return np.append(0, np.cumsum(counts)), columns, values


class BoxedRows(NamedTuple):
    """Rows of constraints and of an epigraph, over all columns but the intercept, not scaled.

    Each of them costs ``max over low <= y <= high of y (row x + offset)``: inequalities come first,
    then equalities, rows of the epigraph that must not be negative, and rows with a cap.
    """

    matrix: Any
    offset: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, form: EpigraphForm) -> BoxedRows:
        """Return the rows of a form."""
        m, k, epigraph = form.n_inequalities, form.n_constraints, form.epigraph
        matrix, caps = form.constraint_design.X, epigraph.cap.size
        if epigraph.n_columns > form.design.n_features:
            own = sp.csr_array(matrix)
            own = sp.csr_array((own.data, own.indices, own.indptr), (k, epigraph.n_columns))
            matrix = sp.vstack([own, epigraph.above, epigraph.capped], format="csr")
        n = matrix.shape[0]
        offset, low, high = np.zeros(n), np.full(n, -np.inf), np.zeros(n)
        offset[:k], high[m:k] = form.constraint_offset, np.inf
        low[n - caps :], high[n - caps :] = 0.0, epigraph.cap
        return cls(matrix, offset, low, high)


def scaled(matrix: Any, column: Vector, row: Vector) -> Any:
    """Return the matrix with its columns multiplied and its rows divided by their scales."""
    if not sp.issparse(matrix):
        return matrix * column / row[:, None]
    rows = sp.csr_array(matrix)
    values = rows.data * column[rows.indices] / np.repeat(row, np.diff(rows.indptr))
    return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def opposites(matrix: Any) -> tuple[Any, Indices, NDArray[np.bool_]]:
    """Return rows to keep, where each row is among them, and whether it is the opposite.

    Rows that are bounded on both sides come twice, as they are and as their negatives: these share
    one row.
    """
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


def _entries(matrix: Any) -> tuple[Any, Any, Vector]:
    """Return the number of entries of each row, their columns in order and their values."""
    if not sp.issparse(matrix):
        at, columns = np.nonzero(matrix)
        return np.bincount(at, minlength=matrix.shape[0]), columns, matrix[at, columns]
    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    return np.diff(rows.indptr), rows.indices, rows.data
