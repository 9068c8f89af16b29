"""Choose and compute the covariance of a fit's coefficients."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from rectiline._suggest import unknown_name
from rectiline._typing import Matrix
from rectiline.inference._bootstrap import bootstrap_parts
from rectiline.inference._fit import Fit, Options, Parts, assemble, check_squares
from rectiline.inference._kinds import quantile_parts, sandwich_parts
from rectiline.inference._read_fit import read_fit

_MOST_SAMPLES_FOR_RANK = 1000  # samples up to which rank intervals are the default, as in R

_FOR_QUANTILES = ("iid", "nid", "kernel", "rank")
KINDS = ("iid", "nid", "kernel", "cluster", "sandwich", "margin_density", "bootstrap", "rank")
# What R, Stata and statsmodels call them.
_ALIASES = {
    "ker": "kernel",
    "boot": "bootstrap",
    "robust": "kernel",
    "hc0": "sandwich",
    "white": "sandwich",
    "clustered": "cluster",
    "br": "rank",
}


def default_kind(fit: Fit, groups: Any = None) -> str:
    """Return the kind for a fit when the user names none."""
    if groups is not None:
        return "cluster"
    if fit.is_quantile and fit.n <= _MOST_SAMPLES_FOR_RANK:
        return "rank"
    if fit.is_quantile:
        return "kernel" if fit.has_many_columns else "nid"
    return "margin_density" if _has_margin_kinks(fit) else "sandwich"


def checked_kind(fit: Fit, kind: str) -> str:
    """Return `kind` if it suits the loss of the fit; raise ValueError if not."""
    if kind not in KINDS:
        raise ValueError(unknown_name("kind", kind, KINDS, _ALIASES))
    if kind in _FOR_QUANTILES and not fit.is_quantile:
        raise ValueError(
            f"kind={kind!r} is for quantile regressions; the loss here is {fit.losses[0]!r}. "
            f"Use kind={default_kind(fit)!r}, 'cluster' or 'bootstrap'."
        )
    if kind == "margin_density" and not _has_margin_kinks(fit):
        raise ValueError(
            f"kind='margin_density' is for losses of the margin with a kink, such as the hinge; "
            f"the loss here is {fit.losses[0]!r}. Use kind={default_kind(fit)!r}."
        )
    return kind


def _has_margin_kinks(fit: Fit) -> bool:
    curves = [one.curve for one in fit.losses if one.of == "margin"]
    return any(bool((one.right > one.left).any()) for one in curves)


def compute_parts(fit: Fit, kind: str, options: Options) -> Parts:
    """Return breads and meats of a kind."""
    check_squares("y", fit.targets)
    if kind == "bootstrap":
        return bootstrap_parts(fit, options)
    if kind in _FOR_QUANTILES:
        return quantile_parts(fit.scaled, kind, options)
    return sandwich_parts(fit, kind, options)


def covariance(
    model: Any,
    X: Any,
    y: ArrayLike,
    kind: str | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    bandwidth: Any = "hall-sheather",
    sparsity: str = "order",
    method: str = "pairs",
    n_boot: int = 200,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Any = None,
    weights_are: str | None = None,
) -> Matrix:
    """Return the covariance of the coefficients of a fitted model, the intercept first.

    Parameters
    ----------
    model : fitted QuantileRegressor, PLQRegressor or PLQClassifier
        Fitted without a penalty.
    X, y : array-like
        The data of the fit.
    kind : {"iid", "nid", "kernel", "cluster", "sandwich", "margin_density", "bootstrap"}, optional
        How it is computed. The default is "nid" for quantiles ("kernel" where more than 20
        coefficients are more than 1 % of the samples), "sandwich" for smooth losses,
        "margin_density" for kinked losses of the margin, and "cluster" where `groups` are given.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit.
    weights_are : {"frequency", "probability"}, optional
        What weights are. A frequency counts equal samples, so that the number of samples is the
        sum of the weights. A probability weight (of a survey, or any other) belongs to one sample;
        the errors do not depend on the unit of the weights, and are those of R. The default is
        "frequency", with a warning if the weights are neither whole numbers nor sum to n.
    groups : array-like of shape (n_samples,), optional
        Labels of clusters, for the kinds "cluster" and "bootstrap".
    bandwidth : {"hall-sheather", "bofinger"} or float, default="hall-sheather"
        Bandwidth in the level of a quantile, or the width of the kernel on margins.
    sparsity : {"order", "epanechnikov", "biweight", "gaussian"}, default="order"
        How kind "iid" estimates the density at zero: from order statistics, as R does, or with a
        kernel, as Stata does.
    method : {"pairs", "weights", "wild"}, default="pairs"
        Which bootstrap.
    n_boot : int, default=200
        Number of bootstrap replicates.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap; None is a fixed seed.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Called with the number of finished and of all bootstrap replicates.

    Returns
    -------
    ndarray of shape (p, p), or (m p, m p) for m quantiles, level by level

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True)
    >>> model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    >>> V = rl.inference.covariance(model, X, y, kind="nid")
    >>> np.sqrt(np.diag(V)).round(5)
    array([19.25066,  0.02828])
    """
    options = Options(
        groups, bandwidth, sparsity, method, n_boot, random_state, n_jobs, callback, weights_are
    )
    return covariance_of(*read_kind(model, X, y, kind, sample_weight, options), options)


def read_kind(
    model: Any, X: Any, y: ArrayLike, kind: str | None, sample_weight: Any, options: Options
) -> tuple[Fit, str]:
    """Return the fit and the kind of its covariance, by default one that is a covariance."""
    penalised = kind == "bootstrap"
    fit = read_fit(model, X, y, sample_weight, options.weights_are, penalised=penalised)
    if kind is None:
        kind = default_kind(fit, options.groups)
        kind = "nid" if kind == "rank" else kind
    return fit, checked_kind(fit, kind)


def covariance_of(fit: Fit, kind: str, options: Options) -> Matrix:
    """Return the covariance of a fit that has been read already."""
    if kind == "rank":
        raise ValueError(
            "kind='rank' gives intervals and no covariance; use kind='nid' or another one."
        )
    return assemble(compute_parts(fit, kind, options))
