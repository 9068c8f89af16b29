"""The feasible coefficients, ``A b + c >= 0``, ``E b + f = 0``, ``lower <= b <= upper``.

Used by `Terms` and by the tasks of a multi-task problem: violation, feasibility, the way into the
constraints, and the constraints' part of a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse as sp

from rectiline._lazy import FieldsAlone, cached_property
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.constraints import ConstraintRows
from rectiline.problems._certificate import DualPoint, InfeasibilityCertificate
from rectiline.problems._feasibility import (
    Feasibility,
    StackedRows,
    check_feasibility,
    move_into_constraints,
    point_by_least_squares,
)

_MOST_COLUMNS = 2_000  # up to which a feasible point is found by matrices of this order
# Relative violation up to which moved coefficients satisfy the constraints.
_MOVED_VIOLATION = 1e-12


@dataclass(frozen=True, eq=False)
class Region(FieldsAlone):
    """The set of coefficients that satisfy the rows and bounds."""

    rows: ConstraintRows

    @cached_property
    def has_rows(self) -> bool:
        """Whether there are inequality or equality rows (bounds alone do not count)."""
        return bool(self.rows.c.size or self.rows.f.size)

    @cached_property
    def has_bounds(self) -> bool:
        """Whether any coefficient has a bound."""
        rows = self.rows
        return bool(np.isfinite(rows.lower).any() or np.isfinite(rows.upper).any())

    @cached_property
    def bounds_as_rows(self) -> Region:
        """This set with every finite bound stated as a sparse inequality row."""
        if not self.has_bounds:
            return self
        rows, d = self.rows, self.rows.n_features
        low, high = np.flatnonzero(np.isfinite(rows.lower)), np.flatnonzero(np.isfinite(rows.upper))
        eye = sp.eye_array(d, format="csr")
        A = sp.vstack([sp.csr_array(rows.A), eye[low], -eye[high]], format="csr")
        c = np.concatenate([rows.c, -rows.lower[low], rows.upper[high]])
        return Region(ConstraintRows.make(d, A=A, c=c, E=rows.E, f=rows.f))

    @cached_property
    def stacked(self) -> StackedRows:
        """Inequality rows, then equality rows."""
        rows = self.rows
        if not rows.f.size:
            matrix = rows.A
        elif not rows.c.size:
            matrix = rows.E
        elif sp.issparse(rows.A) or sp.issparse(rows.E):
            matrix = sp.vstack([sp.csr_array(rows.A), sp.csr_array(rows.E)], format="csr")
        else:
            matrix = np.vstack([rows.A, rows.E])
        design = Design(matrix if sp.issparse(matrix) else np.ascontiguousarray(matrix))
        is_equality = np.zeros(rows.c.size + rows.f.size, dtype=np.uint8)
        is_equality[rows.c.size :] = 1
        return StackedRows(design, np.concatenate([rows.c, rows.f]), is_equality)

    @cached_property
    def feasibility(self) -> Feasibility:
        """A feasible point, or a proof that there is none."""
        return check_feasibility(self.rows, self.stacked)

    @cached_property
    def near_zero(self) -> Vector:
        """Coefficients not far from zero that satisfy the constraints, if there are any."""
        zero = np.zeros(self.rows.lower.size)
        if self.rows.c.size and zero.size <= _MOST_COLUMNS:
            start = point_by_least_squares(self.rows, self.stacked, self.clip(zero))
            found = move_into_constraints(start, self.rows, self.stacked)
            if self._is_inside(found):
                return found
        return self.move_into(zero)

    def _is_inside(self, coef: Vector) -> bool:
        return self.violation(coef)[1] <= _MOVED_VIOLATION

    @property
    def contradiction(self) -> InfeasibilityCertificate | None:
        """A proof that no coefficients satisfy the constraints, or None.

        A point that does is mostly found without the linear program of `feasibility`.
        """
        if not self.has_rows or self._is_inside(self.near_zero):
            return None
        return self.feasibility.proof

    def on_columns(self, columns: Indices) -> Region:
        """Return the constraints on `columns` where all other coefficients are zero."""
        rows = self.rows
        A, E = rows.A[:, columns], rows.E[:, columns]
        lower, upper = rows.lower[columns], rows.upper[columns]
        return Region(ConstraintRows(A, rows.c, E, rows.f, lower, upper))

    # ---- the primal side ----------------------------------------------------------------------

    def violation(self, coef: Vector, size: Vector | None = None) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative to the terms of its row.

        Terms are ``|A_kj b_j|`` and ``|c_k|``; coefficients count as `size` if that is given.
        """
        rows = self.rows
        miss = np.maximum(np.maximum(rows.lower - coef, coef - rows.upper), 0.0)
        if self.has_rows:
            miss = np.append(miss, self.stacked.missing(coef))
        missed = miss != 0  # what is not a number is no proof of being inside
        if not missed.any():
            return 0.0, 0.0
        size_b = np.abs(coef) if size is None else size
        terms = np.maximum(np.abs(np.where(coef < rows.lower, rows.lower, rows.upper)), size_b)
        if self.has_rows:
            matrix, constant, _ = self.stacked
            terms = np.append(terms, abs(matrix.X) @ size_b + np.abs(constant))
        return float(miss.max()), float(np.max(miss[missed] / terms[missed]))

    def clip(self, coef: Vector) -> Vector:
        """Return the nearest coefficients within the bounds."""
        return np.clip(coef, self.rows.lower, self.rows.upper) if self.has_bounds else coef

    def move_into(self, coef: Vector) -> Vector:
        """Return coefficients near `coef` that satisfy the constraints up to rounding."""
        if not self.has_rows:
            return self.clip(coef)
        moved = move_into_constraints(coef, self.rows, self.stacked)
        if self._is_inside(moved):
            return moved
        inner = self.feasibility.point
        return moved if inner is None else self._blend(moved, inner)

    def _blend(self, coef: Vector, inner: Vector) -> Vector:
        """Move towards a point with slack in every inequality, just as far as needed."""
        rows = self.rows
        slack, inner_slack = rows.A @ coef + rows.c, rows.A @ inner + rows.c
        outside = slack < 0
        if not outside.any() or (inner_slack[outside] <= 0).any():
            return coef
        share = np.max(-slack[outside] / (inner_slack[outside] - slack[outside]))
        blended: Vector = coef + min(1.0, float(share) * (1 + 1e-12)) * (inner - coef)
        return blended

    # ---- the dual side ------------------------------------------------------------------------

    def combined(self, dual: DualPoint) -> Vector | float:
        """Return ``A'xi + E'nu``, or 0.0 without rows."""
        return self.stacked.design.tdot(dual.constraints) if self.has_rows else 0.0

    def combined_size(self, dual: DualPoint) -> Vector:
        """Return ``|A|'|xi| + |E|'|nu|``, the size of the terms of `combined`."""
        return np.asarray(abs(self.stacked.design.X).T @ np.abs(dual.constraints))

    def gap(self, coef: Vector, dual: DualPoint) -> float:
        """Return ``xi'(A b + c) + |nu|'|E b + f|``, violated inequalities counted as zero."""
        value = self.stacked.values(coef)
        sizes = np.where(self.stacked.is_equality, np.abs(value), np.maximum(value, 0.0))
        return float(np.abs(dual.constraints) @ sizes)

    def zero_dual(self, n_samples: int) -> DualPoint:
        """Return the point where all multipliers are zero."""
        return DualPoint(
            np.zeros(n_samples), np.zeros(self.rows.c.size), np.zeros(self.rows.f.size)
        )
