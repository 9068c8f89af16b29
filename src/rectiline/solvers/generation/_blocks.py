"""Scale and join small blocks of a linear program's matrix, dense or sparse, for its masters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline._typing import Vector


def row_norms(rows: Any) -> Vector:
    """Return the Euclidean norm of each row, 1 for rows of zeros."""
    squares = (rows * rows).sum(axis=1)
    norms = np.sqrt(np.asarray(squares, dtype=np.float64)).ravel()
    return np.where(norms > 0, norms, 1.0)


def row_scale(block: Any) -> Vector:
    """Return one over the root mean square of each row."""
    return np.asarray(np.sqrt(max(block.shape[1], 1)) / row_norms(block))


def scaled_rows(block: Any, scale: Vector) -> Any:
    """Return the block with every row multiplied by its scale."""
    return sp.diags_array(scale) @ block if sp.issparse(block) else block * scale[:, None]


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
