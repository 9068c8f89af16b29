"""Refuse numbers out of range, and those that NumPy would quietly turn into others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_share(name: str, value: float) -> float:
    """Return a coverage, strictly between 0 and 1."""
    if not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name}={value!r}: must lie strictly between 0 and 1, such as 0.9.")
    return float(value)


def refuse_masked(name: str, values: Any) -> None:
    """Raise ValueError for a masked array, whose hidden entries would count as data."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = int(np.sum(np.ma.getmaskarray(values)))
        raise ValueError(
            f"{name} is a masked array ({hidden} entries masked); masks are not supported. Drop "
            "or impute masked entries, or pass the plain array that is its `data` attribute."
        )


def real_array(name: str, values: Any, kind: str = "numbers") -> NDArray[np.float64]:
    """Return a private float64 array of real numbers.

    Examples
    --------
    >>> real_array("sample_weight", [1, 2])
    array([1., 2.])
    """
    refuse_masked(name, values)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
        if array.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        given = getattr(np.asarray(values, dtype=object), "dtype", None)
        given = getattr(values, "dtype", given)
        raise ValueError(f"{name} must hold {kind}; got dtype {given}.") from None
    return np.array(array, dtype=np.float64)
