"""Check what a user gave to a constraint; each message names the argument, the value, the rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rectiline._numbers import frozen


def finite_rows(owner: str, name: str, values: Any) -> Any:
    """Return a read-only float64 copy of ``values`` with two dimensions, sparse if it was."""
    if not sparse.issparse(values):
        rows = frozen(owner, name, values)
        if rows.ndim == 1:
            rows = rows[np.newaxis, :]
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise ValueError(
                f"{owner}: {name} must be a matrix with one column per coefficient, or one row "
                f"as a vector, got shape {rows.shape}."
            )
        return rows
    if values.ndim == 1:
        values = values.reshape(1, -1)
    matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        entry = int(bad[0])
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise ValueError(
            f"{owner}: {name}[{row}, {int(matrix.indices[entry])}] = "
            f"{float(matrix.data[entry])!r}, but {name} must be finite."
        )
    matrix.eliminate_zeros()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix
