"""Products with the rows ``(1, x_i)`` of a regression, which every covariance is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.linalg import solve_triangular

from rectiline._typing import Indices, Matrix, Vector

_ROWS_PER_BLOCK = 16_384  # rows handled at once: X is never copied as a whole


class Rows:
    """The rows of X, dense or sparse, with a constant in front if the model has an intercept.

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
        self.n = int(X.shape[0])
        self.p = int(X.shape[1]) + int(constant)

    def take(self, chosen: Any) -> Matrix:
        """Return the chosen rows (a slice or indices) as a dense float64 matrix."""
        part = self.X[chosen]
        part = part.toarray() if sp.issparse(part) else np.asarray(part)
        made = np.empty((part.shape[0], self.p))
        made[:, int(self.constant) :] = part
        if self.constant:
            made[:, 0] = 1.0
        if self.scale is not None:
            made *= self.scale[chosen][:, None]
        return made

    def _times_scale(self, values: Matrix) -> Matrix:
        return values if self.scale is None else (values.T * self.scale).T

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        for first in range(0, self.n, _ROWS_PER_BLOCK):
            part = slice(first, min(first + _ROWS_PER_BLOCK, self.n))
            yield part, self.take(part)

    def predict(self, coef: Matrix) -> Matrix:
        """Return ``rows @ coef.T`` for one coefficient vector (p,), or for several (m, p)."""
        slopes = coef[..., int(self.constant) :]
        made = np.asarray(self.X @ slopes.T, dtype=np.float64)
        return self._times_scale(made + coef[..., 0] if self.constant else made)

    def predict_sizes(self, coef: Matrix) -> Matrix:
        """Return ``abs(rows) @ abs(coef).T``: the sizes of the terms of predictions, (n, m)."""
        sizes = np.asarray(abs(self.X) @ np.abs(coef[:, int(self.constant) :]).T)
        return self._times_scale(sizes + np.abs(coef[:, 0]) if self.constant else sizes)

    def largest(self) -> Vector:
        """Return the largest absolute entry of each column of X."""
        made = abs(self.X).max(axis=0)
        return np.asarray(made.toarray() if sp.issparse(made) else made, dtype=np.float64).ravel()

    def cross(self, values: Matrix) -> Matrix:
        """Return ``values.T @ rows``: one row of p sums per column of `values`, or p sums."""
        values = self._times_scale(values)
        sums = np.asarray((self.X.T @ values).T, dtype=np.float64)
        if not self.constant:
            return sums
        return np.concatenate([values.sum(axis=0)[..., None], sums], axis=-1)

    def gram(self, weight: Vector) -> Matrix:
        """Return ``sum_i weight_i row_i row_i'``."""
        if sp.issparse(self.X):
            return self._sparse_gram(self._times_scale(self._times_scale(weight)))
        total = np.zeros((self.p, self.p))
        for part, block in self._blocks():
            total += (block * weight[part, None]).T @ block
        return 0.5 * (total + total.T)

    def _sparse_gram(self, weight: Vector) -> Matrix:
        inner = (self.X.T @ sp.diags_array(weight) @ self.X).toarray()
        if not self.constant:
            return np.asarray(inner)
        sums = self.X.T @ weight
        return np.block([[np.full((1, 1), weight.sum()), sums[None, :]], [sums[:, None], inner]])

    def group_sums(self, values: Vector, labels: Indices, count: int) -> Matrix:
        """Return the sum of ``values_i row_i`` over each of so many groups, (count, p)."""
        values = self._times_scale(values)
        chooser = sp.csr_array((values, (labels, np.arange(self.n))), shape=(count, self.n))
        inner = chooser @ self.X
        inner = inner.toarray() if sp.issparse(inner) else np.asarray(inner)
        if not self.constant:
            return inner
        return np.column_stack([np.bincount(labels, values, minlength=count), inner])

    def lengths(self, factor: Matrix) -> Vector:
        """Return ``sqrt(row_i' M^-1 row_i)`` for ``M = factor.T @ factor``, factor triangular."""
        made = np.empty(self.n)
        for part, block in self._blocks():
            moved = solve_triangular(factor, block.T, trans="T")
            made[part] = np.sqrt(np.einsum("ij,ij->j", moved, moved))
        return made
