"""Compute the summary tables of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from rectiline._numbers import checked_share
from rectiline._typing import Vector
from rectiline.inference._covariance import checked_kind, compute_parts, default_kind
from rectiline.inference._fit import Fit, Options, assemble
from rectiline.inference._rank import rank_intervals
from rectiline.inference._read_fit import read_fit
from rectiline.inference._table import SummaryTable, SummaryTables
from rectiline.losses import Expectile, Loss
from rectiline.problems.intercepts import best_intercept


def summary(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    kind: str | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_boot: int = 200,
    random_state: Any = None,
    **options: Any,
) -> SummaryTable | SummaryTables:
    """Return a table of coefficients with standard errors, tests and intervals.

    Parameters
    ----------
    model : fitted QuantileRegressor, PLQRegressor or PLQClassifier
    X, y : array-like
        The data of the fit; without them the table that the fit itself kept.
    kind : str, optional
        As for `covariance`, and "rank"; that is the default for quantiles up to 1,000 samples.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit; see `covariance` for `weights_are`.
    groups : array-like of shape (n_samples,), optional
        Labels of clusters.
    level : float, default=0.95
        Coverage of the intervals.
    n_boot : int, default=200
        Number of bootstrap replicates.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap; None is a fixed seed.
    **options
        Further options of `covariance`, such as ``bandwidth``.

    Returns
    -------
    SummaryTable, or SummaryTables for several quantiles

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
    >>> model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    >>> table = model.summary(X, y, kind="nid")
    >>> table.statistic.round(4)
    array([ 4.2327, 19.8103])
    """
    checked_share("level", level)
    if X is None and y is None and hasattr(model, "summary_"):
        return model.summary_  # type: ignore[no-any-return]
    chosen = Options(groups=groups, n_boot=n_boot, random_state=random_state, **options)
    fit = read_fit(model, X, y, sample_weight, chosen.weights_are, penalised=kind == "bootstrap")
    named = kind is not None
    kind = checked_kind(fit, default_kind(fit, groups) if kind is None else kind)
    df, spread = np.nan, np.full((fit.m, fit.p), np.nan)
    if kind == "rank":
        interval, notes = rank_intervals(fit.scaled, chosen, level)
    else:
        parts = compute_parts(fit, kind, chosen)
        df, notes = parts.df, parts.notes
        spread = np.sqrt(np.diag(assemble(parts))).reshape(fit.m, fit.p)
        cut = float(stats.t.ppf(0.5 + 0.5 * level, df))
        interval = fit.coef[:, :, None] + cut * spread[:, :, None] * np.array([-1.0, 1.0])
    if kind == "kernel" and not named:
        why = f"; the default for as many as {fit.p} coefficients of {fit.n:g} samples"
        notes = tuple(note + why for note in notes)
    explained = pseudo_r1(fit)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = fit.coef / spread
    p_value = 2.0 * stats.t.sf(np.abs(statistic), df)
    made = [
        SummaryTable(
            names=fit.names,
            coef=fit.coef[k],
            std_error=spread[k],
            statistic=statistic[k],
            p_value=p_value[k],
            interval=interval[k],
            level=level,
            kind=kind,
            note=notes[k] if notes else "",
            quantile=None if fit.levels is None else float(fit.levels[k]),
            n_samples=int(fit.n) if fit.n == round(fit.n) else fit.n,
            df=df,
            pseudo_r1=float(explained[k]),
            relative_gap=fit.gap,
            unique=fit.unique,
            title=_title(fit.losses[k], fit, k),
        )
        for k in range(fit.m)
    ]
    n_effects = int(getattr(fit.model, "_n_effects", 0))
    if n_effects:
        made = [one.without_last(n_effects) for one in made]
    several = fit.levels is not None and np.ndim(fit.model.coef_) == 2
    return SummaryTables(made) if several else made[0]


def pseudo_r1(fit: Fit) -> Vector:
    """Return one minus the loss over the loss of the best constant, for each level."""
    shares = []
    for loss, z in zip(fit.losses, fit.predictions, strict=True):
        paid = float(np.sum(loss.value(fit.targets, z, fit.weight)))
        constant = best_intercept(loss, fit.targets, fit.weight)
        most = float(np.sum(loss.value(fit.targets, constant, fit.weight)))
        shares.append(1.0 - paid / most if most > 0 else np.nan)
    return np.array(shares)


def _title(loss: Loss, fit: Fit, k: int) -> str:
    if fit.is_quantile:
        return f"Quantile regression at {fit.levels[k]:g}"
    if isinstance(loss, Expectile):
        return f"Expectile regression at {loss.quantile:g}"
    kind = "Classification" if loss.of == "margin" else "Regression"
    return f"{kind} with {loss!r}"
