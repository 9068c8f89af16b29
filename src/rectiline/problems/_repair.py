"""Coefficients near given ones that satisfy the constraints, for `Region`.

They move by the shortest step onto the rows that were ever violated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy import sparse as sp
from scipy.sparse.linalg import lsqr

from rectiline._typing import AnyMatrix, Mask, Vector
from rectiline.constraints import ConstraintRows
from rectiline.problems._feasibility import StackedRows

_PRIMAL_ROUNDS = 60
# Share of the violation that a round on the same rows and columns may leave.
_MOST_VIOLATION_LEFT = 0.5
_ROUNDING = 4e-16  # of the terms of a row
_MOST_DENSE_ENTRIES = 20_000_000  # of the active constraint rows


def move_into_constraints(coef: Vector, rows: ConstraintRows, stacked: StackedRows) -> Vector:
    """Return coefficients near `coef` that satisfy the constraints, as far as this method can.

    Clipping to the bounds comes first; it is all there is to do without rows.
    """
    coef = np.clip(coef, rows.lower, rows.upper)
    if not stacked.offset.size:
        return coef
    (design, offset, _), equal = stacked, stacked.is_equality > 0
    active = equal.copy()
    fixed = np.zeros(coef.size, dtype=bool)  # columns that stay at a bound they ran into
    best, best_violation = coef, np.inf
    idle = False  # whether the last round had the same rows and columns as the one before
    for _ in range(_PRIMAL_ROUNDS):
        value, missing = stacked.values(coef), stacked.missing(coef)
        rounding = _ROUNDING * (abs(design.X) @ np.abs(coef) + np.abs(offset))
        violation = float(missing.max())
        idle = idle and not violation < _MOST_VIOLATION_LEFT * best_violation
        if violation < best_violation:
            best, best_violation = coef, violation
        if idle or not (missing > rounding).any():  # what is left is rounding
            break
        held = active.sum() + fixed.sum()
        active |= value < 0
        # Slightly more than needed: products rounded another way should find no violation again.
        wanted = np.where(equal, 0.0, rounding) - value
        step = _least_norm(design.X[active], wanted[active], ~fixed)
        moved = np.clip(coef + step, rows.lower, rows.upper)
        fixed |= moved != coef + step
        idle = held == active.sum() + fixed.sum()
        coef = moved
    return best


def _least_norm(rows: AnyMatrix, wanted: Vector, movable: Mask) -> Vector:
    """Return the shortest step with ``rows @ step = wanted`` that moves only `movable` columns."""
    step = np.zeros(movable.size)
    if sp.issparse(rows) and rows.shape[0] * rows.shape[1] > _MOST_DENSE_ENTRIES:
        step[movable] = lsqr(rows[:, movable], wanted, atol=1e-15, btol=1e-15)[0]
        return step
    dense = np.asarray(rows.toarray() if sp.issparse(rows) else rows)[:, movable]
    step[movable] = _by_row_products(dense, wanted)
    return step


def _by_row_products(rows: NDArray[np.float64], wanted: Vector) -> Vector:
    """Return the shortest solution of ``rows @ step = wanted``, by a factor of the rows' products.

    Rows that depend on one another have none: then by singular values, which cost much more.
    """
    factor, info = linalg.lapack.dpotrf(rows @ rows.T, lower=1)
    if info == 0:
        step = rows.T @ linalg.lapack.dpotrs(factor, wanted, lower=1)[0]
        # The products square the condition of the rows: one round on what is left makes up for it.
        step += rows.T @ linalg.lapack.dpotrs(factor, wanted - rows @ step, lower=1)[0]
        left = float(np.max(np.abs(wanted - rows @ step), initial=0.0))
        if left <= 1e-13 * float(np.max(np.abs(wanted), initial=0.0)):
            return np.asarray(step)
    return np.asarray(np.linalg.lstsq(rows, wanted, rcond=1e-13)[0])
