"""Squares of matrices and Cholesky factors, straight from BLAS and LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from rectiline._polling import checkpoint
from rectiline._typing import Matrix, Vector

__all__ = ["FactorError", "add_square", "cholesky", "forward", "solve_with"]


class FactorError(ArithmeticError):
    """The matrix is not positive definite in floating point."""


def add_square(tall: Matrix, matrix: Matrix) -> Matrix:
    """Return the sum of ``tall'tall`` and the lower triangle of a matrix in column order."""
    if not tall.size:
        return matrix
    checkpoint(products=0.5 * tall.size * matrix.shape[0])
    transposed = tall if tall.flags.f_contiguous else tall.T
    trans = int(tall.flags.f_contiguous)
    return np.asarray(blas.dsyrk(1.0, transposed, 1.0, matrix, trans=trans, lower=1, overwrite_c=1))


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
    factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if info != 0 or not np.isfinite(factor.diagonal()).all():
        raise FactorError
    return np.asarray(factor)


def solve_with(factor: Matrix, v: Vector) -> Vector:
    """Return the solution given the factor of `cholesky`."""
    return np.asarray(lapack.dpotrs(factor, v, lower=1)[0]) if factor.size else np.zeros(v.shape)


def forward(factor: Matrix, v: Any, transposed: bool = False) -> Matrix:
    """Return ``L^-1 v``, or ``L'^-1 v``; a matrix v in column order is used up."""
    if not v.size:
        return np.asarray(v)
    if v.ndim == 1:
        return np.asarray(blas.dtrsv(factor, v, lower=1, trans=int(transposed)))
    checkpoint(products=0.5 * v.size * factor.shape[0])
    return np.asarray(blas.dtrsm(1.0, factor, v, lower=1, trans_a=int(transposed), overwrite_b=1))
