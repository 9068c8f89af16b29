"""The rectified form: rows with a cost each, separable columns, linear constraints.

    min over b, b0   sum_i f_i(x_i'b + b0) + sum_j h_j(b_j)   subject to   R b + k >= 0 (or = 0)

Ridge, elastic net, L1, no penalty and bounds all live in ``h``; inequality and equality rows are
stacked, inequalities first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._lazy import Part
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.penalties import Ridge
from rectiline.problems._certificate import DualPoint
from rectiline.problems._problem import Problem
from rectiline.problems._terms import Columns
from rectiline.problems.forms._base import FormPoint, ProblemForm

_MOST_ROWS = 3000  # the eigendecomposition costs about 10 n^3


@dataclass(frozen=True, eq=False)
class RectifiedForm(ProblemForm):
    """What a solver of rectified programs needs, and the way back to the problem."""

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem has no such form, or None if it has."""
        if problem.is_separable:
            return None
        return f"the penalty {problem.penalty!r} couples columns"

    # ---- the parts ----------------------------------------------------------------------------

    @property
    def columns(self) -> Columns:
        """The cost of each column."""
        return self.problem.columns

    #: Sum of the sample weights.
    total_weight = Part[float]("problem.total_weight")

    #: Coefficients of the linear term of the objective, zeros where there is none.
    linear = Part[Vector]("problem.data.linear")
    #: The rows of X that are that term and no samples.
    linear_rows = Part[Indices]("problem.data.samples.linear_rows")

    #: Inequality rows, then equality rows.
    constraint_design = Part[Design]("problem.terms.region.stacked.design")
    #: Constants of the stacked constraint rows.
    constraint_offset = Part[Vector]("problem.terms.region.stacked.offset")
    #: One per equality row.
    is_equality = Part[NDArray[np.uint8]]("problem.terms.region.stacked.is_equality")
    #: Coefficients that satisfy the constraints, not far from zero.
    point_near_zero = Part[Vector]("problem.terms.region.near_zero")

    # ---- natural units --------------------------------------------------------------------------

    def slope_width(self) -> tuple[float, bool]:
        """Return how far the slopes of the losses range, and whether any loss has kinks."""
        return self.problem.slope_width

    def argument_scale(self) -> float:
        """Return how much the arguments of the losses vary at the start."""
        return self.problem.argument_scale


@dataclass(frozen=True, eq=False)
class ReducedForm(RectifiedForm):
    """Many more columns than rows: the n x n problem in the span of the rows, with the way back.

    With a plain ridge penalty the optimum is a combination of the rows of X, so that only
    ``K = X X'`` matters. With ``K = V diag(s^2) V'`` the rows of ``Z = V diag(s)`` have the same
    inner products as those of X, and ::

        min_b sum_i f_i(x_i'b + b0) + rho/2 |b|^2   =   min_a sum_i f_i(z_i'a + b0) + rho/2 |a|^2

    with ``b = X' V diag(1/s) a``. The multipliers of the samples are the same.
    """

    original: Problem
    back: NDArray[np.float64]  # V diag(1/s): a -> the combination of rows that makes b

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem cannot be reduced to the span of its rows, or None."""
        columns = problem.columns
        plain = problem.is_separable and columns.strongly_convex and not columns.has_l1
        if not plain or columns.has_bounds or problem.has_constraint_rows:
            return "only a plain ridge penalty without constraints reduces to the span of the rows"
        if (columns.rho != columns.rho[0]).any():
            return "the ridge part differs between columns"
        if problem.n_samples > _MOST_ROWS:
            return f"{problem.n_samples} rows are too many to decompose (at most {_MOST_ROWS})"
        return None

    @classmethod
    def apply(cls, problem: Problem) -> ReducedForm:
        """Return the reduced form; the first one of a design costs an eigendecomposition."""
        reason = cls.accepts(problem)
        if reason is not None:
            raise ValueError(f"The problem has no ReducedForm: {reason}.")
        rows, back = problem.design.row_space
        if not _core.all_finite(rows):
            raise OverflowError("products of the rows overflow")
        ridge = Ridge(float(problem.columns.rho[0]))
        return cls(problem.with_design(rows, ridge), problem, back)

    def invert(self, point: FormPoint) -> tuple[Vector, float, DualPoint]:
        """Return coefficients of all columns."""
        coef = self.original.design.tdot(np.ascontiguousarray(self.back @ point.coef))
        return coef, point.intercept, DualPoint(point.sample)

    def point_of(self, coef: Vector, intercept: float, dual: DualPoint) -> FormPoint:
        """Return the pair in the span of the rows."""
        inner = self.back.T @ self.original.design.dot(coef)
        return FormPoint(np.asarray(inner), intercept, dual.sample, np.zeros(0))
