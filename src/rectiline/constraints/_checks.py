"""Check what a user gave to a constraint; each message names the argument, the value, the rule."""

from __future__ import annotations

from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from rectiline._typing import Vector


def numbers(owner: str, name: str, values: ArrayLike) -> Vector:
    """Return a read-only float64 copy of ``values``, which may be infinite but not NaN."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{owner}: {name} must hold numbers, got {brief(values)}.") from error
    if np.isnan(array).any():
        raise ValueError(f"{owner}: {name}{_where(np.isnan(array))} is NaN.")
    array += 0.0  # turns -0.0 into 0.0
    array.flags.writeable = False
    return array


def finite(owner: str, name: str, values: ArrayLike) -> Vector:
    """Return a read-only float64 copy of ``values`` if they are all finite."""
    array = numbers(owner, name, values)
    if not np.isfinite(array).all():
        bad = ~np.isfinite(array)
        value = float(array[bad][0])
        raise ValueError(f"{owner}: {name}{_where(bad)} = {value!r}, but {name} must be finite.")
    return array


def finite_rows(owner: str, name: str, values: Any) -> Any:
    """Return a read-only float64 copy of ``values`` with two dimensions, sparse if it was."""
    if not sparse.issparse(values):
        rows = finite(owner, name, values)
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


def _where(marked: NDArray[np.bool_]) -> str:
    """Return the index of the first marked entry as it would be typed, nothing for a scalar."""
    first = np.argwhere(marked)[0].tolist()
    return f"[{', '.join(map(str, first))}]" if first else ""
