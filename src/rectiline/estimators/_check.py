"""Check what users pass to fit and predict: one place for all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rectiline._numbers import refuse_masked
from rectiline.backends import Design, as_design

Vector = NDArray[np.float64]

__all__ = [
    "check_data",
    "check_design",
    "check_weight",
    "column_names",
    "linear_scores",
    "predictions",
]

_FORMATS = ("csr", "csc")
_DTYPES = (np.float64, np.float32)


def check_data(estimator: Any, X: Any, y: Any, *, numeric_y: bool, multi_output: bool) -> Any:
    """Return X and y as arrays, and note the number and the names of the columns."""
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
    return np.asarray(X @ estimator.coef_.T + estimator.intercept_)


def predictions(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return ``X @ coef_.T + intercept_`` for new data."""
    check_is_fitted(estimator)
    X = validate_data(estimator, X, accept_sparse=_FORMATS, dtype=_DTYPES, reset=False)
    return linear_scores(estimator, X)
