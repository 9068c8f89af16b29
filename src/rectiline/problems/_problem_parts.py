"""The parts of a problem by their usual names, and its points; `Problem` inherits them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline import _core
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.constraints import Constraint, ConstraintRows
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems._block_samples import BlockSamples
from rectiline.problems._certificate import DualPoint
from rectiline.problems._columns import Columns
from rectiline.problems._data import BlockData, Data
from rectiline.problems._feasibility import Feasibility
from rectiline.problems._samples import Samples
from rectiline.problems._terms import PenaltyTerms, Terms
from rectiline.rows import RowBlocks

__all__ = ["ProblemParts"]


@dataclass(frozen=True, eq=False)
class ProblemParts:
    """The data, the terms, and what they hold.

    Attributes
    ----------
    source : Data or BlockData
        Rows of X and what each pays, in memory or in blocks.
    terms : Terms
        What the coefficients pay and where they may live.
    """

    source: Data | BlockData
    terms: Terms

    # ---- data and terms -------------------------------------------------------------------------

    @property
    def is_in_memory(self) -> bool:
        """Whether X is in memory; else its rows are read in blocks."""
        return isinstance(self.source, Data)

    @property
    def data(self) -> Data:
        """X and what each sample pays; they must be in memory."""
        if isinstance(self.source, Data):
            return self.source
        raise TypeError(
            "This needs a problem whose X is in memory; this one is on rows in blocks, "
            f"{self.source.blocks!r}. With these, `solve`, `solve_family`, `certify`, `objective`, "
            "`with_penalty` and `with_loss` work; for others pass arrays to rectiline.Problem."
        )

    @property
    def blocks(self) -> RowBlocks:
        """The rows of X in blocks; in memory, views of them."""
        return self.source.blocks

    @property
    def samples(self) -> Samples | BlockSamples:
        """What rows pay; in blocks, the rule that says so."""
        return self.source.samples

    @property
    def design(self) -> Design:
        """The matrix X."""
        return self.data.design

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return self.source.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.source.n_features

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses; one for all samples, or those that `loss_index` refers to."""
        return self.source.samples.losses

    @property
    def loss(self) -> Loss | tuple[Loss, ...]:
        """The loss, or the losses where there is a `loss_index`."""
        return self.losses[0] if self.loss_index is None else self.losses

    @property
    def loss_index(self) -> NDArray[np.uint8] | None:
        """Which of the losses each sample pays; None where there is only one."""
        return self.source.samples.index

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
        return self.is_in_memory and self.data.samples.linear_rows.size > 0

    @property
    def total_weight(self) -> float:
        """Sum of the sample weights."""
        return self.data.samples.total_weight

    @property
    def fit_intercept(self) -> bool:
        """Whether there is a free intercept."""
        return self.source.samples.fit_intercept

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

    # ---- values and points ----------------------------------------------------------------------

    def penalty_value(self, coef: Vector) -> float:
        """Return Omega(coef)."""
        return self.terms.penalty_value(coef)

    def penalty_terms(self, coef: Vector, q: Vector, error: Vector) -> PenaltyTerms:
        """Return the penalty's part of a certificate, see `Terms.penalty_terms`."""
        return self.terms.penalty_terms(coef, q, error)

    def violation(self, coef: ArrayLike) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative to the terms of its row."""
        if not self.is_constrained:
            return 0.0, 0.0
        b, _ = self.checked_point(coef, 0.0)
        unit = self.coef_unit if self.is_in_memory else np.ones(self.n_features)
        return self.terms.region.violation(b, unit)

    @property
    def feasibility(self) -> Feasibility:
        """A feasible point, or a proof that there is none."""
        return self.terms.region.feasibility

    def zero_pair(self) -> tuple[Vector, float, DualPoint]:
        """Return zero coefficients and the slopes of the losses there, a pair to fall back on."""
        slopes = self.rows.slopes(np.zeros(self.n_samples))
        return np.zeros(self.n_features), 0.0, DualPoint(slopes)

    def zero_dual(self) -> DualPoint:
        """Return the point where all multipliers are zero."""
        return self.terms.region.zero_dual(self.n_samples)

    def clip_to_bounds(self, coef: Vector) -> Vector:
        """Return the nearest coefficients within the bounds."""
        return self.terms.region.clip(coef)

    def move_into_constraints(self, coef: Vector) -> Vector:
        """Return coefficients near `coef` that satisfy the constraints up to rounding."""
        return self.terms.region.move_into(coef, self.coef_unit) if self.is_constrained else coef

    def checked_point(self, coef: ArrayLike, intercept: float) -> tuple[Vector, float]:
        """Return coefficients and intercept as float64, or raise where they do not fit."""
        b = np.ascontiguousarray(coef, dtype=np.float64)
        if b.shape != (self.n_features,):
            raise ValueError(
                f"coef must have shape ({self.n_features},), one entry per column of X; got "
                f"{b.shape}."
            )
        b0 = float(intercept)
        if not (math.isfinite(b0) and _core.all_finite(b)):
            raise ValueError("coef and intercept must be finite numbers.")
        if b0 != 0.0 and not self.fit_intercept:
            raise ValueError(f"intercept={b0} but the problem has no intercept.")
        return b, b0
