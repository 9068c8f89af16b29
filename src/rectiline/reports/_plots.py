"""What the displays share: axes, `plot`, labels; matplotlib is imported when it is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rectiline._optional import optional

_PANELS_ACROSS = 3  # pictures of one figure side by side
_LEGEND_CHARACTERS = 32  # characters of a legend entry that leave room for the curves


def fitted(estimator: Any, attribute: str, needed: str) -> Any:
    """Return a fitted attribute of an estimator; `needed` says which estimators have it."""
    check_is_fitted(estimator)
    if not hasattr(estimator, attribute):
        raise TypeError(f"estimator must be {needed}; got {type(estimator).__name__}.")
    return getattr(estimator, attribute)


def short(label: Any) -> str:
    """Return a label cut to what fits into a legend."""
    text = str(label)
    return text if len(text) <= _LEGEND_CHARACTERS else f"{text[: _LEGEND_CHARACTERS - 3]}..."


class Display(ABC):
    """A picture on one pair of axes, or on several, three in a row, which subclasses draw."""

    _n_axes = 1
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A sequence of them where there are several pictures; new ones by default.
        **style
            For the method of `matplotlib.axes.Axes` that draws: `fill_between` of a
            `QuantileDisplay` or `CoefficientDisplay`, `scatter` of a `SubspaceDisplay`, `plot` of
            the others. A `ConvergenceDisplay` also takes `against`, "seconds" or "n_iter".

        Returns
        -------
        self
        """
        pyplot = optional("matplotlib.pyplot", "Plots need matplotlib")
        count = self._n_axes
        if ax is None:
            across = min(count, _PANELS_ACROSS)
            down = -(-count // across)
            size = None if count == 1 else (4.5 * across, 4.0 if down == 1 else 3.2 * down)
            made = pyplot.subplots(down, across, layout="constrained", figsize=size)[1]
            ax = made if count == 1 else np.ravel(made)[:count]
            for spare in np.ravel(made)[count:]:
                spare.remove()
        self._draw(ax, **style)
        self.ax_, self.figure_ = ax, np.ravel(ax)[0].figure
        return self

    @abstractmethod
    def _draw(self, ax: Any, **style: Any) -> None:
        """Draw on these axes."""
