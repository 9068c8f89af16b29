"""Yields views of NumPy arrays and SciPy CSR matrices in memory, or in memory maps, as blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rectiline._column_names import names_of
from rectiline.backends import take_rows
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block


class ArrayRows(SlicedRows):
    """Rows of arrays in memory, in views: X is never copied as a whole."""

    def __init__(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        block_rows: int | None = None,
    ) -> None:
        matrix = checked_matrix(X)
        n = matrix.shape[0]
        targets = None if y is None else checked_vector("y", y, n)
        weight = None
        if sample_weight is not None:
            weight = checked_vector("sample_weight", sample_weight, n).astype(np.float64)
        super().__init__(matrix, targets, weight, block_rows)
        names = names_of(X)
        self.feature_names = None if names is None else tuple(names)

    def _bytes_per_row(self) -> float:
        if sp.issparse(self._X):
            return float(self._X.data.nbytes + self._X.indices.nbytes) / self.n_rows
        return super()._bytes_per_row()

    @property
    def targets_in_memory(self) -> NDArray[Any] | None:
        """All targets."""
        targets: NDArray[Any] | None = self._y
        return targets

    def _block(self, some: Any, start: int) -> Block:
        if not isinstance(some, slice):
            X = take_rows(self._X, some)
        elif sp.issparse(self._X):
            X = _sparse_view(self._X, some.start, some.stop)
        else:
            X = self._X[some]
        y, weight = (None if part is None else part[some] for part in (self._y, self._weight))
        return Block(X, y, weight, start).cast(self.dtype)


def _sparse_view(X: Any, start: int, stop: int) -> Any:
    """Return rows of a CSR matrix without copies of its entries, which slices of SciPy make."""
    part = X.__class__((stop - start, X.shape[1]), dtype=X.dtype)
    first, last = X.indptr[start], X.indptr[stop]
    part.data, part.indices = X.data[first:last], X.indices[first:last]
    part.indptr = X.indptr[start : stop + 1] - first
    part.has_canonical_format = True  # `checked_matrix` has seen to it
    return part


def checked_matrix(X: Any, name: str = "X") -> Any:
    """Return a 2-D array of numbers or a CSR matrix, without a copy where X is one already."""
    if sp.issparse(X):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{name} must hold real numbers; got dtype {X.dtype}.")
        X = X.tocsr()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    array = np.asarray(X)
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers; got dtype {array.dtype}. Encode categories and dates "
            "as numbers first."
        )
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a 2-D array of shape (n_rows, n_features); got {array.ndim}-D with "
            f"shape {array.shape}."
        )
    return array


def checked_vector(name: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """Return `values` as a one-dimensional array with one entry for each of `n` rows."""
    vector = np.asarray(values)
    if vector.shape != (n,):
        raise ValueError(
            f"{name} must have one entry for each of the {n} rows of X; got shape {vector.shape}."
        )
    return vector


def array_block(X: Any, y: Any, weight: Any, start: int, title: str = "") -> Block:
    """Return X, y and weight as a block, after a look at them; `title` is for messages."""
    X = checked_matrix(X, f"{title}X")
    if y is not None:
        y = checked_vector(f"{title}y", y, X.shape[0])
    if weight is not None:
        weight = checked_vector(f"{title}weight", weight, X.shape[0])
    is_single = X.dtype == np.float32
    return Block(X, y, weight, start).cast(np.dtype(np.float32 if is_single else np.float64))
