"""Plots of how often predicted quantiles or intervals hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from rectiline.reports._plots import Display, fitted


@dataclass(eq=False, repr=False)
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
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        level: float = 0.95,
        ax: Any = None,
        **style: Any,
    ) -> CoverageDisplay:
        """Draw how often the quantiles of a fitted model hold on data, best not those of the fit.

        Parameters
        ----------
        estimator : fitted QuantileRegressor or QuantileRegressorCV
        X, y : array-like
        level : float, default=0.95
            Probability that the band at each level holds a right model's share.
        ax : matplotlib.axes.Axes, optional
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        levels = fitted(estimator, "quantiles_", "a QuantileRegressor or QuantileRegressorCV")
        return cls.from_predictions(y, estimator.predict(X), levels, level=level, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        predictions: ArrayLike,
        quantiles: ArrayLike,
        *,
        level: float = 0.95,
        ax: Any = None,
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
        ax : matplotlib.axes.Axes, optional
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        targets = np.asarray(y, dtype=np.float64)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        table = np.asarray(predictions, dtype=np.float64).reshape(targets.size, -1)
        if table.shape[1] != levels.size:
            raise ValueError(
                f"predictions has {table.shape[1]} columns, but there are {levels.size} quantiles."
            )
        order = np.argsort(levels)
        # A target on the plane counts as below it; predictions are rounded.
        slack = 1e-9 * max(float(np.abs(targets).max()), 1e-300)
        observed = np.mean(targets[:, None] <= table[:, order] + slack, axis=0)
        return cls(levels[order], observed, targets.size, level).plot(ax=ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        reach = np.abs(self.band.T - self.nominal)
        self.errors_ = ax.errorbar(
            self.nominal,
            self.nominal,
            yerr=reach,
            fmt="none",
            ecolor="0.6",
            capsize=3,
            label=f"{100 * self.level:g} % of right models",
        )
        look = {"color": "C0", "marker": "o", "linestyle": "", "label": "observed", **style}
        (self.line_,) = ax.plot(self.nominal, self.observed, **look)
        ax.set(xlabel="level of the quantile", ylabel="share of targets below it")
        ax.legend()
