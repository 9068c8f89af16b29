"""Squares of matrices and Cholesky factors, straight from BLAS and LAPACK.

Everything here works in single and in double precision, whatever its matrices are in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from rectiline._polling import checkpoint

Vector = NDArray[np.float64]
Matrix = NDArray[Any]

__all__ = ["FactorError", "Workspace", "add_square", "cholesky", "forward", "solve_with"]

_SQUARE = {"d": blas.dsyrk, "f": blas.ssyrk}
_CHOLESKY = {"d": lapack.dpotrf, "f": lapack.spotrf}
_SOLVE = {"d": lapack.dpotrs, "f": lapack.spotrs}
_FORWARD = {"d": (blas.dtrsv, blas.dtrsm), "f": (blas.strsv, blas.strsm)}


class FactorError(ArithmeticError):
    """The matrix is not positive definite in floating point."""


class Workspace:
    """Memory for large matrices that is used again by every step: fresh pages cost time."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Matrix] = {}

    def matrix(self, name: str, n_rows: int, n_columns: int, dtype: Any = np.float64) -> Matrix:
        """Return a matrix in column order with any content; the last one of this name is gone."""
        size, key = n_rows * n_columns, (name, np.dtype(dtype).char)
        held = self._held.get(key)
        if held is None or held.size < size:
            held = self._held[key] = np.empty(size, dtype=dtype)
        return held[:size].reshape((n_rows, n_columns), order="F")


def add_square(tall: Matrix, matrix: Matrix, first: bool) -> None:
    """Add ``tall'tall`` to the lower triangle of a matrix in column order, or set it to that."""
    if not tall.size:
        if first:
            matrix[:] = 0.0
        return
    by_columns = tall.flags.f_contiguous
    checkpoint(products=0.5 * tall.size * matrix.shape[0])
    _SQUARE[tall.dtype.char](
        1.0,
        tall if by_columns else tall.T,
        0.0 if first else 1.0,
        matrix,
        trans=int(by_columns),
        lower=1,
        overwrite_c=1,
    )


def cholesky(matrix: Matrix) -> Matrix:
    """Return the lower factor, using the matrix up.

    Only the lower triangle is read if the matrix is in column order, and the upper one if it is
    in row order. There is no need to scale it first: that would not change a digit that counts.
    """
    if not matrix.size:
        return matrix
    checkpoint(products=matrix.shape[0] ** 3 / 6)
    # A symmetric matrix in C order is its own transpose in the order that LAPACK reads.
    if not matrix.flags.f_contiguous:
        matrix = matrix.T
    factor, info = _CHOLESKY[matrix.dtype.char](matrix, lower=1, clean=0, overwrite_a=1)
    if info != 0 or not np.isfinite(factor.diagonal()).all():
        raise FactorError
    return np.asarray(factor)


def solve_with(factor: Matrix, v: Matrix) -> Vector:
    """Return the solution given the factor of `cholesky`."""
    if not factor.size:
        return np.zeros(v.shape)
    found = _SOLVE[factor.dtype.char](factor, v, lower=1)[0]
    return np.asarray(found, dtype=np.float64).reshape(v.shape)


def forward(factor: Matrix, v: Matrix, transposed: bool = False) -> Matrix:
    """Return ``L^-1 v``, or ``L'^-1 v``; a matrix v in column order is used up."""
    if not v.size:
        return v
    vector, matrix = _FORWARD[factor.dtype.char]
    if v.ndim == 1:
        return np.asarray(vector(factor, v, lower=1, trans=int(transposed)))
    checkpoint(products=0.5 * v.size * factor.shape[0])
    return np.asarray(matrix(1.0, factor, v, lower=1, trans_a=int(transposed), overwrite_b=1))
