"""scikit-learn's decorator of `fit` with a type, so that checkers see what `fit` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import _fit_context

__all__ = ["checked_fit"]

Method = TypeVar("Method", bound=Callable[..., Any])


def checked_fit(method: Method) -> Method:
    """Check the parameters of the estimator before its fit.

    What overflows inside a fit is not finite and never counts as solved; NumPy need not warn.
    """
    quiet = np.errstate(all="ignore")(method)
    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(quiet))
