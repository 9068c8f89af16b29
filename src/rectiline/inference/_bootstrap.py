"""Bootstrap replicates of a fitted model's coefficients: kind "bootstrap".

Methods: "pairs" draws samples with replacement, "weights" gives them independent exponential
weights, "wild" keeps X and redraws the residuals of a quantile regression (Feng, He and Hu 2011).
With groups the first two act on whole clusters, and "wild" perturbs the clusters' gradients
(Hagemann 2017). Replicates of an unpenalised quantile regression are found near the fit; all other
models are fitted again, from the solution of the fit.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._numbers import checked_share
from rectiline._typing import Matrix, Vector
from rectiline.inference._bootstrap_quantile import (
    METHODS,
    QuantileReplicates,
    Resampling,
    replicate_seeds,
)
from rectiline.inference._fit import Fit, Options, Parts
from rectiline.inference._kinds import checked_groups
from rectiline.inference._read_fit import read_fit, with_intercepts
from rectiline.paths import in_threads

_MOST_WEIGHTS_AT_ONCE = 600_000  # of the weights that are drawn at once: they stay in the cache
_MOST_WEIGHTS_IN_A_PASS = 25_000_000  # the same where a pass reads X from elsewhere: 200 MB
_MOST_REPLICATES_AT_ONCE = 25


def bootstrap(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    method: str = "pairs",
    n_boot: int = 200,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable[[int, int], Any] | None = None,
    weights_are: str | None = None,
) -> Matrix:
    """Return bootstrap replicates of the coefficients, the intercept first.

    Parameters
    ----------
    model : fitted QuantileRegressor, PLQRegressor or PLQClassifier
        A penalty or constraints are allowed; the replicates then show the spread of the penalised
        estimate, and neither its bias nor the corners that constraints make.
    X, y : array-like
        The data of the fit.
    method : {"pairs", "weights", "wild"}, default="pairs"
        Draws with replacement, exponential weights, or residuals with random signs (quantile
        regression without a penalty only).
    n_boot : int, default=200
        Number of replicates.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit.
    groups : array-like of shape (n_samples,), optional
        Labels of clusters, which are then drawn or perturbed as a whole.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed. Equal seeds give equal replicates for any number of threads.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Called with the number of finished and of all replicates; a true return value stops with
        the replicates finished so far.
    weights_are : {"frequency", "probability"}, optional
        What weights are, see `covariance`.

    Returns
    -------
    ndarray of shape (n_boot, p), or (n_boot, m, p) for m quantiles

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True)
    >>> model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    >>> draws = rl.inference.bootstrap(model, X, y, n_boot=500)
    >>> draws.shape, bool(abs(draws[:, 1].mean() - model.coef_[0]) < 0.01)
    ((500, 2), True)
    """
    fit = read_fit(model, X, y, sample_weight, weights_are, penalised=True)
    run = {"random_state": random_state, "n_jobs": n_jobs, "callback": callback}
    made = replicates(fit, Options(groups, method=method, n_boot=n_boot, **run))
    return made if np.ndim(model.coef_) == 2 and fit.levels is not None else made[:, 0]


def replicates(fit: Fit, options: Options) -> Matrix:
    """Return the replicates as (n_boot, m, p)."""
    count = options.n_boot
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 2:
        raise ValueError(f"n_boot={count!r}: must be a whole number of at least 2.")
    if options.callback is not None and not callable(options.callback):
        raise TypeError(f"callback must be callable or None; got {options.callback!r}.")
    if options.method not in METHODS:
        raise ValueError(f"method={options.method!r}: must be one of {sorted(METHODS)}.")
    labels = None
    if options.groups is not None:
        labels = checked_groups(options.groups, fit.rows.n)[0]
    solve: Callable[[Any], Matrix]
    if fit.is_quantile and fit.is_plain:
        solve = QuantileReplicates(fit.scaled, options.method, labels).solve
    elif options.method == "wild":
        raise ValueError(
            "method='wild' is for quantile regressions without a penalty; use method='pairs' or "
            "method='weights'."
        )
    elif fit.rows.in_blocks:
        raise ValueError(
            "kind='bootstrap' fits a model with a penalty, constraints or another loss than a "
            "quantile's again for each replicate, which needs arrays in memory. Use "
            "kind='sandwich' or 'cluster' without a penalty, or pass a sample of the rows as "
            "arrays."
        )
    else:
        counts = (fit.weight > 0).astype(np.float64) if fit.has_probabilities else fit.weight
        solve = partial(_refits, fit, Resampling(options.method, counts, labels))
    seeds = replicate_seeds(options.random_state, count)
    most = _MOST_WEIGHTS_IN_A_PASS if fit.rows.in_blocks else _MOST_WEIGHTS_AT_ONCE
    size = int(np.clip(most // fit.rows.n, 1, _MOST_REPLICATES_AT_ONCE))
    chunks = [seeds[first : first + size] for first in range(0, count, size)]
    return _run(solve, chunks, count, options)


def _run(solve: Callable[[Any], Matrix], chunks: list[Any], count: int, options: Options) -> Matrix:
    """Solve chunk after chunk, in threads if asked for, and report."""
    lock, state = threading.Lock(), {"done": 0, "stop": False}

    def one(chunk: Any) -> Matrix | None:
        if state["stop"]:
            return None
        made = solve(chunk)
        with lock:
            state["done"] += len(chunk)
            if options.callback is not None and options.callback(state["done"], count):
                state["stop"] = True
        return made

    # One thread of linear algebra each, so that sums do not depend on the number of threads.
    found = in_threads(one, chunks, 1 if options.n_jobs is None else options.n_jobs)
    return np.concatenate([made for made in found if made is not None])


def _refits(fit: Fit, resampling: Resampling, seeds: Any) -> Matrix:
    """Return the coefficients of the model when it is fitted again under drawn weights."""
    factor, made = fit.weight if fit.has_probabilities else 1.0, []
    for seed in seeds:
        again = copy.copy(fit.model)  # it starts from the solution of the fit
        again.warm_start, again.callback, again.verbose = True, None, 0
        again.fit(*fit.given, sample_weight=factor * resampling.draw(seed))
        made.append(with_intercepts(again))
    return np.array(made)


def bootstrap_parts(fit: Fit, options: Options) -> Parts:
    """Return the covariance of the replicates as a sandwich without bread."""
    made = replicates(fit, options)
    flat = made.reshape(made.shape[0], -1)
    usable = flat[np.isfinite(flat).all(axis=1)]
    if usable.shape[0] < 2:
        raise ValueError(
            f"Only {usable.shape[0]} of {flat.shape[0]} bootstrap replicates have a solution; "
            "there are too few samples, or method='weights' may help."
        )
    V = np.cov(usable, rowvar=False).reshape(fit.m, fit.p, fit.m, fit.p)
    note, df = f"{options.method}, {usable.shape[0]} replicates", fit.n - fit.p
    if options.groups is not None:
        clusters = np.unique(np.asarray(options.groups)).size
        note, df = f"{note} of {clusters} clusters", clusters - 1.0
    if not fit.is_plain:
        note += "; without the bias of the penalty or constraint"
    breads = np.tile(np.eye(fit.p), (fit.m, 1, 1))
    return Parts(breads, V.transpose(0, 2, 1, 3), max(df, 1.0), (note,) * fit.m)


# ---- bands around several quantiles that hold at all levels at once (sup-t) ----


@dataclass(frozen=True, eq=False)
class SimultaneousBands:
    """Coefficients or conditional quantiles at several levels, with bands around them.

    Attributes
    ----------
    quantiles : ndarray of shape (m,)
        The levels, in increasing order.
    names : tuple of str
        Of the coefficients; "row 0", "row 1", ... for conditional quantiles.
    value, lower, upper : ndarray of shape (k, m)
        One row for each coefficient or row of X.
    critical : ndarray of shape (k,)
        How many standard errors wide each band is on each side; a pointwise interval has the
        quantile of a normal there, 1.96 for 95 %.
    level : float
        Probability with which a band covers its whole row.
    """

    quantiles: Vector
    names: tuple[str, ...]
    value: Matrix
    lower: Matrix
    upper: Matrix
    critical: Vector
    level: float


def simultaneous_bands(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    at: Any = None,
    *,
    level: float = 0.95,
    n_boot: int = 500,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> SimultaneousBands:
    """Return bands that cover a coefficient, or a quantile function, at all levels at once.

    With bootstrap replicates b* of all levels together, standard errors s(q) and
    ``T = max_q |b*(q) - b(q)| / s(q)``, the band is ``b(q) +- c s(q)`` with c the `level` quantile
    of T (sup-t; Chernozhukov, Fernandez-Val and Melly 2013). Bands of conditional quantiles are put
    in order along the levels, which never loses coverage of a quantile function.

    Parameters
    ----------
    model : QuantileRegressor at several quantiles, or DistributionRegressor
        Fitted without a penalty.
    X, y : array-like, or rows in blocks and None
        The data of the fit.
    at : array-like of shape (k, n_features), optional
        Rows at which conditional quantiles are covered, each with `level` by itself; by default
        the coefficients are, the intercept first.
    level : float, default=0.95
    n_boot : int, default=500
        Number of replicates.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit.
    **options
        Further options of `bootstrap`: ``method``, ``groups``, ``weights_are``, ``random_state``,
        ``n_jobs``.

    Returns
    -------
    SimultaneousBands

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True)
    >>> model = rl.QuantileRegressor(quantile=np.arange(1, 10) / 10, alpha=0).fit(X, y)
    >>> bands = rl.inference.simultaneous_bands(model, X, y)
    >>> bands.value.shape, bool((bands.critical > 1.96).all())
    ((2, 9), True)
    """
    checked_share("level", level)
    chosen = Options(n_boot=n_boot, **options)
    fit = read_fit(model, X, y, sample_weight, chosen.weights_are)
    if fit.levels is None or fit.m < 2:
        raise ValueError(
            "simultaneous_bands needs a model of several quantiles, such as "
            "QuantileRegressor(quantile=[0.25, 0.5, 0.75]) or DistributionRegressor()."
        )
    order = np.argsort(fit.levels)
    value = fit.coef[order].T
    drawn = replicates(fit, chosen)[:, order].transpose(0, 2, 1)
    names = fit.names
    if at is not None:
        rows = np.asarray(at, dtype=np.float64)
        d = model.n_features_in_
        if rows.ndim != 2 or rows.shape[1] != d:
            raise ValueError(f"at must have {d} columns, as X has; got shape {rows.shape}.")
        if fit.rows.constant:
            rows = np.column_stack([np.ones(len(rows)), rows])
        value, drawn = rows @ value, rows @ drawn
        names = tuple(f"row {k}" for k in range(len(rows)))
    drawn = drawn[np.isfinite(drawn).all(axis=(1, 2))]
    spread = drawn.std(axis=0, ddof=1)
    largest = np.max(np.abs(drawn - value) / np.where(spread > 0, spread, np.inf), axis=2)
    critical = np.quantile(largest, level, axis=0)
    ends = [value - critical[:, None] * spread, value + critical[:, None] * spread]
    if at is not None:
        value, *ends = (np.sort(one, axis=1) for one in (value, *ends))
    return SimultaneousBands(fit.levels[order], names, value, ends[0], ends[1], critical, level)
