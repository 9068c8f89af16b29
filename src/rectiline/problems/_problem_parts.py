"""The parts of a problem by their usual names, and its points; `Problem` inherits them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline import _core
from rectiline._lazy import FieldsAlone, Part
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.constraints import Constraint, ConstraintRows
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems._block_samples import BlockSamples
from rectiline.problems._certificate import DualPoint
from rectiline.problems._data import BlockData, Data
from rectiline.problems._feasibility import Feasibility
from rectiline.problems._samples import Samples
from rectiline.problems._terms import Columns, PenaltyTerms, Terms
from rectiline.problems.proof._measure import norm_of
from rectiline.rows import RowBlocks


@dataclass(frozen=True, eq=False)
class ProblemParts(FieldsAlone):
    """The data, the terms, and what they hold.

    Attributes
    ----------
    source : Data or BlockData
        Rows of X and their losses, in memory or in blocks.
    terms : Terms
        The penalty and the constraints on the coefficients.
    feature_names : ndarray of str or None
        Names of the columns, where they are known.
    """

    source: Data | BlockData
    terms: Terms
    feature_names: NDArray[Any] | None = None

    # ---- data and terms -------------------------------------------------------------------------

    @property
    def is_in_memory(self) -> bool:
        """Whether X is in memory; else its rows are read in blocks."""
        return isinstance(self.source, Data)

    @property
    def data(self) -> Data:
        """X and the losses of the samples; they must be in memory."""
        if isinstance(self.source, Data):
            return self.source
        raise TypeError(
            "This needs a problem whose X is in memory; this one is on rows in blocks, "
            f"{self.source.blocks!r}. With these, `solve`, `solve_family`, `certify`, `objective`, "
            "`with_penalty` and `with_loss` work; for others pass arrays to rectiline.Problem."
        )

    #: The rows of X in blocks; in memory, views of them.
    blocks = Part[RowBlocks]("source.blocks")
    #: The losses of the rows; in blocks, the rule that makes them.
    samples = Part[Samples | BlockSamples]("source.samples")
    #: The matrix X.
    design = Part[Design]("data.design")
    #: Number of rows of X.
    n_samples = Part[int]("source.n_samples")
    #: Number of columns of X.
    n_features = Part[int]("source.n_features")
    #: The losses; one for all samples, or those that `loss_index` refers to.
    losses = Part[tuple[Loss, ...]]("source.samples.losses")

    @property
    def loss(self) -> Loss | tuple[Loss, ...]:
        """The loss, or the losses where there is a `loss_index`."""
        return self.losses[0] if self.loss_index is None else self.losses

    #: Which of the losses each sample has; None where there is only one.
    loss_index = Part[NDArray[np.uint8] | None]("source.samples.index")
    #: Signs p with ``t_i = p_i z_i + o_i``, the argument of the loss at the prediction z.
    direction = Part[Vector]("data.samples.direction")
    #: Offsets o with ``t_i = p_i z_i + o_i``.
    offset = Part[Vector]("data.samples.offset")
    #: Sample weights.
    weight = Part[Vector]("data.samples.weight")

    @property
    def has_linear_term(self) -> bool:
        """Whether some row of X is a linear term of the objective."""
        return self.is_in_memory and self.data.samples.linear_rows.size > 0

    #: Sum of the sample weights.
    total_weight = Part[float]("data.samples.total_weight")
    #: Whether there is a free intercept.
    fit_intercept = Part[bool]("source.samples.fit_intercept")
    #: The loss of each sample as a function of its prediction.
    rows = Part[_core.RowFunctions]("data.samples.rows")
    #: The penalty on the coefficients.
    penalty = Part[Penalty | None]("terms.penalty")
    #: Whether the penalty is a sum over columns.
    is_separable = Part[bool]("terms.is_separable")
    #: The penalty on each coefficient, bounds included, where the penalty is separable.
    columns = Part[Columns]("terms.columns")
    #: The constraints as they were passed.
    constraints = Part[tuple[Constraint, ...]]("terms.constraints")
    #: The constraints as rows and bounds; bounds are rows if the penalty couples columns.
    constraint_rows = Part[ConstraintRows]("terms.region.rows")
    #: Whether there are inequality or equality rows (bounds alone do not count).
    has_constraint_rows = Part[bool]("terms.region.has_rows")
    #: Whether there are bounds or constraint rows.
    is_constrained = Part[bool]("terms.is_constrained")

    # ---- levels and scales ----------------------------------------------------------------------

    #: Sum of the smallest values of the losses.
    least_loss = Part[float]("data.samples.least_loss")
    #: Sum of the losses at zero coefficients and intercept.
    loss_at_zero = Part[float]("data.samples.loss_at_zero")
    #: Range of slopes of each sample's weighted loss in its prediction.
    dual_boxes = Part[tuple[Vector, Vector]]("data.samples.dual_boxes")
    #: How much the arguments of the losses vary at zero coefficients.
    argument_scale = Part[float]("data.samples.argument_scale")
    #: How far the slopes of the losses range, and whether any loss has kinks.
    slope_width = Part[tuple[float, bool]]("data.samples.slope_width")
    #: Weighted mean of each column.
    column_means = Part[Vector]("data.column_means")
    #: Weighted mean of the squares of each column.
    column_mean_squares = Part[Vector]("data.column_mean_squares")
    #: What a coefficient must be to move the predictions by their typical size.
    coef_unit = Part[Vector]("data.coef_unit")

    # ---- values and points ----------------------------------------------------------------------

    def penalty_value(self, coef: Vector) -> float:
        """Return Omega(coef)."""
        return self.terms.penalty_value(coef)

    def penalty_terms(self, coef: Vector, q: Vector, error: Vector) -> PenaltyTerms:
        """Return the penalty's part of a certificate, see `Terms.penalty_terms`."""
        return self.terms.penalty_terms(coef, q, error)

    def violation(self, coef: ArrayLike, roughly: bool = False) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative to the terms of its row.

        Coefficients count at least 1e-3 of what moves predictions noticeably, or of the largest one
        if they move none: rounding of those near zero is small. `roughly`, for solvers on their
        way, all count as the largest one.
        """
        if not self.is_constrained:
            return 0.0, 0.0
        b, _ = self.checked_point(coef, 0.0)
        largest = np.abs(b).max(initial=0.0)
        size = np.full(b.size, largest) if roughly else np.abs(b)
        if self.is_in_memory:
            unit = np.where(self.coef_unit > 0, self.coef_unit, largest)
            size = np.maximum(size, 1e-3 * unit)
        return self.terms.given.violation(b, size)

    #: A feasible point, or a proof that there is none.
    feasibility = Part[Feasibility]("terms.region.feasibility")

    def zero_pair(self) -> tuple[Vector, float, DualPoint]:
        """Return zero coefficients and the slopes of the losses there, a pair to fall back on."""
        slopes = self.rows.slopes(np.zeros(self.n_samples))
        return np.zeros(self.n_features), 0.0, DualPoint(slopes)

    def terms_of_q(self, dual: DualPoint) -> Vector:
        """Return the size of the terms of ``q = A'xi + E'nu - X'g`` on each column."""
        size = self.design.norm_bounds.columns * norm_of(dual.sample)
        region = self.terms.region
        return size + region.combined_size(dual) if region.has_rows else size

    def clip_to_bounds(self, coef: Vector) -> Vector:
        """Return the nearest coefficients within the bounds."""
        return self.terms.given.clip(coef)

    def move_into_constraints(self, coef: Vector) -> Vector:
        """Return coefficients near `coef` that satisfy the constraints up to rounding."""
        return self.terms.given.move_into(coef) if self.is_constrained else coef

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
