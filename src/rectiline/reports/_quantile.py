"""`QuantileDisplay`: fan charts of quantile regressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._column_names import column_index
from rectiline.reports._plots import Display, fitted

_POINTS_PER_CURVE = 200


@dataclass(eq=False, repr=False)
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
        ax: Any = None,
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
        ax : matplotlib.axes.Axes, optional
        **style
            For `matplotlib.axes.Axes.fill_between`.
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
        made.plot(ax=ax, **style)
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
