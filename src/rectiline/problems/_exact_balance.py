"""Existence of multipliers that balance free columns exactly; used by `_prove`.

A column without penalty and bounds requires ``q_j = 0``, an intercept requires ``sum_i g_i = 0``.
No multipliers in floating point satisfy this, but exact ones exist nearby: they move by d with
``Z'd = r``, where r is what is left and Z holds the free columns (and a column of ones). A bound on
|d| is all that a certificate needs, because it can charge what such a move may cost.

With a well-conditioned choice of rows and room w_i in their boxes, let ``M = diag(w) Z`` and P a
floating-point approximation of its pseudo-inverse, transposed. If ``|I - M'P| <= rho < 1`` in the
maximum norm, ``d = diag(w) P y`` with ``y = (M'P)^-1 r`` balances exactly, and ``|y| <= |r| /
(1 - rho)``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy import sparse as sp

from rectiline import _core
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.problems._repair import dense_part
from rectiline.problems._rounding import UNIT, Measured, gamma, norm_of

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

__all__ = ["RADIUS", "Balance", "balancing_move", "exact_balance", "size_of_total"]

RADIUS = 1024.0  # see `Certificate.radius`
_ROWS_PER_COLUMN = 4
_FEWEST_ROWS = 64
_MOST_ENTRIES = 20_000_000  # of M where all rows are tried


class Balance(NamedTuple):
    """What an exact balance of free columns and of the intercept takes.

    Attributes
    ----------
    move : ndarray or None
        How far multipliers may have to move; None if they do not.
    row, row_move : int, float
        The only row that moves, and how far; -1 if there is none.
    charge : float
        What is charged where no exact balance was found.
    q_error : ndarray or None
        What the moves may change in q; None for nothing.
    radius : float
    """

    move: Vector | None = None
    row: int = -1
    row_move: float = 0.0
    charge: float = 0.0
    q_error: Vector | None = None
    radius: float = math.inf


def exact_balance(
    problem: Problem,
    b: Vector,
    b0: float,
    sample: Vector,
    free: Indices,
    measured: Measured,
    outside: Indices | None = None,
    excess: Vector | None = None,
) -> Balance:
    """Return what it takes to balance `free` columns and the intercept exactly.

    With `outside`, q moves on these columns as well, by up to `excess`.
    """
    total = size_of_total(measured)
    if not free.size and (outside is None or not outside.size):
        if not problem.fit_intercept or total == 0.0:
            return Balance()
        k = _core.row_inside(problem.rows, sample, 4.0 * total)
        if k >= 0:
            X = problem.design.X
            row = X[[k]].toarray().ravel() if problem.design.is_sparse else X[k]
            sizes = np.abs(np.asarray(row, dtype=np.float64))
            return Balance(row=k, row_move=total, q_error=sizes * (total * (1 + 4 * UNIT)))
        return _charged(problem, b, b0, free, measured)
    left = (np.abs(measured.q.value) + measured.q.error)[free] * (1 + 4 * UNIT)
    columns, residual = free, left
    if outside is not None and outside.size and excess is not None:
        columns, residual = np.append(free, outside), np.append(left, excess)
    move = balancing_move(problem, sample, columns, residual, total)
    if move is not None:
        change = problem.design.norm_bounds.columns * norm_of(move) if move.any() else None
        return Balance(move=move, q_error=change)
    return _charged(problem, b, b0, free, measured)


def _charged(problem: Problem, b: Vector, b0: float, free: Indices, measured: Measured) -> Balance:
    """Return what is charged for columns and an intercept that are not balanced exactly."""
    left = (np.abs(measured.q.value) + measured.q.error)[free]
    charge = float(left @ (RADIUS * np.maximum(np.abs(b), problem.coef_unit)[free]))
    if problem.fit_intercept:
        offset = float(np.max(np.abs(problem.offset), initial=0.0))
        largest = RADIUS * max(abs(b0), offset, problem.argument_scale)
        charge += (abs(measured.total[0]) + measured.total[1]) * largest
    return Balance(charge=charge * (1 + gamma(free.size)), radius=RADIUS)


def size_of_total(measured: Measured) -> float:
    """Return an upper bound on the size of the multipliers' sum; zero without an intercept."""
    value, error = measured.total
    return (abs(value) + error) * (1 + 4 * UNIT)


