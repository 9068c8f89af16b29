"""Scale and join small blocks of a linear program's matrix, dense or sparse, for its masters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline._typing import Vector

__all__ = ["below", "beside", "row_norms", "row_scale", "scaled_rows"]


def row_norms(rows: Any) -> Vector:
    """Return the Euclidean norm of each row."""
    if sp.issparse(rows):
        rows = sp.csr_array(rows)
        squares = _like(rows, rows.data**2) @ np.ones(rows.shape[1])
    else:
        squares = (rows * rows).sum(axis=1)
    return np.sqrt(np.asarray(squares, dtype=np.float64)).ravel()


def row_scale(block: Any) -> Vector:
    """Return one over the root mean square of each row."""
    width = max(block.shape[1], 1)
    norms = row_norms(block) / np.sqrt(width)
    return 1.0 / np.where(norms > 0, norms, 1.0)


def scaled_rows(block: Any, scale: Vector) -> Any:
    """Return the block with every row multiplied by its scale."""
    if sp.issparse(block):
        return _like(block, block.data * np.repeat(scale, np.diff(block.indptr)))
    return block * scale[:, None]


def _like(block: Any, data: Vector) -> Any:
    """Return other entries in the same places of a sparse block by rows, which is shared."""
    return sp.csr_array((data, block.indices, block.indptr), shape=block.shape)


def beside(left: Any, right: Any) -> Any:
    """Return the two blocks side by side, sparse if one is."""
    if not right.shape[1]:
        return left
    if sp.issparse(left) or sp.issparse(right):
        return sp.hstack([left, sp.csr_array(right)], format="csr")
    return np.hstack([left, right])


def below(top: Any, bottom: Any) -> Any:
    """Return `top` above `bottom`, sparse if `bottom` is."""
    if sp.issparse(bottom):
        return sp.vstack([sp.csr_array(top), bottom], format="csr")
    return np.vstack([top, bottom])
