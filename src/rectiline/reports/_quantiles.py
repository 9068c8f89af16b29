"""Plots of quantile regressions: fan charts, coefficients across levels, and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from rectiline._column_names import column_index
from rectiline._typing import Matrix, Vector
from rectiline.inference import summary
from rectiline.reports._plots import Display, fitted, short
from rectiline.solvers import solve

_POINTS_PER_CURVE = 200


def shares_below(targets: Vector, predictions: Matrix) -> Vector:
    """Return the shares of the targets that are at most as large as each column predicts.

    Quantiles go through some of the targets, and predictions are rounded.
    """
    rounding = 1e-9 * float(np.abs(targets).max(initial=0.0))
    return np.asarray(np.mean(targets[:, None] <= predictions + rounding, axis=0))


class QuantileDisplay(Display):
    """Quantiles along one feature as nested bands.

    Parameters
    ----------
    x : ndarray of shape (k,)
        Values of the feature.
    predictions : ndarray of shape (k, n_quantiles)
    quantiles : ndarray of shape (n_quantiles,)
    feature : str
        Name of the feature.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    bands_ : list
        The shaded bands, outermost first.
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators import QuantileRegressor
    >>> from rectiline.reports import QuantileDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (200, 1))
    >>> y = X[:, 0] + (0.1 + X[:, 0]) * rng.standard_normal(200)
    >>> model = QuantileRegressor(quantile=[0.1, 0.5, 0.9], alpha=0, non_crossing=True).fit(X, y)
    >>> display = QuantileDisplay.from_estimator(model, X, y)
    >>> len(display.bands_), len(display.lines_)
    (1, 1)
    """

    x: NDArray[np.float64]
    predictions: NDArray[np.float64]
    quantiles: NDArray[np.float64]
    feature: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        feature: int | str = 0,
        **style: Any,
    ) -> QuantileDisplay:
        """Draw the quantiles of a fitted model along one feature, the others at their medians.

        Parameters
        ----------
        estimator : fitted QuantileRegressor or QuantileRegressorCV
        X : array-like or data frame of shape (n_samples, n_features)
            Where the feature's range and the other features' medians come from.
        y : array-like of shape (n_samples,), optional
            Drawn as points.
        feature : int or str, default=0
            Position or name of the feature.
        **style
            As for `plot`: ``ax``, and how the bands look.
        """
        fitted(estimator, "quantiles_", "a QuantileRegressor or QuantileRegressorCV")
        names = getattr(estimator, "feature_names_in_", None)
        table = np.asarray(X, dtype=np.float64)
        column = column_index(feature, names, table.shape[1], "feature")
        low, high = table[:, column].min(), table[:, column].max()
        grid = np.tile(np.median(table, axis=0), (_POINTS_PER_CURVE, 1))
        grid[:, column] = np.linspace(low, high, _POINTS_PER_CURVE)
        scores = grid @ np.atleast_2d(estimator.coef_).T + estimator.intercept_
        name = f"x{column}" if names is None else str(names[column])
        order = np.argsort(estimator.quantiles_)
        made = cls(grid[:, column], scores[:, order], estimator.quantiles_[order], name)
        made.plot(**style)
        if y is not None:
            made.ax_.scatter(table[:, column], y, s=6, color="0.3", alpha=0.5, zorder=1)
        return made

    def _draw(self, ax: Any, **style: Any) -> None:
        self.bands_, self.lines_ = [], []
        count = self.quantiles.size
        pairs = count // 2
        for k in range(pairs):
            low, high = self.quantiles[k], self.quantiles[count - 1 - k]
            look = {
                "color": "C0",
                "alpha": 0.2 + 0.3 * (k + 1) / max(pairs, 1),
                "linewidth": 0,
                "label": f"{low:g} to {high:g}",
                **style,
            }
            lower, upper = self.predictions[:, k], self.predictions[:, count - 1 - k]
            self.bands_.append(ax.fill_between(self.x, lower, upper, **look))
        if count % 2:
            middle = self.predictions[:, pairs]
            self.lines_ += ax.plot(self.x, middle, color="C0", label=f"{self.quantiles[pairs]:g}")
        ax.set(xlabel=self.feature, ylabel="quantile of y")
        ax.legend()


class CoefficientDisplay(Display):
    """The quantile process: each coefficient against the level, with its confidence band.

    Parameters
    ----------
    quantiles : ndarray of shape (m,)
        Increasing levels.
    coef : ndarray of shape (m, k)
    interval : ndarray of shape (m, k, 2)
    names : tuple of str of length k
    level : float
        Coverage of the bands.
    least_squares : ndarray of shape (k,), optional
        The coefficients of least squares, drawn as dashed lines.

    Attributes
    ----------
    axes_ : ndarray of matplotlib.axes.Axes
        One for each coefficient.
    figure_ : matplotlib.figure.Figure
    lines_, bands_ : list

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
    >>> model = rl.QuantileRegressor(quantile=[0.1, 0.5, 0.9], alpha=0).fit(X, y)
    >>> display = rl.reports.CoefficientDisplay.from_estimator(model, X, y, kind="nid")
    >>> display.names, len(display.bands_)
    (('(intercept)', 'income'), 2)
    """

    quantiles: NDArray[np.float64]
    coef: NDArray[np.float64]
    interval: NDArray[np.float64]
    names: tuple[str, ...]
    level: float
    least_squares: NDArray[np.float64] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        columns: Sequence[str] | None = None,
        kind: str | None = None,
        level: float = 0.9,
        ax: Any = None,
        style: dict[str, Any] | None = None,
        **options: Any,
    ) -> CoefficientDisplay:
        """Draw the coefficients of a model that was fitted at several quantiles.

        Those of least squares on the same rows are drawn beside them.

        Parameters
        ----------
        estimator : QuantileRegressor fitted at a list of quantiles, without a penalty
            Or a fitted formula of one, which has the data of the fit.
        X, y : array-like
            The data of the fit.
        columns : sequence of str, optional
            Names of coefficients, "(intercept)" included; all by default.
        kind : str, optional
            As for `QuantileRegressor.summary`.
        level : float, default=0.9
            Coverage of the bands, each by itself.
        ax : array of matplotlib.axes.Axes, optional
            One for each coefficient.
        style : dict, optional
            For `matplotlib.axes.Axes.fill_between`.
        **options
            Further options of `QuantileRegressor.summary`.
        """
        if X is None and hasattr(estimator, "draw"):
            options |= {"columns": columns, "kind": kind, "level": level, "ax": ax, "style": style}
            made: CoefficientDisplay = estimator.draw(cls, **options)
            return made
        levels = fitted(estimator, "quantiles_", "a QuantileRegressor")
        if np.ndim(estimator.coef_) != 2 or levels.size < 2:
            raise ValueError("estimator must have been fitted at two or more quantiles.")
        tables: Any = summary(estimator, X, y, kind, level=level, **options)
        order = np.argsort(levels)
        names = list(tables.names)
        chosen = names if columns is None else list(columns)
        missing = [one for one in chosen if one not in names]
        if missing:
            raise ValueError(f"columns: no coefficient {missing[0]!r}; there are {names}.")
        places = [names.index(one) for one in chosen]
        first = estimator.problem(X, y, options.get("sample_weight"))[0]
        mean = solve(first.with_loss("squared_error"))
        values = np.append(mean.intercept, mean.coef) if first.fit_intercept else mean.coef
        coef, interval = (one[order][:, places] for one in (tables.coef, tables.interval))
        display = cls(levels[order], coef, interval, tuple(chosen), level, values[places])
        return display.plot(ax=ax, **(style or {}))

    def __post_init__(self) -> None:
        self._n_axes = len(self.names)

    def _draw(self, ax: Any, **style: Any) -> None:
        panels = self.axes_ = np.atleast_1d(ax)
        if panels.size != len(self.names):
            raise ValueError(f"ax must hold {len(self.names)} axes; got {panels.size}.")
        self.lines_, self.bands_ = [], []
        look = {"color": "C0", "alpha": 0.25, "linewidth": 0, **style}
        for k, (name, panel) in enumerate(zip(self.names, panels, strict=True)):
            low, high = self.interval[:, k, 0], self.interval[:, k, 1]
            self.bands_.append(panel.fill_between(self.quantiles, low, high, **look))
            self.lines_ += panel.plot(self.quantiles, self.coef[:, k], color="C0", marker=".")
            panel.axhline(0.0, color="0.6", linewidth=0.8)
            if self.least_squares is not None:
                mean = self.least_squares[k]
                panel.axhline(mean, color="C1", linestyle="--", label="least squares")
            panel.set(xlabel="quantile", title=short(name))
        panels[0].set_ylabel(f"coefficient, {100 * self.level:g} % band")
        if self.least_squares is not None:
            panels[0].legend()


class CoverageDisplay(Display):
    """The share of targets below each predicted quantile, against its level.

    Parameters
    ----------
    nominal : ndarray of shape (m,)
        Increasing levels.
    observed : ndarray of shape (m,)
        Shares of the targets at or below the predictions.
    n_samples : int
    level : float, default=0.95
        The band holds the observed share with this probability if the level is right.

    Attributes
    ----------
    band : ndarray of shape (m, 2)
        Binomial quantiles of the share at each level.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    line_ : matplotlib.lines.Line2D
    errors_ : matplotlib.container.ErrorbarContainer

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True)
    >>> model = rl.QuantileRegressor(quantile=[0.25, 0.5, 0.75], alpha=0).fit(X, y)
    >>> display = rl.reports.CoverageDisplay.from_estimator(model, X, y)
    >>> display.observed.round(2)
    array([0.26, 0.51, 0.75])
    """

    nominal: NDArray[np.float64]
    observed: NDArray[np.float64]
    n_samples: int
    level: float = 0.95

    def __post_init__(self) -> None:
        ends = (0.5 - 0.5 * self.level, 0.5 + 0.5 * self.level)
        n = self.n_samples
        self.band = np.column_stack([binom.ppf(end, n, self.nominal) / n for end in ends])

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, level: float = 0.95, **style: Any
    ) -> CoverageDisplay:
        """Draw how often the quantiles of a fitted model hold on data, best not those of the fit.

        Parameters
        ----------
        estimator : fitted QuantileRegressor or QuantileRegressorCV
        X, y : array-like
        level : float, default=0.95
            Probability that the band at each level holds a right model's share.
        **style
            As for `plot`: ``ax``, and how the points look.
        """
        levels = fitted(estimator, "quantiles_", "a QuantileRegressor or QuantileRegressorCV")
        return cls.from_predictions(y, estimator.predict(X), levels, level=level, **style)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        predictions: ArrayLike,
        quantiles: ArrayLike,
        *,
        level: float = 0.95,
        **style: Any,
    ) -> CoverageDisplay:
        """Draw how often predicted quantiles hold.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
        predictions : array-like of shape (n_samples,) or (n_samples, n_quantiles)
        quantiles : array-like of shape (n_quantiles,)
            Levels of the columns of the predictions.
        level : float, default=0.95
            Probability that the band at each level holds a right model's share.
        **style
            As for `plot`: ``ax``, and how the points look.
        """
        targets = np.asarray(y, dtype=np.float64)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        table = np.asarray(predictions, dtype=np.float64).reshape(targets.size, -1)
        if table.shape[1] != levels.size:
            raise ValueError(
                f"predictions has {table.shape[1]} columns, but there are {levels.size} quantiles."
            )
        order = np.argsort(levels)
        observed = shares_below(targets, table[:, order])
        return cls(levels[order], observed, targets.size, level).plot(**style)

    def _draw(self, ax: Any, **style: Any) -> None:
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        reach = np.abs(self.band.T - self.nominal)
        label = f"{100 * self.level:g} % of right models"
        bars = {"fmt": "none", "ecolor": "0.6", "capsize": 3, "label": label}
        self.errors_ = ax.errorbar(self.nominal, self.nominal, yerr=reach, **bars)
        look = {"color": "C0", "marker": "o", "linestyle": "", "label": "observed", **style}
        (self.line_,) = ax.plot(self.nominal, self.observed, **look)
        ax.set(xlabel="level of the quantile", ylabel="share of targets below it")
        ax.legend()