def balancing_move(
    problem: Problem, sample: Vector, free: Indices, left: Vector, total: float
) -> Vector | None:
    """Return a bound on how far each multiplier has to move for an exact balance.

    Parameters
    ----------
    problem : Problem
    sample : ndarray of shape (n_samples,)
        Multipliers in their boxes.
    free : ndarray of int
        The columns on which q has to be zero.
    left : ndarray
        Upper bounds on ``|q_j|`` on these columns.
    total : float
        Upper bound on ``|sum_i g_i|``; not used without an intercept.

    Returns
    -------
    ndarray of shape (n_samples,), or None if no such move could be shown to exist.
    """
    residual = np.append(left, total) if problem.fit_intercept else left
    low, high = problem.dual_boxes
    if residual.size <= _core.MOST_FREE:
        X, places = dense_part(problem.design, free)
        return _core.balancing_move(
            X.view, places, problem.fit_intercept, sample, low, high, residual
        )
    if not _core.all_finite(residual):
        return None
    move = np.zeros(sample.size)
    if not residual.any():
        return move
    room = 0.5 * np.minimum(sample - low, high - sample)
    inside = np.flatnonzero(room > 0)
    some = max(_FEWEST_ROWS, _ROWS_PER_COLUMN * residual.size)
    for rows in (_roomiest(room, inside, some), inside):
        if rows.size < residual.size or rows.size * residual.size > _MOST_ENTRIES:
            continue
        bound = _moves_on(problem, free, rows, np.minimum(room[rows], 1e150), residual)
        if bound is not None:
            move[rows] = bound
            return move
        if rows.size == inside.size:
            break
    return None


def _roomiest(room: Vector, inside: Indices, count: int) -> Indices:
    """Return the rows with the most room, or evenly spread ones where all have no end."""
    if inside.size <= count:
        return inside
    some = room[inside]
    if some.min() == np.inf:
        return inside[np.linspace(0, inside.size - 1, count).astype(np.intp)]
    return np.sort(inside[np.argpartition(some, -count)[-count:]])


def _moves_on(
    problem: Problem, free: Indices, rows: Indices, room: Vector, residual: Vector
) -> Vector | None:
    """Return the bound for moves of `rows` alone, each by at most its room."""
    X = problem.design.X
    Z = np.ones((rows.size, free.size + problem.fit_intercept))
    Z[:, : free.size] = X[rows][:, free].toarray() if sp.issparse(X) else X[rows[:, None], free]
    largest = float(room.max())
    weight = room / largest if largest < 1e150 else np.ones(rows.size)
    with np.errstate(all="ignore"):
        size = np.sqrt(np.einsum("ij,ij->j", Z, Z))
        if not (size.min() > 1e-150 and size.max() < np.inf):
            return None
        M = weight[:, None] * Z / size
        for invert, cost in ((_by_squares, 3.0), (_by_reflections, 30.0)):
            checkpoint(products=cost * float(M.size) * M.shape[1])
            P = invert(M)
            if P is None:
                continue
            sizes = np.abs(P)
            # Forming M rounds its entries: gamma(8) is part of the error of M'P.
            error = gamma(rows.size + 8) * (np.abs(M).T @ sizes)
            miss = M.T @ P
            miss.flat[:: size.size + 1] -= 1.0
            rho = float((np.abs(miss) + error).sum(axis=1).max())
            if rho < 0.5:
                y = float((residual / size).max()) * (1 + 8 * UNIT) / (1 - 1.01 * rho)
                bound: Vector = weight * sizes.sum(axis=1) * y * (1 + gamma(size.size))
                return bound if (bound <= room).all() else None
    return None


def _by_squares(M: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return ``M (M'M)^-1``: quick, for columns that are not nearly dependent."""
    try:
        return np.asarray(M @ np.linalg.inv(M.T @ M))
    except np.linalg.LinAlgError:
        return None


def _by_reflections(M: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return ``M (M'M)^-1`` from a QR factorisation."""
    Q, R = linalg.qr(M, mode="economic", check_finite=False)
    if not (np.abs(R.diagonal()) > 1e-14).all():
        return None
    return np.asarray(linalg.solve_triangular(R, Q.T, check_finite=False).T)
