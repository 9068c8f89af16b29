"""The compiled fit of sortedl1 (libslope) with `rectiline.penalties.Slope` in its place.

Squared error with a sorted L1 penalty is solved here; other losses are left to libslope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sortedl1.estimators as theirs
from scipy import sparse as sp
from scipy.stats import norm

import rectiline as rl


def strengths(kind: str, p: int, q: float, theta1: float, theta2: float) -> np.ndarray:
    """Return the sequences of libslope: Benjamini-Hochberg, OSCAR, or the lasso."""
    k = np.arange(1, p + 1)
    return {
        "bh": norm.ppf(1 - q * k / (2 * p)),
        "oscar": theta1 + theta2 * (p - k),
        "lasso": np.ones(p),
    }[kind]


def _instead_of(fit: Callable[..., Any]) -> Callable[..., Any]:
    def solve(X, y, lam, alpha, params):
        if params["loss"] != "quadratic" or (not lam.size and params["lambda_type"] == "gaussian"):
            return fit(X, y, lam, alpha, params)
        n, p = X.shape
        if not lam.size:
            names = ("lambda_type", "q", "theta1", "theta2")
            kind, *numbers = (params[name] for name in names)
            lam = strengths(kind, p, *numbers)
        dense = X.toarray() if sp.issparse(X) else X
        centre = dense.mean(0) if params["centering"] == "mean" else np.zeros(p)
        scale = dense.std(0) if params["scaling"] == "sd" else np.ones(p)
        scale = np.where(scale > 0, scale, 1.0)
        problem = rl.Problem(
            (dense - centre) / scale,
            y[:, 0],
            "squared_error",
            rl.penalties.Slope(n * alpha * lam),
            fit_intercept=params["intercept"],
        )
        answer = rl.solve(problem, tol=1e-12)
        coef = answer.coef / scale
        intercept = answer.intercept - (centre @ coef if params["intercept"] else 0.0)
        return [intercept], sp.csc_matrix(coef[:, None]), lam, alpha, answer.n_iter

    return solve


def put_in_place() -> None:
    """Exchange both fits."""
    for name in ("fit_slope_dense", "fit_slope_sparse"):
        setattr(theirs, name, _instead_of(getattr(theirs, name)))
