"""A linear function as a loss, which `Problem` needs for a linear term in its objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._base import Loss, Of
from ._curve import PLQCurve

__all__ = ["FlooredLinear"]

_SCALES = 10.0 ** np.arange(-15, 1, 3)


@dataclass(frozen=True)
class FlooredLinear(Loss):
    """``max(z, -floor)`` of the prediction z: linear, except far below where it stays flat.

    Every loss has a minimum; the floor gives a linear function one. `Problem` puts it where no
    answer can be, so that the function is linear wherever it matters.

    Parameters
    ----------
    floor : float
        > 0.
    of : {"prediction", "residual", "margin"}
        What the argument is; the target that goes with it is zero, or the positive label.

    Examples
    --------
    >>> FlooredLinear(10.0, "residual").value(0.0, [-20.0, 3.0])
    array([-10.,   3.])
    """

    floor: float
    of: Of = "prediction"
    name = "floored_linear"

    def _make_curve(self) -> PLQCurve:
        # Values are computed from the next knot on the way to the floor. Knots at every scale keep
        # their rounding errors in proportion to the values, however far off the floor is.
        far = self.floor * _SCALES
        slopes = np.append(np.ones(far.size - 1), 0.0)
        zeros = np.zeros(far.size + 1)
        if self.of == "residual":  # z = -t
            return PLQCurve(far, -far, np.full(far.size, -1.0), -slopes, zeros)
        return PLQCurve(-far[::-1], -far[::-1], slopes[::-1], np.ones(far.size), zeros)
