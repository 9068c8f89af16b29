"""Normal equations of many sparse columns, and how well they are conditioned; for `_balance`.

Nothing here is dense in the number of columns. That exact multipliers exist near given ones is
shown by a bound on the smallest eigenvalue of ``N = M'M``, where M holds the columns weighted by
the room w_i that the boxes leave and scaled to norm one: with ``d = diag(w) M u`` and
``N u = r`` the columns balance exactly, and ``|M u|^2 = r' N^-1 r <= |r|^2 / lambda``, so that
``|d_i| <= w_i |r| / sqrt(lambda)``. If ``N - s I = L D L' + R`` with D > 0, then
``lambda >= s - |R|`` (as in Rump, "Verification of positive definiteness", BIT 46, 2006).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.sparse.linalg import splu

from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.problems.proof._numbers import UNIT, gamma, norm_of

__all__ = ["SparseNormalSystem"]

_RIDGE = 1e-14  # added to the diagonal of ones, as for dense columns
_POWER_STEPS = 6  # of the inverse iteration that estimates the smallest eigenvalue
_SHARES_TO_PROVE = (0.5, 0.1)  # of that estimate


class SparseNormalSystem:
    """``Z' diag(weight) Z`` for sparse Z, with a column of ones last if there is an intercept."""

    def __init__(self, X: Any, intercept: bool) -> None:
        ones = sp.csr_array(np.ones((X.shape[0], 1)))
        self._Z = sp.csr_array(sp.hstack([X, ones]) if intercept else X, dtype=np.float64)

    def solve(self, weight: Vector, right: Vector) -> Vector | None:
        """Return a solution of the normal equations, or None if there is none."""
        M, size = self._scaled(np.sqrt(weight))
        if M is None:
            return None
        try:
            factor = _factor(_identity(size.size, _RIDGE) + M.T @ M)
        except RuntimeError:  # exactly singular
            return None
        return np.asarray(factor.solve(right / size) / size)

    def exact_moves(
        self, sample: Vector, low: Vector, high: Vector, left: Vector
    ) -> tuple[Indices, Vector, float] | None:
        """Return rows, bounds on their moves and on the norm of all of them, as `Moves` has them.

        None if no moves could be shown to balance what is `left`.
        """
        ends = sum(np.where(np.isfinite(one), np.abs(one), 0.0) for one in (low, high))
        # The ends have been rounded.
        room = 0.5 * np.minimum(sample - low, high - sample) - 4 * UNIT * ends
        rows = np.flatnonzero(room > 0)
        if rows.size < left.size or not np.isfinite(left).all():
            return None
        finite = room[rows][np.isfinite(room[rows])]
        most = float(np.max(finite, initial=0.0)) or max(norm_of(sample), 1.0)
        weight = np.zeros(sample.size)
        weight[rows] = np.minimum(room[rows], most) / most
        M, size = self._scaled(weight)
        least = 0.0 if M is None else _smallest_eigenvalue(M)
        if not least > 0.0:
            return None
        norm = norm_of(left / size) * (1 + 8 * UNIT) / math.sqrt(least) * (1 + 8 * UNIT)
        by = weight[rows] * (norm * (1 + 8 * UNIT))
        return (rows, by, norm) if (by <= room[rows]).all() else None

    def _scaled(self, weight: Vector) -> tuple[Any, Vector]:
        """Return ``diag(weight) Z`` with columns of norm one, and the norms; None without them."""
        checkpoint()
        M = sp.csc_array(sp.dia_array((weight[None], [0]), shape=(weight.size,) * 2) @ self._Z)
        size = np.sqrt(np.asarray(M.multiply(M).sum(axis=0)).ravel())
        if not (size.size and size.min() > 1e-150 and size.max() < np.inf):
            return None, size
        M.data /= np.repeat(size, np.diff(M.indptr))
        return M, size


def _identity(order: int, factor: float) -> Any:
    return sp.csc_array(sp.dia_array((np.full((1, order), factor), [0]), shape=(order, order)))


def _factor(matrix: Any) -> Any:
    """Return a factor with pivots on the diagonal, which keeps symmetric matrices symmetric."""
    checkpoint()
    options = {"SymmetricMode": True}
    return splu(
        sp.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options
    )


def _smallest_eigenvalue(M: Any) -> float:
    """Return a lower bound on the smallest eigenvalue of ``M'M``; not positive if it is unknown."""
    N, sizes = sp.csc_array(M.T @ M), abs(M)
    order, ones = N.shape[0], np.ones(M.shape[1])
    # Entries of M are rounded, and so are the sums of their products.
    terms = int(np.diff(M.indptr).max(initial=0))
    formed = gamma(terms + 8) * float((sizes.T @ (sizes @ ones)).max()) * (1 + gamma(M.nnz))
    try:
        factor, vector = _factor(N + _identity(order, UNIT)), ones / math.sqrt(order)
        for _ in range(_POWER_STEPS):
            vector = factor.solve(vector)
            estimate = 1.0 / float(np.linalg.norm(vector))
            vector *= estimate
        for share in _SHARES_TO_PROVE:
            shift = share * estimate
            missed = _distance_from_definite(sp.csc_array(N - _identity(order, shift)))
            if missed + formed < 0.5 * shift:
                return (shift - missed - formed) * (1 - 8 * UNIT)
    except RuntimeError:  # exactly singular
        pass
    return 0.0


def _distance_from_definite(A: Any) -> float:
    """Return a bound on the norm of ``A - L D L'`` for its factors, infinite unless D > 0."""
    factor = _factor(A)
    pivots, order = factor.U.diagonal(), A.shape[0]
    if not (np.array_equal(factor.perm_r, factor.perm_c) and (pivots > 0).all()):
        return math.inf
    place = np.argsort(factor.perm_c)
    L, D = sp.csr_array(factor.L), sp.dia_array((pivots[None], [0]), shape=A.shape)
    miss = abs(A[place][:, place] - (L @ D) @ L.T)
    sizes, ones = abs(L), np.ones(order)
    # Each entry of the product is a sum of at most `order` terms.
    terms = int(np.diff(L.indptr).max(initial=0))
    size = sizes @ (pivots * (sizes.T @ ones)) + abs(A) @ ones
    bound = miss @ ones + gamma(terms + 8) * size
    return float(bound.max()) * (1 + gamma(order + L.nnz))
