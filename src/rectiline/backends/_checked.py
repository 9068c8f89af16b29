"""Check what users pass as X and wrap it, without a copy where possible; for `Problem`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rectiline._numbers import refuse_masked
from rectiline.backends._design import Design
from rectiline.backends._tables import refuse_texts, unfinished_entry


def as_numbers(X: Any, name: str) -> NDArray[Any]:
    """Return a 2-D array of real numbers, X itself where it is one."""
    try:
        array = np.asarray(X)
    except ValueError:
        raise ValueError(
            f"{name} must be a 2-D array of numbers; its rows differ in length or cannot be "
            "stacked."
        ) from None
    if array.dtype.kind not in "fiub":
        try:
            if array.dtype.kind != "O":  # complex, dates and text are not numbers to guess at
                raise TypeError
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            refuse_texts(X, dates=True)
            raise ValueError(
                f"{name} must hold real numbers; got dtype {array.dtype}. Encode categories and "
                "dates as numbers first."
            ) from None
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a 2-D array of shape (n_samples, n_features); got {array.ndim}-D "
            f"with shape {array.shape}."
        )
    return array


def _as_supported_dense(X: Any, name: str) -> NDArray[Any]:
    array = as_numbers(X, name)
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        array = array.astype(np.float64)
    if any(stride % array.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)
    return array


def as_supported_sparse(X: Any, name: str) -> Any:
    """Return a CSR or CSC matrix of floats without duplicates, X itself where it is one."""
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; got dtype {X.dtype}.")
    if X.ndim != 2:
        raise ValueError(f"{name} must be 2-D; got shape {X.shape}.")
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not X.has_canonical_format:  # squares of entries need duplicates summed
        X = X.copy()
        X.sum_duplicates()
    return X


def as_design(X: Any, name: str = "X") -> Design:
    """Check a design matrix and wrap it without copying it.

    Parameters
    ----------
    X : array-like or scipy sparse matrix of shape (n_samples, n_features)
        float32 and float64 arrays (any order) and CSR/CSC matrices are used in place. Integers and
        other formats are converted, which copies.
    name : str, default="X"
        How error messages call it.

    Returns
    -------
    Design

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.backends import as_design
    >>> design = as_design(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> design.dot(np.array([1.0, -1.0]))
    array([-1., -1.])
    """
    if isinstance(X, Design):
        return X
    refuse_masked(name, X)
    array: Any = as_supported_sparse(X, name) if sp.issparse(X) else _as_supported_dense(X, name)
    if array.shape[0] == 0:
        raise ValueError(f"{name} has no rows (shape {array.shape}); at least one is needed.")
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns (shape {array.shape}); at least one is needed.")
    design = Design(array)
    bad = ~np.isfinite(design.column_sums)
    if bad.any():
        entry = unfinished_entry(array)
        if entry is not None:
            row, column, value = entry
            raise ValueError(
                f"{name} contains NaN or infinity: {name}[{row}, {column}] is {value}. Impute or "
                "drop such entries first."
            )
        column = int(np.argmax(bad))
        raise ValueError(
            f"{name}: the sum of column {column} overflows float64; rescale the column."
        )
    return design
