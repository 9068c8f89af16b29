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

_PRIMAL_ROUNDS = 60
_GAIN = 0.5  # of the violation, that a round on the same rows and columns leaves at most
_ROUNDING = 4e-16  # of the terms of a row
_DENSE_LIMIT = 20_000_000  # entries of the active constraint rows that may be made dense


def move_into_constraints(coef: Vector, rows: ConstraintRows) -> Vector:
    """Return coefficients near `coef` that satisfy the constraints, as far as this method can.

    Clipping to the bounds comes first; it is all there is to do without rows.
    """
    A, c, E, f = rows.A, rows.c, rows.E, rows.f
    coef = np.clip(coef, rows.lower, rows.upper)
    if c.size + f.size == 0:
        return coef
    active = np.zeros(c.size, dtype=bool)
    fixed = np.zeros(coef.size, dtype=bool)  # columns that stay at a bound they ran into
    best, best_violation = coef, np.inf
    idle = False  # whether the last round had the same rows and columns as the one before
    for _ in range(_PRIMAL_ROUNDS):
        slack, miss = A @ coef + c, E @ coef + f
        # Slightly more than needed: products rounded another way should find no violation again.
        margin = _ROUNDING * (abs(A) @ np.abs(coef) + np.abs(c))
        missed = np.abs(miss) > _ROUNDING * (abs(E) @ np.abs(coef) + np.abs(f))
        violation = max(
            float(np.max(-slack, initial=0.0)), float(np.max(np.abs(miss), initial=0.0))
        )
        idle = idle and not violation < _GAIN * best_violation
        if violation < best_violation:
            best, best_violation = coef, violation
        if idle or not (missed.any() or (slack < -margin).any()):  # what is left is rounding
            break
        held = active.sum() + fixed.sum()
        active |= slack < 0
        wanted = np.concatenate([(margin - slack)[active], -miss])
        step = _least_norm([A[active], E], wanted, ~fixed)
        moved = np.clip(coef + step, rows.lower, rows.upper)
        fixed |= moved != coef + step
        idle = held == active.sum() + fixed.sum()
        coef = moved
    return best


def _least_norm(rows: list[AnyMatrix], wanted: Vector, movable: Mask) -> Vector:
    """Return the shortest step with ``rows @ step = wanted`` that moves only `movable` columns."""
    is_sparse = any(sp.issparse(part) for part in rows)
    stacked: AnyMatrix = sp.vstack(rows, format="csr") if is_sparse else np.vstack(rows)
    step = np.zeros(movable.size)
    if is_sparse and stacked.shape[0] * stacked.shape[1] > _DENSE_LIMIT:
        step[movable] = lsqr(stacked[:, movable], wanted, atol=1e-15, btol=1e-15)[0]
        return step
    dense = np.asarray(stacked.toarray() if is_sparse else stacked)[:, movable]
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
