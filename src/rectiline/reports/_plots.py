"""What the displays share: axes, `plot`, labels; matplotlib is imported when it is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

__all__ = ["Display", "axes", "fitted", "short"]

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


def axes(ax: Any = None, n_columns: int = 1) -> Any:
    """Return the axes to draw on, new ones if none are given."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Plots need matplotlib. Install it with: pip install "rectiline[plots]"'
        ) from error
    if ax is not None:
        return ax
    return plt.subplots(ncols=n_columns, layout="constrained")[1]


class Display(ABC):
    """A picture on one pair of axes, which subclasses draw."""

    ax_: Any
    figure_: Any

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        **style
            For the method of `matplotlib.axes.Axes` that draws: `fill_between` of a
            `QuantileDisplay`, `plot` of the others.

        Returns
        -------
        self
        """
        ax = axes(ax)
        self._draw(ax, **style)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @abstractmethod
    def _draw(self, ax: Any, **style: Any) -> None:
        """Draw on these axes."""
