"""Singular values and left vectors of a matrix with one long side, for `SharedSubspace`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rectiline._typing import Matrix

_ENTRIES_PER_COPY = 1 << 17  # entries of a matrix that are copied at a time


class LeftFactor:
    """The decomposition ``A = V diag(sizes) Z'`` as far as it is asked for.

    The triangle of a QR decomposition, updated block by block, has the singular values of A and the
    vectors of its short side. Those of a long left side are A times them.

    Attributes
    ----------
    sizes : ndarray of shape (min(A.shape),)
        Singular values, the largest first.

    Examples
    --------
    >>> factor = LeftFactor(np.array([[3.0], [4.0]]))
    >>> factor.sizes
    array([5.])
    >>> np.abs(factor.vectors(np.array([True])).ravel())
    array([0.6, 0.8])
    """

    def __init__(self, A: Matrix) -> None:
        self._A, self._is_tall = A, A.shape[0] > A.shape[1]
        self._short, self.sizes, _ = np.linalg.svd(_triangle(A if self._is_tall else A.T).T)

    def vectors(self, kept: NDArray[np.bool_]) -> Matrix:
        """Return some left singular vectors, orthonormal to rounding."""
        if not self._is_tall:
            return np.ascontiguousarray(self._short[:, kept])
        if not kept.any():
            return np.zeros((self._A.shape[0], 0))
        # Vectors of small singular values inherit errors along those of large ones, which
        # orthogonalisation takes out again; in place, by columns as LAPACK wants them.
        scaled = self._short[:, kept] / np.maximum(self.sizes[kept], 1e-300)
        vectors = (scaled.T @ self._A.T).T
        basis, corner = linalg.qr(vectors, mode="economic", overwrite_a=True, check_finite=False)
        basis *= np.where(np.diag(corner) < 0, -1.0, 1.0)
        return np.asarray(basis)

    def overlaps(self, basis: Matrix, kept: NDArray[np.bool_]) -> Matrix:
        """Return the inner products of some left singular vectors (rows) with a basis."""
        if not self._is_tall:
            return np.asarray(self._short[:, kept].T @ basis)
        return np.asarray(((self._A.T @ basis).T @ (self._short[:, kept] / self.sizes[kept])).T)


def _triangle(A: Matrix) -> Matrix:
    """Return the triangle of the QR decomposition of a tall matrix, a block of rows at a time."""
    n, m = A.shape
    rows = max(4 * m, _ENTRIES_PER_COPY // max(m, 1))
    if n <= 2 * rows:
        return np.asarray(np.linalg.qr(A, mode="r"))
    triangle = np.zeros((0, m))
    for first in range(0, n, rows):
        block = np.concatenate([triangle, A[first : first + rows]])
        triangle = np.asarray(np.linalg.qr(block, mode="r"))
    return triangle


def column_blocks(d: int, m: int) -> list[slice]:
    """Return slices of columns of a d x m matrix that are cheap to copy."""
    width = max(1, _ENTRIES_PER_COPY // max(d, 1))
    return [slice(first, min(first + width, m)) for first in range(0, m, width)]
