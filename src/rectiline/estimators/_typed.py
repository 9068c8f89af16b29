"""scikit-learn's decorator of `fit` with a type, so that checkers see what `fit` returns."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import _fit_context

from rectiline._thread_count import using_threads
from rectiline.estimators._array_api import fitted_like, on_host

__all__ = ["checked_fit"]

Method = TypeVar("Method", bound=Callable[..., Any])


def checked_fit(method: Method) -> Method:
    """Check the parameters of the estimator before its fit.

    What overflows inside a fit is not finite and never counts as solved; NumPy need not warn.
    Tensors in the memory of the host are taken as arrays. Compiled loops use `n_jobs` threads,
    where the fit does not use them for several problems side by side.
    """

    @wraps(method)
    def fit(self: Any, X: Any, *rest: Any, **named: Any) -> Any:
        named = {name: on_host(value) for name, value in named.items()}
        n_jobs = getattr(self, "n_jobs", None)
        threads = using_threads(None if n_jobs is None else effective_n_jobs(n_jobs))
        with np.errstate(all="ignore"), threads:
            fitted = method(self, on_host(X), *map(on_host, rest), **named)
        fitted_like(self, X)
        return fitted

    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(fit))
