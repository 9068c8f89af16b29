"""The parts of a problem by their usual names; `Problem` inherits them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.constraints import Constraint, ConstraintRows
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems._columns import Columns
from rectiline.problems._data import Data
from rectiline.problems._terms import Terms

__all__ = ["ProblemParts"]


@dataclass(frozen=True, eq=False)
class ProblemParts:
    """The data, the terms, and what they hold.

    Attributes
    ----------
    data : Data
        X and what each sample pays.
    terms : Terms
        What the coefficients pay and where they may live.
    """

    data: Data
    terms: Terms

    # ---- data and terms -------------------------------------------------------------------------

    @property
    def design(self) -> Design:
        """The matrix X."""
        return self.data.design

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return self.data.design.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.data.design.n_features

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses; one for all samples, or those that `loss_index` refers to."""
        return self.data.samples.losses

    @property
    def loss(self) -> Loss | tuple[Loss, ...]:
        """The loss, or the losses where there is a `loss_index`."""
        return self.losses[0] if self.loss_index is None else self.losses

    @property
    def loss_index(self) -> NDArray[np.uint8] | None:
        """Which of the losses each sample pays; None where there is only one."""
        return self.data.samples.index

    @property
    def direction(self) -> Vector:
        """Signs p with ``t_i = p_i z_i + o_i``, the argument of the loss at the prediction z."""
        return self.data.samples.direction

    @property
    def offset(self) -> Vector:
        """Offsets o with ``t_i = p_i z_i + o_i``."""
        return self.data.samples.offset

    @property
    def weight(self) -> Vector:
        """Sample weights."""
        return self.data.samples.weight

    @property
    def has_linear_term(self) -> bool:
        """Whether some row of X is a linear term of the objective."""
        return self.data.samples.linear_rows.size > 0

    @property
    def total_weight(self) -> float:
        """Sum of the sample weights."""
        return self.data.samples.total_weight

    @property
    def fit_intercept(self) -> bool:
        """Whether there is a free intercept."""
        return self.data.samples.fit_intercept

    @property
    def rows(self) -> _core.RowFunctions:
        """What each sample pays as a function of its prediction."""
        return self.data.samples.rows

    @property
    def penalty(self) -> Penalty | None:
        """What the coefficients pay."""
        return self.terms.penalty

    @property
    def is_separable(self) -> bool:
        """Whether the penalty charges each column on its own."""
        return self.terms.is_separable

    @property
    def columns(self) -> Columns:
        """What each coefficient pays, bounds included, where the penalty is separable."""
        return self.terms.columns

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints as they were passed."""
        return self.terms.constraints

    @property
    def constraint_rows(self) -> ConstraintRows:
        """The constraints as rows and bounds; bounds are rows if the penalty couples columns."""
        return self.terms.region.rows

    @property
    def has_constraint_rows(self) -> bool:
        """Whether there are inequality or equality rows (bounds alone do not count)."""
        return self.terms.region.has_rows

    @property
    def is_constrained(self) -> bool:
        """Whether there are bounds or constraint rows."""
        return self.terms.is_constrained

    # ---- levels and scales ----------------------------------------------------------------------

    @property
    def least_loss(self) -> float:
        """Sum of the smallest values of the losses."""
        return self.data.samples.least_loss

    @property
    def loss_at_zero(self) -> float:
        """Sum of the losses at zero coefficients and intercept."""
        return self.data.samples.loss_at_zero

    @property
    def dual_boxes(self) -> tuple[Vector, Vector]:
        """Range of slopes of each sample's weighted loss in its prediction."""
        return self.data.samples.dual_boxes

    @property
    def argument_scale(self) -> float:
        """How much the arguments of the losses vary at zero coefficients."""
        return self.data.samples.argument_scale

    @property
    def slope_width(self) -> tuple[float, bool]:
        """How far the slopes of the losses range, and whether any loss has kinks."""
        return self.data.samples.slope_width

    @property
    def column_means(self) -> Vector:
        """Weighted mean of each column."""
        return self.data.scales.means

    @property
    def column_mean_squares(self) -> Vector:
        """Weighted mean of the squares of each column."""
        return self.data.scales.mean_squares

    @property
    def coef_unit(self) -> Vector:
        """What a coefficient must be to move the predictions by their typical size."""
        return self.data.coef_unit
