"""Bands around several quantiles that hold at all levels at once: sup-t bands by the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._numbers import checked_share
from rectiline._typing import Matrix, Vector
from rectiline.inference._bootstrap import replicates
from rectiline.inference._fit import Options
from rectiline.inference._read_fit import read_fit


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
