"""Lets estimators take torch tensors, and answer in them where scikit-learn dispatches."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config

from rectiline.rows import is_on_gpu, is_tensor_like

__all__ = ["as_numpy", "fitted_like", "like", "on_host"]

_FITTED = ("coef_", "intercept_")


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


def fitted_like(estimator: Any, X: Any) -> None:
    """Turn the fitted coefficients into tensors if X is one and dispatch is on."""
    for name in _FITTED:
        if hasattr(estimator, name):
            setattr(estimator, name, like(getattr(estimator, name), X))
