"""In which units a problem is large or small: what solvers scale by.

Everything here depends on the data and the losses, not on the penalty, so that it is worked out
once for a whole path of strengths.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.backends import Design
from rectiline.losses import Loss

Vector = NDArray[np.float64]

__all__ = ["NaturalUnits"]

_SHARP_BEND = 0.05  # widest bend, in units of the arguments' scale, that is treated as a kink


class NaturalUnits:
    """Scales of arguments, slopes, columns and coefficients; a base of `Problem`."""

    design: Design
    losses: tuple[Loss, ...]
    rows: _core.RowFunctions
    weight: Vector
    offset: Vector
    fit_intercept: bool

    @cached_property
    def argument_scale(self) -> float:
        """How much the arguments of the losses vary at zero coefficients."""
        if self.losses[0].of != "residual":
            return 1.0
        offset = self.offset[self.weight > 0]
        center = _middle(offset) if self.fit_intercept else 0.0
        spread = _middle(np.abs(offset - center))
        return spread or float(np.mean(np.abs(offset - center))) or 1.0

    @cached_property
    def slope_width(self) -> tuple[float, bool]:
        """How far the slopes of the losses range, and whether any loss has kinks.

        An unbounded range counts as what an argument of natural size can reach. A bend much
        narrower than the arguments vary (Huber with a tiny delta) counts as a kink.
        """
        widths, kinks = [], False
        for loss in self.losses:
            curve = loss.curve
            low, high = curve.domain()
            if not np.isfinite(high - low):
                reach = self.argument_scale
                low = max(low, -float(curve.curvature[0]) * reach + float(curve.left[0]))
                high = min(high, float(curve.curvature[-1]) * reach + float(curve.right[-1]))
            widths.append(max(float(high - low), 1e-300))
            bend = widths[-1] / max(float(curve.curvature.max()), 1e-300)
            sharp = bend < _SHARP_BEND * self.argument_scale
            kinks = kinks or sharp or bool((curve.right > curve.left).any())
        return max(widths), kinks

    def take_units(self, other: NaturalUnits) -> None:
        """Scale by what `other` is scaled by: the same losses and X, nearly the same weights."""
        assert self.design.X.shape == other.design.X.shape
        for name in ("argument_scale", "column_means", "column_mean_squares"):
            self.__dict__[name] = getattr(other, name)

    @cached_property
    def column_means(self) -> Vector:
        """Weighted mean of each column."""
        return self.design.tdot(self.weight) / float(self.weight.sum())

    @cached_property
    def column_mean_squares(self) -> Vector:
        """Weighted mean of the squares of each column."""
        return self.design.column_squares(self.weight) / float(self.weight.sum())

    @cached_property
    def coef_unit(self) -> Vector:
        """What a coefficient must be to move the predictions by their natural scale."""
        rms = np.sqrt(self.column_mean_squares)
        return np.where(rms > 0, self.argument_scale / np.where(rms > 0, rms, 1.0), 0.0)

    @cached_property
    def loss_at_zero(self) -> float:
        """Sum of the losses at zero coefficients and intercept."""
        return self.rows.loss(np.zeros(self.weight.size))


def _middle(values: Vector) -> float:
    """Return the (upper) median; much cheaper than `numpy.median` on few values."""
    half = values.size // 2
    return float(np.partition(values, half)[half])
