"""A linear function as a loss, which `Problem` needs for a linear term in its objective."""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Loss, Of
from ._curve import PLQCurve

__all__ = ["FlooredLinear"]


_NEAR = 1e-4  # of the floor


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
        # Values are computed from the next knot on the way to the floor. One that is not so far off
        # keeps the rounding errors of ordinary values below those of the floor's size.
        far, near, zeros = self.floor, _NEAR * self.floor, [0.0, 0.0, 0.0]
        if self.of == "residual":  # z = -t
            return PLQCurve([near, far], [-near, -far], [-1.0, -1.0], [-1.0, 0.0], zeros)
        return PLQCurve([-far, -near], [-far, -near], [0.0, 1.0], [1.0, 1.0], zeros)
