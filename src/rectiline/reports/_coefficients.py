"""Plots of coefficients across quantiles, with confidence bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.inference import summary
from rectiline.reports._plots import Display, fitted, short


@dataclass(eq=False, repr=False)
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
        display = cls(
            levels[order],
            tables.coef[order][:, places],
            tables.interval[order][:, places],
            tuple(chosen),
            level,
        )
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
            panel.set(xlabel="quantile", title=short(name))
        panels[0].set_ylabel(f"coefficient, {100 * self.level:g} % band")
