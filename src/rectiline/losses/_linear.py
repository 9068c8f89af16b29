"""A linear function as a loss, which `Problem` needs for a linear term in its objective."""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Loss, Of
from ._curve import PLQCurve

__all__ = ["LinearTerm"]


@dataclass(frozen=True)
class LinearTerm(Loss):
    """The prediction itself: a loss with one slope and, unlike all others, no minimum.

    Parameters
    ----------
    of : {"prediction", "residual", "margin"}
        What the argument is; the target that goes with it is zero, or the positive label.

    Examples
    --------
    >>> LinearTerm("residual").value(0.0, [-20.0, 3.0])
    array([-20.,   3.])
    """

    of: Of = "prediction"
    name = "linear_term"

    def _make_curve(self) -> PLQCurve:
        slope = [-1.0 if self.of == "residual" else 1.0]
        return PLQCurve([0.0], [0.0], slope, slope, [0.0, 0.0])
