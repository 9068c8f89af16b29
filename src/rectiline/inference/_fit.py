"""The record of a fit and its training data, which every kind of standard error starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from rectiline._lazy import cached_property
from rectiline.inference._rows import Rows
from rectiline.losses import Loss

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Fit", "full_rank"]

_DEPENDENT_PIVOT_SHARE = (
    1e-10  # a pivot below this share of its column's length: the columns are dependent
)
_ZERO_RESIDUAL_SHARE = 1e-9  # residuals up to this share of their scale count as zero
_INSIDE_RANGE_SHARE = 1e-7  # a multiplier this far from the ends of its range, relative, is inside


@dataclass(frozen=True, eq=False)
class Fit:
    """A linear model without penalty, the data it was fitted on, and what was proved about it.

    Attributes
    ----------
    rows : Rows
        The samples, with the constant first.
    targets : ndarray of shape (n,)
        y; signs -1 and +1 for a classifier.
    weight : ndarray of shape (n,)
        Frequency weights.
    coef : ndarray of shape (m, p)
        One row per level (one row if there are no levels), the intercept first.
    levels : ndarray of shape (m,) or None
        Quantiles, where the loss is the check function; also levels of expectiles.
    losses : tuple of Loss
    names : tuple of str
    multipliers : ndarray of shape (m, n) or None
        Slopes of the losses in the predictions per unit of weight, from the certificate.
    gap : float
        The largest certified relative gap of the fits.
    model : estimator
    given : tuple
        X and y as the user gave them, for fitting the model again.
    is_plain : bool
        Whether there is neither a penalty nor an active constraint.
    """

    rows: Rows
    targets: Vector
    weight: Vector
    coef: Matrix
    levels: Vector | None
    losses: tuple[Loss, ...]
    names: tuple[str, ...]
    multipliers: Matrix | None
    gap: float
    model: Any
    given: tuple[Any, Any]
    is_plain: bool = True

    @property
    def m(self) -> int:
        """Number of levels."""
        return len(self.losses)

    @property
    def p(self) -> int:
        """Number of coefficients, the intercept included."""
        return self.rows.p

    @cached_property
    def n(self) -> float:
        """Number of samples: the sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def predictions(self) -> Matrix:
        """Fitted values, (m, n)."""
        return np.ascontiguousarray(self.rows.predict(self.coef).T)

    @cached_property
    def arguments(self) -> Matrix:
        """The losses' own arguments, (m, n): residuals, or margins of a classifier."""
        made = []
        for loss, z in zip(self.losses, self.predictions, strict=True):
            made.append(self.targets * z if loss.of == "margin" else self.targets - z)
        return np.array(made)

    @cached_property
    def gram(self) -> Matrix:
        """``X'WX`` with the constant column."""
        return self.rows.gram(self.weight)

    @cached_property
    def factor(self) -> Matrix:
        """Upper triangular R with ``R'R = X'WX``."""
        return np.asarray(cholesky(self.gram))

    @cached_property
    def lengths(self) -> Vector:
        """``sqrt(x_i' (X'WX)^-1 x_i)`` for every sample."""
        return self.rows.lengths(self.factor)

    @property
    def is_quantile(self) -> bool:
        """Whether every loss is a multiple of the check function."""
        return self.levels is not None and not any(one.curve.curvature.any() for one in self.losses)

    @cached_property
    def zero(self) -> float:
        """Residuals up to this size count as zero."""
        return _ZERO_RESIDUAL_SHARE * max(float(np.max(np.abs(self.targets))), 1e-300)

    @cached_property
    def unique(self) -> bool:
        """Whether the certificate shows that no other coefficients are as good.

        Samples whose multiplier lies strictly inside its range keep their argument at every
        optimum. If they, and those on curved pieces, span all directions, the optimum is unique.
        """
        if self.multipliers is None:
            return True
        for loss, argument, slope in zip(
            self.losses, self.arguments, self.multipliers, strict=True
        ):
            curve = loss.curve
            pins = curve.curvature[np.searchsorted(curve.knots, argument)] > 0
            own = -slope if loss.of == "residual" else self.targets * slope
            for low, high in zip(curve.left, curve.right, strict=True):
                margin = _INSIDE_RANGE_SHARE * (high - low)
                pins |= (own > low + margin) & (own < high - margin)
            pins &= self.weight > 0
            if not full_rank(self.rows.gram(np.where(pins, self.weight, 0.0))):
                return False
        return True


def full_rank(gram: Matrix) -> bool:
    """Whether a Gram matrix, scaled to unit diagonal, is safely positive definite."""
    scale = np.sqrt(np.diag(gram))
    if not (scale > 0).all():
        return False
    return bool(np.linalg.eigvalsh(gram / np.outer(scale, scale))[0] > _DEPENDENT_PIVOT_SHARE)
