"""`PartialEffectDisplay`: what a smooth term of a formula adds to the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline.reports._plots import Display, short


@dataclass(eq=False, repr=False)
class PartialEffectDisplay(Display):
    """The effect of one term against its variable, with pointwise intervals.

    Parameters
    ----------
    effect : PartialEffect
        What `FormulaModel.partial_effect` returns.
    labels : sequence of str, optional
        Legend entries, one for each quantile where there are several.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> x = np.random.default_rng(0).uniform(0, 6, 200)
    >>> model = rl.formula("y ~ s(x)", {"x": x, "y": np.sin(x)}).fit(rl.PLQRegressor("huber"))
    >>> display = rl.reports.PartialEffectDisplay.from_formula(model, "s(x)", kind=None, grid=3)
    >>> display.effect.grid.round(1)
    array([0., 3., 6.])
    """

    effect: Any
    labels: Any = None

    @classmethod
    def from_formula(
        cls, model: Any, term: str, *, ax: Any = None, style: Any = None, **options: Any
    ) -> PartialEffectDisplay:
        """Draw a term of a fitted formula.

        Parameters
        ----------
        model : FormulaModel
        term : str
            As the formula has it, such as ``"s(x)"``.
        ax : matplotlib.axes.Axes, optional
        style : dict, optional
            For `matplotlib.axes.Axes.plot`.
        **options
            Options of `FormulaModel.partial_effect`: ``grid``, ``kind``, ``level``, ``n_boot``.
        """
        if not hasattr(model, "partial_effect"):
            raise TypeError(
                f"model must be a fitted formula, rl.formula(...).fit(...); got {model!r}."
            )
        effect = model.partial_effect(term, **options)
        levels = getattr(model.estimator, "quantiles_", None) if effect.value.ndim == 2 else None
        labels = None if levels is None else [f"quantile {level:g}" for level in levels]
        return cls(effect, labels).plot(ax=ax, **(style or {}))

    def _draw(self, ax: Any, **style: Any) -> None:
        effect, self.lines_ = self.effect, []
        rows = (np.atleast_2d(one) for one in (effect.value, effect.lower, effect.upper))
        for k, (value, lower, upper) in enumerate(zip(*rows, strict=True)):
            label = None if self.labels is None else short(self.labels[k])
            (line,) = ax.plot(effect.grid, value, label=label, **style)
            if np.isfinite(lower).any():
                ax.fill_between(effect.grid, lower, upper, alpha=0.2, color=line.get_color())
            self.lines_.append(line)
        ax.set(xlabel=effect.variable, ylabel=effect.term)
        if self.labels is not None:
            ax.legend()
