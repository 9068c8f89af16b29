"""What a point costs and by how much it breaks the constraints."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.constraints import ConstraintRows
from rectiline.penalties import Penalty
from rectiline.problems._columns import Columns
from rectiline.problems._natural_units import NaturalUnits

Vector = NDArray[np.float64]

__all__ = ["Values"]


class Values(NaturalUnits):
    """Objective and violation of a problem; a base of `Problem`."""

    penalty: Penalty | None
    is_separable: bool
    columns: Columns
    constraint_rows: ConstraintRows

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return self.design.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.design.n_features

    @property
    def has_constraint_rows(self) -> bool:
        """Whether there are inequality or equality rows (bounds alone do not count)."""
        rows = self.constraint_rows
        return bool(rows.c.size or rows.f.size)

    @property
    def is_constrained(self) -> bool:
        """Whether there are bounds or constraint rows."""
        return self.has_constraint_rows or self.columns.has_bounds

    def penalty_value(self, coef: Vector) -> float:
        """Return Omega(coef)."""
        if self.penalty is None:
            return 0.0
        return self.columns.value(coef) if self.is_separable else self.penalty.value(coef)

    def objective(self, coef: ArrayLike, intercept: float = 0.0) -> float:
        """Return the primal objective (constraints are not charged; see `violation`)."""
        b, b0 = self._checked_point(coef, intercept)
        return self.rows.loss(self.design.dot(b) + b0) + self.penalty_value(b)

    def violation(self, coef: ArrayLike) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative to the terms of its row."""
        b, _ = self._checked_point(coef, 0.0)
        rows = self.constraint_rows
        below = np.maximum(rows.lower - b, 0.0)
        above = np.maximum(b - rows.upper, 0.0)
        outside = np.maximum(below, above)
        absolute = float(outside.max(initial=0.0))
        relative = 0.0
        if absolute == 0.0 and not self.has_constraint_rows:
            return 0.0, 0.0
        # Sizes are those of the coefficients, or of what would be small ones: a hair below a bound
        # at zero is a hair, also when all coefficients are zero.
        size_b = np.maximum(float(np.abs(b).max(initial=0.0)), 1e-3 * self.coef_unit)
        if absolute > 0:
            bound = np.abs(np.where(below > 0, rows.lower, rows.upper))
            size = np.maximum(bound, size_b)[outside > 0]
            relative = float(np.max(outside[outside > 0] / size))
        for matrix, constant, is_equality in ((rows.A, rows.c, False), (rows.E, rows.f, True)):
            if not constant.size:
                continue
            value = matrix @ b + constant
            miss = np.abs(value) if is_equality else np.maximum(-value, 0.0)
            worst = float(miss.max())
            if worst > 0:
                size = abs(matrix) @ size_b + np.abs(constant)
                absolute = max(absolute, worst)
                relative = max(relative, float(np.max(miss[miss > 0] / size[miss > 0])))
        return absolute, relative

    def _checked_point(self, coef: ArrayLike, intercept: float) -> tuple[Vector, float]:
        b = np.ascontiguousarray(coef, dtype=np.float64)
        if b.shape != (self.n_features,):
            raise ValueError(
                f"coef must have shape ({self.n_features},), one entry per column of X; got "
                f"{b.shape}."
            )
        b0 = float(intercept)
        if not (np.isfinite(b0) and np.isfinite(b).all()):
            raise ValueError("coef and intercept must be finite numbers.")
        if b0 != 0.0 and not self.fit_intercept:
            raise ValueError(f"intercept={b0} but the problem has no intercept.")
        return b, b0
