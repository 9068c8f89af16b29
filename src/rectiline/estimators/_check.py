"""Check what users pass to fit and predict, arrays and tensors: one place for all estimators."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, validate_data

from rectiline._column_names import names_of
from rectiline._numbers import refuse_masked
from rectiline._thread_count import using_threads
from rectiline._typing import Vector
from rectiline.backends import as_design, refuse_texts, refuse_unfinished
from rectiline.rows import is_on_gpu, is_source, is_tensor_like

# What scikit-learn's checks let pass as X.
READABLE: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}


def check_data(estimator: Any, X: Any, y: Any) -> Any:
    """Return X, y and the design of X, and note the number and the names of the columns."""
    if is_source(X):
        raise TypeError(
            f"{type(estimator).__name__} needs arrays in memory; got {type(X).__name__}. "
            "PLQRegressor, PLQClassifier and QuantileRegressor take rows in blocks."
        )
    refuse_masked("X", X)
    refuse_masked("y", y)
    try:
        if estimator._numeric_targets and y is not None and np.asarray(y).dtype.kind in "OSU":
            np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers: {error}. PLQClassifier takes labels.") from None

    kind = {"multi_output": estimator._multi_output, "y_numeric": estimator._numeric_targets}
    try:
        checked, targets = validate_data(
            estimator, X, y, ensure_all_finite=False, **kind, **READABLE
        )
    except (TypeError, ValueError):
        refuse_texts(X, dates=True)
        raise
    try:
        design = as_design(checked)  # looks whether the columns are finite
    except ValueError:
        refuse_unfinished(checked, names_of(X))
        raise
    return checked, targets, design


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
    return getattr(estimator, "feature_names_in_", getattr(estimator, "_sparse_names", None))


def own_names(y: Any) -> list[str] | None:
    """Return the names of a data frame's columns, or that of a series."""
    columns, name = getattr(y, "columns", None), getattr(y, "name", None)
    if columns is not None:
        return [str(one) for one in columns]
    return None if name is None else [str(name)]


def linear_scores(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return ``X @ coef_.T + intercept_`` for data that are checked already."""
    product = safe_sparse_dot(X, as_numpy(estimator.coef_).T, dense_output=True)
    return np.asarray(product + as_numpy(estimator.intercept_))


# ---- tensors of torch: taken as arrays, and answered in kind where scikit-learn dispatches ----


def on_host(values: Any) -> Any:
    """Return a tensor in the memory of the host as a NumPy array, anything else as it is."""
    return as_numpy(values) if is_tensor_like(values) and not is_on_gpu(values) else values


def as_numpy(values: Any) -> Any:
    """Return fitted arrays, wherever they are, as NumPy arrays; sparse matrices as they are."""
    if is_tensor_like(values):
        values = values.detach().cpu()
    return values if issparse(values) else np.asarray(values)


def like(values: Any, X: Any) -> Any:
    """Return an array as a tensor on the device of X if X is one and dispatch is on."""
    if not is_tensor_like(X) or not get_config()["array_api_dispatch"]:
        return values
    import torch

    return torch.as_tensor(values, device=getattr(X, "device", None))


# ---- parameters are checked before a fit, and a failed fit changes nothing ----

# scikit-learn keeps these on the estimator while a fit runs and takes them off itself.
_NOT_OURS = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")

Method = TypeVar("Method", bound=Callable[..., Any])


def checked_fit(method: Method) -> Method:
    """Check the parameters of an estimator before its fit; leave it as it was if the fit fails.

    What overflows inside a fit is not finite and never counts as solved; NumPy need not warn.
    Tensors in the memory of the host are taken as arrays. Compiled loops use `n_jobs` threads,
    where the fit does not use them for several problems side by side.
    """

    @wraps(method)
    def fit(self: Any, X: Any, *rest: Any, **named: Any) -> Any:
        named = {name: on_host(value) for name, value in named.items()}
        n_jobs = getattr(self, "n_jobs", None)
        threads = using_threads(None if n_jobs is None else effective_n_jobs(n_jobs))
        now, before = vars(self), dict(vars(self))
        try:
            with np.errstate(all="ignore"), threads:
                fitted = method(self, on_host(X), *map(on_host, rest), **named)
        except BaseException:
            before |= {name: now[name] for name in _NOT_OURS if name in now}
            now.clear()
            now.update(before)
            raise
        for name in {"coef_", "intercept_"} & now.keys():
            now[name] = like(now[name], X)
        return fitted

    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(fit))
