"""Check what users pass to fit and predict: one place for all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, validate_data

from rectiline._numbers import refuse_masked
from rectiline.backends import Design, as_design
from rectiline.estimators._array_api import as_numpy
from rectiline.rows import is_source

Vector = NDArray[np.float64]

__all__ = [
    "check_data",
    "check_design",
    "check_weight",
    "column_names",
    "linear_scores",
]

_FORMATS = ("csr", "csc")
_DTYPES = (np.float64, np.float32)


def check_data(estimator: Any, X: Any, y: Any, *, numeric_y: bool, multi_output: bool) -> Any:
    """Return X and y as arrays, and note the number and the names of the columns."""
    if is_source(X):
        raise TypeError(
            f"{type(estimator).__name__} needs arrays in memory; got {type(X).__name__}. "
            "PLQRegressor, PLQClassifier and QuantileRegressor take rows in blocks."
        )
    refuse_masked("X", X)
    refuse_masked("y", y)
    return validate_data(
        estimator,
        X,
        y,
        accept_sparse=_FORMATS,
        accept_large_sparse=True,
        dtype=_DTYPES,
        multi_output=multi_output,
        y_numeric=numeric_y,
    )


def check_design(X: Any) -> Design:
    """Wrap checked data once, for all the problems of a fit."""
    return as_design(X)


def check_weight(sample_weight: Any, X: Any) -> Vector:
    """Return sample weights as a private float64 vector, ones if there are none."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    refuse_masked("sample_weight", sample_weight)
    weight: Vector = _check_sample_weight(sample_weight, X, dtype=np.float64, copy=True)
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(
            f"sample_weight must not be negative; sample_weight[{row}] is {weight[row]}."
        )
    if not (weight > 0).any():
        raise ValueError("sample_weight must have at least one positive entry; all are zero.")
    return weight


def column_names(estimator: Any) -> NDArray[Any] | None:
    """Return the names of the columns of X, if it had any."""
    return getattr(estimator, "feature_names_in_", None)


def linear_scores(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return ``X @ coef_.T + intercept_`` for data that are checked already."""
    product = safe_sparse_dot(X, as_numpy(estimator.coef_).T, dense_output=True)
    return np.asarray(product + as_numpy(estimator.intercept_))
