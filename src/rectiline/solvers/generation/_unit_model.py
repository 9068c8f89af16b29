"""The quadratic model over units: a diagonal plus a low-rank part that lives on samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["UnitModel"]


class UnitModel:
    """The matrix ``diag(diagonal) + S F F'S'`` over units, S the signs on the units' rows."""

    def __init__(
        self, row: Indices, sign: Vector, diagonal: Vector, factor: NDArray[np.float64]
    ) -> None:
        self._row, self._sign, self._diagonal, self._factor = row, sign, diagonal, factor
        self._gram: NDArray[np.float64] | None = None

    def product(self, move: Vector) -> Vector:
        """Return the matrix times `move`."""
        slopes = np.bincount(self._row, self._sign * move, minlength=self._factor.shape[0])
        image = self._factor @ (self._factor.T @ slopes)
        return np.asarray(self._diagonal * move + self._sign * image[self._row])

    def solve(self, free: NDArray[np.bool_], right: Vector) -> Vector:
        """Return the solution on the free units, in the smaller of the two dimensions."""
        row, sign, diagonal = self._row[free], self._sign[free], self._diagonal[free]
        k = self._factor.shape[1]
        if k < row.size:
            # Units on one row share it: their weights add up.
            n = self._factor.shape[0]
            weight = np.bincount(row, 1.0 / diagonal, minlength=n)
            used = np.flatnonzero(weight)
            part = self._factor[used] * np.sqrt(weight[used])[:, None]
            small = part.T @ part
            small.flat[:: k + 1] += 1.0
            scaled = np.bincount(row, sign * right / diagonal, minlength=n)
            core = _solved(small, self._factor.T @ scaled)
            return np.asarray((right - sign * (self._factor @ core)[row]) / diagonal)
        if self._gram is None:
            self._gram = self._factor @ self._factor.T
        full = self._gram[np.ix_(row, row)] * (sign[:, None] * sign)
        full.flat[:: row.size + 1] += diagonal
        return _solved(full, right)


def _solved(matrix: NDArray[np.float64], right: Vector) -> Vector:
    """Return the solution of a positive definite system, which is overwritten.

    LAPACK directly: the checks around it would cost more than these small systems.
    """
    if not right.size:  # no cluster moves
        return right
    step = matrix.shape[0] + 1
    matrix.flat[::step] *= 1.0 + 1e-13
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
    if failed:
        matrix.flat[::step] += 1e-8 * np.trace(matrix) / matrix.shape[0]
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
        if failed:
            return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])
    return np.asarray(lapack.dpotrs(factor, right, lower=1)[0])
