"""One entry point for every kind of table, and what may be done to its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cases import Data
from . import _real, _synthetic


@dataclass
class Table:
    """Numbers ready to race on; ``origin`` names the source that was really used."""

    X: Any
    y: np.ndarray
    Z: Any
    origin: str


def load(data: Data) -> Table:
    """Load or generate the table, then code labels, scale columns and fix the storage."""
    X, y, Z, origin = _source(data)
    if data.form == "csr":
        from scipy import sparse

        X = sparse.csr_matrix(X)
    elif data.form == "dense" and hasattr(X, "toarray"):
        X = X.toarray()
    if data.task == "margin":
        low, high = np.unique(y)[[0, -1]]
        y = np.where(y > 0.5 * (low + high), 1.0, -1.0)
    X = _columns(X, data.columns)
    if data.ones:
        X = np.column_stack([X, np.ones(len(y))])
    X = X if hasattr(X, "indptr") else np.ascontiguousarray(X)
    return Table(X, np.ascontiguousarray(y, dtype=np.float64), Z, origin)


def _source(data: Data) -> tuple[Any, np.ndarray, Any, str]:
    if data.source == "real":
        X, y, Z, origin = _real.load(data.name, data.task, data.target, data.seed)
        if not data.n:
            return X, y, Z, origin
        some = np.random.default_rng(data.seed).permutation(len(y))[: data.n]
        return X[some], y[some], None if Z is None else Z[some], origin
    if data.source == "sklearn":
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{data.name}")(return_X_y=True)
        if data.task == "margin":
            y = (y == y.max()).astype(float)
        return X, np.asarray(y, dtype=float), None, "scikit-learn"
    if data.name in ("correlated_groups", "weak_groups"):
        shift = 0.5 if data.name == "correlated_groups" else 0.1
        return *_synthetic.correlated_groups(data.n, data.d, data.seed, shift), "synthetic"
    if data.name in ("l1svm", "groupsvm"):
        group = 10 if data.name == "groupsvm" else 0
        X, y = _synthetic.two_gaussians(data.n, data.d, data.seed, group=group)
    else:
        X, y = _synthetic.linear_model(data.name, data.n, data.d, data.task, data.seed)
    return X, y, None, "synthetic"


def _columns(X: Any, how: str) -> Any:
    """Scale columns; constant ones become zero ("standardised") or stay ("maxabs")."""
    if how == "raw":
        return X
    if how == "standardised":
        X = X.toarray() if hasattr(X, "toarray") else X
        spread = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if how == "unit":
        return X / abs(X).max()
    if how == "maxabs":
        top = np.asarray(abs(X).max(axis=0).todense()).ravel() if hasattr(X, "indptr") else None
        top = np.abs(X).max(axis=0) if top is None else top
        top = np.where(top > 0, top, 1.0)
        if hasattr(X, "indptr"):
            from scipy import sparse

            return sparse.csr_matrix(X @ sparse.diags(1.0 / top))
        return X / top
    raise ValueError(f"columns={how!r}: allowed are raw, standardised, maxabs, unit")
