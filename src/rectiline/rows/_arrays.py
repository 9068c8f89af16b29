"""Yields views of NumPy arrays and SciPy CSR matrices in memory, or in memory maps, as blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rectiline._column_names import names_of
from rectiline.backends import as_supported_sparse
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block, refuse_other_length


class ArrayRows(SlicedRows):
    """Rows of arrays in memory, in views: X is never copied as a whole."""

    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, block_rows: int | None = None
    ) -> None:
        matrix = checked_matrix(X)
        n = matrix.shape[0]
        if y is not None:
            y = checked_vector("y", y, n)
        if sample_weight is not None:
            sample_weight = checked_vector("sample_weight", sample_weight, n).astype(np.float64)
        super().__init__(matrix, y, sample_weight, block_rows)
        names = names_of(X)
        self.feature_names = None if names is None else tuple(names)

    def _bytes_per_row(self) -> float:
        if self.whole.is_sparse:
            return float(self.X.data.nbytes + self.X.indices.nbytes) / self.n_rows
        return super()._bytes_per_row()

    @property
    def targets_in_memory(self) -> NDArray[Any] | None:
        """All targets."""
        targets: NDArray[Any] | None = self.whole.y
        return targets


def checked_matrix(X: Any, name: str = "X") -> Any:
    """Return a 2-D array of numbers or a CSR matrix, without a copy where X is one already."""
    if sp.issparse(X):
        return as_supported_sparse(X, name).tocsr()
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
    refuse_other_length(name, vector.shape, n)
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
