"""Many more columns than rows: solve in the span of the rows.

With a plain ridge penalty the optimum is a combination of the rows of X, so that only ``K = X X'``
matters. With ``K = V diag(s^2) V'`` the rows of ``Z = V diag(s)`` have the same inner products as
those of X, and

    min_b sum_i f_i(x_i'b + b0) + rho/2 |b|^2   =   min_a sum_i f_i(z_i'a + b0) + rho/2 |a|^2,   b
    = X' V diag(1/s) a

is an n x n problem. The multipliers of the samples are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.penalties import Ridge
from rectiline.problems._certificate import DualPoint
from rectiline.problems._problem import Problem
from rectiline.problems.forms._base import FormPoint
from rectiline.problems.forms._rectified import RectifiedForm

_MOST_ROWS = 3000  # the eigendecomposition costs about 10 n^3


@dataclass(frozen=True, eq=False)
class ReducedForm(RectifiedForm):
    """The rectified form of the n x n problem, with the way back to all columns."""

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
