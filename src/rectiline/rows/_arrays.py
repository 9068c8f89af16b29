"""Yields views of NumPy arrays and SciPy CSR matrices in memory, or in memory maps, as blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rectiline._column_names import names_of
from rectiline.backends import as_numbers, as_supported_sparse
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block, refuse_other_length


class ArrayRows(SlicedRows):
    """Rows of arrays in memory, in views: X is never copied as a whole."""

    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, block_rows: int | None = None
    ) -> None:
        whole = checked_block(X, y, sample_weight, weight_name="sample_weight")
        super().__init__(whole.X, whole.y, whole.weight, block_rows)
        names = names_of(X)
        self.feature_names = None if names is None else tuple(names)

    @property
    def targets_in_memory(self) -> NDArray[Any] | None:
        """All targets."""
        targets: NDArray[Any] | None = self.whole.y
        return targets


def checked_vector(name: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """Return `values` as a one-dimensional array with one entry for each of `n` rows."""
    vector = np.asarray(values)
    refuse_other_length(name, vector.shape, n)
    return vector


def checked_block(
    X: Any, y: Any, weight: Any, start: int = 0, title: str = "", weight_name: str = "weight"
) -> Block:
    """Return X, y and weight as a block, after a look at them; X is an array or a CSR matrix.

    Nothing is copied where it is one already. `title` and `weight_name` are for messages.
    """
    X = (as_supported_sparse if sp.issparse(X) else as_numbers)(X, f"{title}X")
    X = X.tocsr() if sp.issparse(X) else X
    if y is not None:
        y = checked_vector(f"{title}y", y, X.shape[0])
    if weight is not None:
        weight = checked_vector(f"{title}{weight_name}", weight, X.shape[0]).astype(np.float64)
    return Block(X, y, weight, start)
