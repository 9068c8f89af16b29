"""Products with the rows ``(1, x_i)`` of a regression, which every covariance is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.linalg import solve_triangular

from rectiline._typing import Indices, Matrix, Vector
from rectiline.rows import RowBlocks

_ROWS_PER_BLOCK = 16_384  # rows handled at once: X is never copied as a whole


class Rows:
    """The rows of X, with a constant in front if the model has an intercept.

    X is an array, a sparse matrix, or rows in blocks; each product with these is one pass.

    Attributes
    ----------
    n, p : int
        Number of rows, and of coefficients with the intercept.
    scale : ndarray of shape (n,) or None
        Each row, its constant included, is multiplied by it; X itself is not.
    """

    def __init__(self, X: Any, constant: bool, scale: Vector | None = None) -> None:
        self.X = sp.csr_array(X) if sp.issparse(X) else X
        self.constant, self.scale = constant, scale
        self.in_blocks = isinstance(X, RowBlocks)
        n, d = (X.n_rows, X.n_features) if self.in_blocks else X.shape
        self.n, self.p = int(n), int(d) + int(constant)

    def _parts(self) -> Iterator[tuple[slice, Any]]:
        """Yield X, as a whole or block by block, with the places of its rows."""
        if not self.in_blocks:
            yield slice(0, self.n), self.X
            return
        for block in self.X:
            yield slice(block.start, block.start + block.n_rows), block.X

    def take(self, chosen: Indices) -> Matrix:
        """Return the chosen rows, by growing numbers, as a dense float64 matrix."""
        part = self.X.take(chosen).X if self.in_blocks else self.X[chosen]
        return self._dense(part, chosen)

    def _dense(self, part: Any, places: Any) -> Matrix:
        part = part.toarray() if sp.issparse(part) else np.asarray(part)
        made = np.empty((part.shape[0], self.p))
        made[:, int(self.constant) :] = part
        if self.constant:
            made[:, 0] = 1.0
        if self.scale is not None:
            made *= self.scale[places][:, None]
        return made

    def _times_scale(self, values: Matrix) -> Matrix:
        return values if self.scale is None else (values.T * self.scale).T

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        for where, part in self._parts():
            for first in range(0, part.shape[0], _ROWS_PER_BLOCK):
                last = min(first + _ROWS_PER_BLOCK, part.shape[0])
                places = slice(where.start + first, where.start + last)
                yield places, self._dense(part[first:last], places)

    def predict(self, coef: Matrix, of: Callable[[Any], Any] = lambda part: part) -> Matrix:
        """Return ``rows @ coef.T`` for one coefficient vector (p,), or for several (m, p).

        With `abs` of both it is the sizes of the terms of predictions.
        """
        coef = of(coef)
        slopes = coef[..., int(self.constant) :].T
        made = np.concatenate([of(part) @ slopes for _, part in self._parts()], dtype=np.float64)
        return self._times_scale(made + coef[..., 0] if self.constant else made)

    def largest(self) -> Vector:
        """Return the largest absolute entry of each column of X."""
        ends = [abs(part).max(axis=0) for _, part in self._parts()]
        made = [one.toarray().ravel() if sp.issparse(one) else one for one in ends]
        return np.asarray(np.max(made, axis=0), dtype=np.float64)

    def cross(self, values: Matrix) -> Matrix:
        """Return ``values.T @ rows``: one row of p sums per column of `values`, or p sums."""
        values = self._times_scale(values)
        parts = [(part.T @ values[where]).T for where, part in self._parts()]
        sums = np.sum(np.asarray(parts, dtype=np.float64), axis=0)
        if not self.constant:
            return np.asarray(sums)
        return np.concatenate([values.sum(axis=0)[..., None], sums], axis=-1)

    def gram(self, weight: Vector) -> Matrix:
        """Return ``sum_i weight_i row_i row_i'``."""
        total = np.zeros((self.p, self.p))
        if sp.issparse(self.X):
            weight = self._times_scale(self._times_scale(weight))
            first = int(self.constant)
            total[first:, first:] = (self.X.T @ sp.diags_array(weight) @ self.X).toarray()
            if self.constant:
                total[0, 1:] = total[1:, 0] = self.X.T @ weight
                total[0, 0] = weight.sum()
            return total
        for part, block in self._blocks():
            total += (block * weight[part, None]).T @ block
        return 0.5 * (total + total.T)

    def group_sums(self, values: Vector, labels: Indices, count: int) -> Matrix:
        """Return the sum of ``values_i row_i`` over each of so many groups, (count, p)."""
        values, first = self._times_scale(values), int(self.constant)
        total = np.zeros((count, self.p))
        for where, part in self._parts():
            entries = (values[where], (labels[where], np.arange(part.shape[0])))
            inner = sp.csr_array(entries, shape=(count, part.shape[0])) @ part
            total[:, first:] += inner.toarray() if sp.issparse(inner) else inner
        if self.constant:
            total[:, 0] = np.bincount(labels, values, minlength=count)
        return total

    def lengths(self, factor: Matrix) -> Vector:
        """Return ``sqrt(row_i' M^-1 row_i)`` for ``M = factor.T @ factor``, factor triangular."""
        made = np.empty(self.n)
        for part, block in self._blocks():
            moved = solve_triangular(factor, block.T, trans="T")
            made[part] = np.sqrt(np.einsum("ij,ij->j", moved, moved))
        return made
