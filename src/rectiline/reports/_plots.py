"""What the displays share: axes, `plot`, labels; matplotlib is imported when it is needed."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, dataclass_transform

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


@dataclass_transform(eq_default=False)
class Display(ABC):
    """A picture on one pair of axes, or on several, three in a row, which subclasses draw.

    A subclass is a dataclass of what it draws.
    """

    _n_axes = 1
    ax_: Any
    figure_: Any

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(eq=False, repr=False)(cls)

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


# ---- pictures of the HTML report: inline SVG in the colours of the page ----


_INCHES = (5.8, 2.6)
# Colours of matplotlib, and the variables of the page that stand for them.
_COLOURS = {"#1b1f24": "ink", "#c9d1d9": "line", "#0b63c5": "mark", "#b3421b": "minus"}
_INK, _LINE, _MARK, _MINUS = _COLOURS
_STYLE = {
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _INK,
    "axes.prop_cycle": f"cycler('color', ['{_MARK}', '{_MINUS}'])",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "legend.frameon": False,
    "patch.facecolor": _MARK,
    "svg.fonttype": "none",
    "svg.hashsalt": "rectiline",
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


def picture(draw: Callable[..., object], inches: tuple[float, float] = _INCHES) -> str:
    """Return what a function draws on axes; a sentence if matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        return '<p>Pictures need matplotlib: pip install matplotlib (the extra "plots").</p>'
    file = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        draw(ax=figure.subplots())
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    text = file.getvalue()
    for colour, name in _COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    return text[text.index("<svg") :]
