"""Yields views of NumPy arrays and SciPy CSR matrices in memory, or in memory maps, as blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rectiline.backends import take_rows
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block, refuse_non_finite

__all__ = ["ArrayRows", "array_block", "block_length", "checked_matrix", "checked_vector"]

_BLOCK_BYTES = 1 << 25  # of X in one block: long enough to read, short enough to show progress


class ArrayRows(SlicedRows):
    """Rows of arrays in memory, in views: X is never copied as a whole."""

    def __init__(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        block_rows: int | None = None,
    ) -> None:
        super().__init__()
        self._X = checked_matrix(X)
        n, self.n_features = (int(size) for size in self._X.shape)
        if n == 0 or self.n_features == 0:
            raise ValueError(f"X must have at least one row and one column; got shape {X.shape}.")
        self.dtype = np.dtype(np.float32 if self._X.dtype == np.float32 else np.float64)
        self._y = None if y is None else checked_vector("y", y, n)
        self._weight = None
        if sample_weight is not None:
            self._weight = checked_vector("sample_weight", sample_weight, n).astype(np.float64)
        self.has_target, self.has_weight = y is not None, sample_weight is not None
        size = self._X.dtype.itemsize * self.n_features
        if sp.issparse(self._X):
            size = (self._X.data.nbytes + self._X.indices.nbytes) / n
        self.block_rows = block_length(block_rows, size)
        self._n_rows = n
        names = getattr(X, "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names = tuple(names)

    @property
    def X(self) -> Any:
        """The whole matrix."""
        return self._X

    @property
    def targets_in_memory(self) -> NDArray[Any] | None:
        """All targets."""
        return self._y

    def _block(self, some: Any, start: int) -> Block:
        if not isinstance(some, slice):
            X = take_rows(self._X, some)
        elif sp.issparse(self._X):
            X = _sparse_view(self._X, some.start, some.stop)
        else:
            X = self._X[some]
        if X.dtype not in (np.float32, np.float64) or not X.dtype.isnative:
            X = X.astype(np.float64)  # a block of integers is converted when it is read
        y = None if self._y is None else self._y[some]
        return Block(X, y, None if self._weight is None else self._weight[some], start)


def _sparse_view(X: Any, start: int, stop: int) -> Any:
    """Return rows of a CSR matrix without copies of its entries, which slices of SciPy make."""
    part = X.__class__((stop - start, X.shape[1]), dtype=X.dtype)
    first, last = X.indptr[start], X.indptr[stop]
    part.data, part.indices = X.data[first:last], X.indices[first:last]
    part.indptr = X.indptr[start : stop + 1] - first
    part.has_canonical_format = True  # `checked_matrix` has seen to it
    return part


def block_length(
    block_rows: int | None, bytes_per_row: float, block_bytes: int = _BLOCK_BYTES
) -> int:
    """Return how many rows a block has: those asked for, or as many as fill `block_bytes`."""
    if block_rows is None:
        return max(1, int(block_bytes / max(bytes_per_row, 1.0)))
    whole = isinstance(block_rows, (int, np.integer)) and not isinstance(block_rows, bool)
    if not whole or block_rows < 1:
        raise ValueError(f"block_rows={block_rows!r}: must be a positive integer or None.")
    return int(block_rows)


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


def array_block(start: int, shape: tuple[bool, bool, str], *part: Any) -> Block:
    """Return a block of X, y and weight; `shape`: whether there are y and weight, and the type."""
    has_target, has_weight, dtype = shape
    X = checked_matrix(part[0])
    X = X if X.dtype == np.dtype(dtype) else X.astype(dtype)
    y, weight = part[1] if has_target else None, part[-1] if has_weight else None
    for vector in (y, weight):
        if vector is not None:
            checked_vector(f"y or weight from row {start} on", vector, X.shape[0])
    block = Block(X, y, None if weight is None else np.asarray(weight, np.float64), start)
    refuse_non_finite(block)
    return block
