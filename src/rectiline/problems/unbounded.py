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
    size = np.sqrt(problem.design.column_squares(np.ones(problem.n_samples)))
    # Of each coefficient, so that columns have norms near 1; powers of two round nothing.
    unit = np.ldexp(1.0, -np.frexp(np.where(size > 0, size, 1.0))[1])
    cone = _cone(problem, unit)
    direction = _steepest(problem, cone.rows, unit)
    if direction is None:
        return None
    # Small entries may be meant to be zero, or tied to larger ones.
    for least in (_LOOSE_ZERO, 0.0):
        is_small = np.abs(direction) < least * np.abs(direction).max()
        tidy: Vector = unit * cone.move_into(np.where(is_small, 0.0, direction))
        tidy /= np.abs(tidy).max()
        if cone.violation(tidy / unit)[1] <= _ROUNDING_SHARE and _falls(problem, tidy):
            return tidy
    return None


def _cone(problem: Problem, unit: Vector) -> Region:
    """Return the directions, in `unit`, along which no constraint and no loss is ever infinite."""
    X, (low, high) = sp.csr_array(problem.design.X), problem.dual_boxes
    rows = problem.terms.given.rows  # with bounds as bounds, which a direction meets exactly
    cannot_rise, cannot_fall = np.isposinf(high), np.isneginf(low)
    kept = cannot_rise & cannot_fall
    units = sp.diags_array(unit)
    A = sp.vstack([sp.csr_array(rows.A), X[cannot_fall & ~kept], -X[cannot_rise & ~kept]])
    E = sp.vstack([sp.csr_array(rows.E), X[kept]])
    fixed = problem.columns.rho > 0
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


def _steepest(problem: Problem, cone: ConstraintRows, unit: Vector) -> Vector | None:
    """Return the direction in cone and unit cube with the least slope at infinity, if negative.

    Rows of X, absolute values of coefficients and capped rows of the penalty all cost ``low z`` or
    ``high z``, whichever is larger, for their product z with the direction. Columns of the linear
    program: the direction, in `unit`, with the further columns of the penalty, then these costs.
    """
    form = EpigraphForm.apply(problem)
    epigraph, l1, d = form.epigraph, form.columns.l1, unit.size
    width = epigraph.n_columns
    units = sp.diags_array(np.append(unit, np.ones(width - d)))
    absolute = sp.eye_array(d, width, format="csr")
    parts = [_padded(problem.design.X, width), absolute, epigraph.capped]
    Z = sp.vstack(parts, format="csr") @ units
    nothing, (low, high) = np.zeros(epigraph.cap.size), problem.dual_boxes
    low, high = np.concatenate([low, -l1, nothing]), np.concatenate([high, l1, epigraph.cap])
    kinked = np.flatnonzero((low != high) & (np.isfinite(low) | np.isfinite(high)))
    # Rows whose one slope is infinite may only move the other way, at a cost.
    below, above = (np.where(np.isfinite(a), a, b)[kinked] for a, b in ((low, high), (high, low)))
    costs = [_even(sp.diags_array(slope) @ Z[kinked], has_costs=True) for slope in (below, above)]
    held = [_even(_padded(-cone.A, width)), _even(-epigraph.above @ units)]
    inequalities = sp.vstack([*costs, *(_padded(rows, width + kinked.size) for rows in held)])
    cost = np.concatenate([epigraph.linear, np.ones(kinked.size)])
    straight = np.flatnonzero(low == high)
    cost[:width] += Z[straight].T @ low[straight]
    lowest, highest = np.full(cost.size, -np.inf), np.full(cost.size, np.inf)
    lowest[:d], highest[:d] = np.maximum(cone.lower, -1.0), np.minimum(cone.upper, 1.0)
    found = linprog(
        cost,
        A_ub=inequalities,
        b_ub=np.zeros(inequalities.shape[0]),
        A_eq=_padded(cone.E, cost.size),
        b_eq=cone.f,
        bounds=np.column_stack([lowest, highest]),
        method="highs",
    )
    return np.asarray(found.x[:d]) if found.x is not None and found.fun < 0.0 else None


def _padded(matrix: Any, width: int) -> sp.csr_array:
    """Return the matrix with columns of zeros on the right."""
    blank = sp.csr_array((matrix.shape[0], width - matrix.shape[1]))
    return sp.csr_array(sp.hstack([sp.csr_array(matrix), blank]))


def _even(matrix: sp.csr_array, has_costs: bool = False) -> sp.csr_array:
    """Return rows whose largest entry is one, less a cost for each of them if there are some."""
    tops = abs(matrix).max(axis=1).toarray().ravel() if matrix.shape[0] else np.zeros(0)
    even = sp.diags_array(1.0 / np.where(tops > 0, tops, 1.0), format="csr")
    return sp.csr_array(sp.hstack([even @ matrix, -even]) if has_costs else even @ matrix)


def _falls(problem: Problem, direction: Vector) -> bool:
    """Whether the slope at infinity is negative along a direction in the cone."""
    z, (low, high) = problem.design.X @ direction, problem.dual_boxes
    slope = np.where(z > 0, high, low)
    slope = np.where(np.isfinite(slope), slope, 0.0)  # such rows move by rounding alone
    # A norm, or absolute values: columns whose squares are penalised do not move.
    terms = np.append(slope * z, problem.penalty_value(direction))
    return bool(terms.sum() < -_CLEAR_SLOPE_SHARE * np.abs(terms).sum())
