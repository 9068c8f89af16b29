"""Directions along which an objective with a linear term falls without end; asked by `solve`.

Losses and penalties are bounded below, so only a linear term (``Problem(..., linear=...)``) can
make an objective unbounded. Where no answer is found, a linear program looks for the direction of
steepest slope at infinity: far along a direction d every loss grows with one of its outermost
slopes, and the penalty by its own value, so that the slope is a sum of terms anybody can check.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.optimize import linprog

from rectiline._typing import Vector
from rectiline.constraints import ConstraintRows
from rectiline.problems._problem import Problem
from rectiline.problems._region import Region
from rectiline.problems.forms import EpigraphForm

__all__ = ["falling_direction"]

_CLEAR_SLOPE_SHARE = 1e-7  # relative to the terms of the slope: more than rounding
_ROUNDING_SHARE = 1e-11  # relative to the terms of a row: counts as zero
_LOOSE_ZERO = 1e-5  # entries this close to zero may be meant to be zero


def falling_direction(problem: Problem) -> Vector | None:
    """Return a direction along which the objective provably falls without end, or None."""
    if not problem.has_linear_term or EpigraphForm.accepts(problem) is not None:
        return None
    low, high = problem.dual_boxes
    size = np.sqrt(problem.design.column_squares(np.ones(problem.n_samples)))
    unit = 1.0 / np.where(size > 0, size, 1.0)  # of each coefficient, so that columns have norm 1
    direction = _steepest(problem, low, high, unit)
    if direction is None:
        return None
    # Small entries may be meant to be zero, or tied to larger ones.
    cone = _cone(problem, low, high, unit)
    for least in (_LOOSE_ZERO, 0.0):
        is_small = np.abs(direction) < least * np.abs(direction).max()
        tidy: Vector = unit * cone.move_into(np.where(is_small, 0.0, direction))
        tidy /= np.abs(tidy).max()
        if _falls(problem, tidy, low, high):
            return tidy
    return None


def _steepest(problem: Problem, low: Vector, high: Vector, unit: Vector) -> Vector | None:
    """Return the direction in the unit cube with the least slope at infinity, if that is negative.

    Rows of X, absolute values of coefficients and capped rows of the penalty all cost ``low z`` or
    ``high z``, whichever is larger, for their product z with the direction. Columns of the linear
    program: the direction, in `unit`, with the further columns of the penalty, then these costs.
    """
    form = EpigraphForm.apply(problem)
    epigraph, columns, rows = form.epigraph, form.columns, problem.constraint_rows
    d, wide = problem.n_features, epigraph.n_columns
    units = sp.diags_array(np.append(unit, np.ones(wide - d)))

    def in_units(matrix: Any) -> sp.csr_array:
        """Return the matrix for a direction in `unit`, with the further columns."""
        blank = sp.csr_array((matrix.shape[0], wide - matrix.shape[1]))
        return sp.csr_array(sp.hstack([sp.csr_array(matrix), blank]) @ units)

    Z = sp.vstack(
        [in_units(problem.design.X), in_units(sp.eye_array(d)), in_units(epigraph.capped)],
        format="csr",
    )
    nothing = np.zeros(epigraph.cap.size)
    low = np.concatenate([low, -columns.l1, nothing])
    high = np.concatenate([high, columns.l1, epigraph.cap])
    kinked = np.flatnonzero((low != high) & (np.isfinite(low) | np.isfinite(high)))
    # Rows whose one slope is infinite may only move the other way, at a cost.
    below, above = (np.where(np.isfinite(a), a, b)[kinked] for a, b in ((low, high), (high, low)))

    def at_most(matrix: sp.csr_array, costs: bool = False) -> sp.csr_array:
        """Return rows ``matrix @ direction - cost <= 0``, or without the cost."""
        tops = abs(matrix).max(axis=1).toarray().ravel() if matrix.shape[0] else np.zeros(0)
        even = sp.diags_array(1.0 / np.where(tops > 0, tops, 1.0), format="csr")
        paid = -even if costs else sp.csr_array((matrix.shape[0], kinked.size))
        return sp.hstack([even @ matrix, paid], format="csr")

    inequalities = sp.vstack(
        [
            at_most(sp.diags_array(below) @ Z[kinked], costs=True),
            at_most(sp.diags_array(above) @ Z[kinked], costs=True),
            at_most(Z[np.isposinf(high)]),
            at_most(-Z[np.isneginf(low)]),
            at_most(-in_units(rows.A)),
            at_most(-in_units(epigraph.above)),
        ],
        format="csr",
    )
    cost = np.concatenate([epigraph.linear, np.ones(kinked.size)])
    straight = np.flatnonzero(low == high)
    cost[:wide] += Z[straight].T @ low[straight]
    lowest, highest = np.full(cost.size, -np.inf), np.full(cost.size, np.inf)
    fixed = columns.rho > 0
    lowest[:d] = np.where(np.isfinite(columns.lower) | fixed, 0.0, -1.0)
    highest[:d] = np.where(np.isfinite(columns.upper) | fixed, 0.0, 1.0)
    equal = sp.hstack([in_units(rows.E), sp.csr_array((rows.f.size, kinked.size))])
    found = linprog(
        cost,
        A_ub=inequalities,
        b_ub=np.zeros(inequalities.shape[0]),
        A_eq=equal,
        b_eq=np.zeros(rows.f.size),
        bounds=np.column_stack([lowest, highest]),
        method="highs",
    )
    return np.asarray(found.x[:d]) if found.x is not None and found.fun < 0.0 else None


def _cone(problem: Problem, low: Vector, high: Vector, unit: Vector) -> Region:
    """Return the directions, in `unit`, along which no constraint and no loss is ever infinite."""
    X, columns = sp.csr_array(problem.design.X), problem.columns
    rows = problem.terms.given.rows  # with bounds as bounds, which a direction meets exactly
    cannot_rise, cannot_fall = np.isposinf(high), np.isneginf(low)
    kept = cannot_rise & cannot_fall
    units = sp.diags_array(unit)
    A = sp.vstack([sp.csr_array(rows.A), X[cannot_fall & ~kept], -X[cannot_rise & ~kept]])
    E = sp.vstack([sp.csr_array(rows.E), X[kept]])
    fixed = columns.rho > 0
    return Region(
        ConstraintRows(
            A=sp.csr_array(A @ units),
            c=np.zeros(A.shape[0]),
            E=sp.csr_array(E @ units),
            f=np.zeros(E.shape[0]),
            lower=np.where(np.isfinite(rows.lower) | fixed, 0.0, -np.inf),
            upper=np.where(np.isfinite(rows.upper) | fixed, 0.0, np.inf),
        )
    )


def _falls(problem: Problem, d: Vector, low: Vector, high: Vector) -> bool:
    """Whether the direction keeps the constraints and the slope at infinity is negative."""
    rows, columns = problem.constraint_rows, problem.columns
    if (d[np.isfinite(rows.lower)] < 0).any() or (d[np.isfinite(rows.upper)] > 0).any():
        return False
    if bool(np.any((columns.rho > 0) & (d != 0))) and problem.is_separable:
        return False
    matrix, _, is_equality = problem.terms.region.stacked
    value, size = matrix.dot(d), abs(matrix.X) @ np.abs(d)
    missing = np.where(is_equality, np.abs(value), -value)
    if (missing > _ROUNDING_SHARE * size).any():
        return False
    X = problem.design.X
    z, size = X @ d, abs(X) @ np.abs(d)
    slope = np.where(z > 0, high, low)
    flat = np.abs(z) <= _ROUNDING_SHARE * size
    if (~np.isfinite(slope) & ~flat).any():
        return False
    slope = np.where(np.isfinite(slope), slope, 0.0)
    # A norm, or absolute values: columns whose squares are penalised do not move.
    terms = np.append(slope * z, problem.penalty_value(d))
    return bool(terms.sum() < -_CLEAR_SLOPE_SHARE * np.abs(terms).sum())
