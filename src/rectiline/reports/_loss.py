"""`LossDisplay`: the curves of losses side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline.losses import Loss, get
from rectiline.reports._plots import Display, short

_ARGUMENT = {"margin": "margin  y z", "residual": "residual  y - z", "prediction": "prediction  z"}


@dataclass(eq=False, repr=False)
class LossDisplay(Display):
    """Losses of one kind as curves.

    Parameters
    ----------
    losses : sequence of Loss
        All of the margin, or all of the residual.
    span : tuple of float
        Ends of the horizontal axis.
    labels : sequence of str, optional
        Legend entries; what the losses are by default.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> from rectiline.losses import Hinge, SmoothedHinge
    >>> from rectiline.reports import LossDisplay
    >>> display = LossDisplay.from_losses([Hinge(), SmoothedHinge()])
    >>> len(display.lines_)
    2
    """

    losses: Sequence[Loss]
    span: tuple[float, float]
    labels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != len(self.losses):
            raise ValueError(f"labels: {len(self.labels)} labels for {len(self.losses)} losses.")

    @classmethod
    def from_losses(
        cls,
        losses: Any,
        *,
        span: tuple[float, float] | None = None,
        labels: Sequence[str] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> LossDisplay:
        """Draw losses.

        Parameters
        ----------
        losses : Loss or name of one, sequence of these, or mapping from label to loss
        span : tuple of float, optional
            Ends of the horizontal axis; a little more than all knots by default.
        labels : sequence of str, optional
            Legend entries; what the losses are by default.
        ax : matplotlib.axes.Axes, optional
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        if isinstance(losses, Mapping):
            labels, losses = list(losses), list(losses.values())
        single = isinstance(losses, Loss | str)
        listed = [get(one) for one in ([losses] if single else losses)]
        kinds = sorted({one.of for one in listed})
        if len(kinds) != 1:
            raise ValueError(f"losses must be of one kind to share an axis; got {kinds}.")
        if span is None:
            knots = np.concatenate([one.curve.knots for one in listed])
            room = max(1.0, 0.5 * float(np.ptp(knots)))
            span = (float(knots.min()) - 2 * room, float(knots.max()) + 2 * room)
        return cls(listed, span, labels).plot(ax=ax, **style)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **style: Any) -> LossDisplay:
        """Draw the loss of an estimator, one curve per quantile for quantile regressions."""
        if hasattr(estimator, "quantiles_"):
            listed = [estimator._loss(level) for level in estimator.quantiles_]
            return cls.from_losses(listed, ax=ax, **style)
        used = getattr(estimator, "loss_", None)  # widths relative to the data are known by now
        if used is None:
            used = get(estimator.loss, **(estimator.loss_params or {}))
        return cls.from_losses(used, ax=ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        self.lines_ = []
        names = self.labels or [repr(loss) for loss in self.losses]
        for loss, name in zip(self.losses, names, strict=True):
            knots = loss.curve.knots
            seen = knots[(knots > self.span[0]) & (knots < self.span[1])]
            t = np.union1d(np.linspace(*self.span, 401), seen)
            self.lines_ += ax.plot(t, loss.curve.value(t), **{"label": short(name), **style})
        ax.set(xlabel=_ARGUMENT[self.losses[0].of], ylabel="loss")
        ax.legend()
