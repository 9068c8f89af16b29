"""The normal equations of a step, ``(diag(diagonal) + R'W R) x = v + R'r``.

R stacks all rows, W their weights. Two ways to solve them: a Cholesky factor of the matrix itself,
or, with more columns than rows, one of the size of the rows. In the second the two parts of the
right-hand side are kept apart: with ``s = W R x - r`` the equations are ``diagonal x + R's = v``
and ``R x - s/W = r/W``, and eliminating x loses no digits however small the diagonal is, as long
as v is small with it. Columns where it is not (active ones under an L1 penalty, the intercept) are
kept explicit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rectiline.solvers.interior.blocks import Block
from rectiline.solvers.interior.rows import UnitRows

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Factor", "FactorError", "factorise"]

_EXPLICIT = 1e-2  # columns whose diagonal is a smaller share of the usual one are kept explicit


class FactorError(ArithmeticError):
    """The matrix is not positive definite in floating point."""


class Factor(Protocol):
    """A factorisation."""

    def solve(self, v: Vector, r: list[Vector] | None = None) -> tuple[Vector, list[Vector | None]]:
        """Return x and, where it comes with x, ``s = W R x - r``; one r and s for each block."""


def cholesky(matrix: Matrix) -> Matrix:
    """Return the lower factor, using the matrix up."""
    # A symmetric matrix in C order is its own transpose in the order that LAPACK reads.
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info != 0 or not np.isfinite(factor.diagonal()).all():
        raise FactorError
    return np.asarray(factor)


def solve_with(factor: Matrix, v: Vector | Matrix) -> Vector:
    """Return the solution given the factor of `cholesky`."""
    return np.asarray(lapack.dpotrs(factor, v, lower=1)[0]).reshape(v.shape)


class ColumnFactor:
    """Cholesky factor of the size of the columns."""

    def __init__(self, blocks: Sequence[Block], weights: list[Vector], diagonal: Vector) -> None:
        self.blocks = blocks
        gram = np.zeros((diagonal.size, diagonal.size))
        for block, weight in zip(blocks, weights, strict=True):
            block.rows.add_gram(weight, gram)
        gram[np.diag_indices_from(gram)] += diagonal
        # Unit diagonal: the factor is then as good as the best scaling of the columns allows.
        self.scale = 1.0 / np.sqrt(gram.diagonal())
        gram *= self.scale
        gram *= self.scale[:, None]
        self.factor = cholesky(gram)

    def solve(self, v: Vector, r: list[Vector] | None = None) -> tuple[Vector, list[Vector | None]]:
        """Return x alone: s is found by multiplication."""
        if r is not None:
            v = v + sum(block.rows.tdot(part) for block, part in zip(self.blocks, r, strict=True))
        return self.scale * solve_with(self.factor, self.scale * v), [None] * len(self.blocks)


class RowFactor:
    """Cholesky factor of the size of the rows that are not single coefficients."""

    def __init__(self, blocks: Sequence[Block], weights: list[Vector], diagonal: Vector) -> None:
        diagonal = diagonal.copy()
        self.is_wide = [not isinstance(block.rows, UnitRows) for block in blocks]
        self.blocks = blocks
        for block, weight in zip(blocks, weights, strict=True):
            if isinstance(block.rows, UnitRows):
                diagonal[block.rows.index] += weight
        self.rows: list[Any] = [
            block.rows for block, wide in zip(blocks, self.is_wide, strict=True) if wide
        ]
        self.weight = np.concatenate(
            [weight for weight, wide in zip(weights, self.is_wide, strict=True) if wide]
        )
        self.explicit = _explicit(diagonal, self.weight.size)
        rest = diagonal.copy()
        rest[self.explicit] = np.inf
        self.inverse = 1.0 / rest
        self._factorise(self._kernel(), diagonal[self.explicit])

    def _factorise(self, kernel: Matrix, diagonal: Vector) -> None:
        """Factorise ``[[K, -C], [C', D]]``: s and the explicit columns, D their diagonal.

        Eliminating s as well would square the condition of C, which is nearly square at a vertex.
        """
        size = kernel.diagonal().copy()
        if not self.explicit.size:
            self.scale = 1.0 / np.sqrt(size)
            kernel *= self.scale
            kernel *= self.scale[:, None]
            self.factor = cholesky(kernel)
            return
        columns = np.vstack([rows.columns(self.explicit) for rows in self.rows])
        size = np.append(size, diagonal + (1.0 / size) @ columns**2)
        matrix = np.empty((size.size, size.size), order="F")
        n = kernel.shape[0]
        matrix[:n, :n], matrix[:n, n:] = kernel, -columns
        matrix[n:, :n], matrix[n:, n:] = columns.T, np.diag(diagonal)
        self.scale = 1.0 / np.sqrt(size)
        matrix *= self.scale
        matrix *= self.scale[:, None]
        self.factor, self.pivots, info = lapack.dgetrf(matrix, overwrite_a=1)
        if info != 0 or not np.isfinite(self.factor.diagonal()).all():
            raise FactorError

    def _kernel(self) -> Matrix:
        sizes = [rows.size for rows in self.rows]
        ends = np.cumsum([0, *sizes])
        kernel = np.zeros((ends[-1], ends[-1]))
        for i, one in enumerate(self.rows):
            kernel[ends[i] : ends[i + 1], ends[i] : ends[i + 1]] = one.kernel(self.inverse)
            for j in range(i):
                # The later blocks are the few constraint rows: one product for each.
                for k in range(one.size):
                    unit = np.zeros(one.size)
                    unit[k] = 1.0
                    line = self.rows[j].dot(self.inverse * one.tdot(unit))
                    kernel[ends[i] + k, ends[j] : ends[j + 1]] = line
                    kernel[ends[j] : ends[j + 1], ends[i] + k] = line
        kernel[np.diag_indices_from(kernel)] += 1.0 / self.weight
        return kernel

    def _dot(self, v: Vector) -> Vector:
        return np.concatenate([rows.dot(v) for rows in self.rows])

    def _tdot(self, v: Vector) -> Vector:
        total, first = np.zeros(self.inverse.size), 0
        for rows in self.rows:
            total += rows.tdot(v[first : first + rows.size])
            first += rows.size
        return total

    def solve(self, v: Vector, r: list[Vector] | None = None) -> tuple[Vector, list[Vector | None]]:
        """Return x, and s for the rows that are not single coefficients."""
        if r is not None:
            v = v.copy()
            for block, part, wide in zip(self.blocks, r, self.is_wide, strict=True):
                if not wide:
                    v += block.rows.tdot(part)
        image = self._dot(self.inverse * v)
        if r is not None:
            parts = [part for part, wide in zip(r, self.is_wide, strict=True) if wide]
            image -= np.concatenate(parts) / self.weight
        n = image.size
        if self.explicit.size:
            right = self.scale * np.append(image, v[self.explicit])
            both = self.scale * lapack.dgetrs(self.factor, self.pivots, right)[0]
            s, own = both[:n], both[n:]
        else:
            s = self.scale * solve_with(self.factor, self.scale * image)
        x = self.inverse * (v - self._tdot(s))
        if self.explicit.size:
            x[self.explicit] = own
        pieces = iter(np.split(s, np.cumsum([rows.size for rows in self.rows])[:-1]))
        return x, [next(pieces) if wide else None for wide in self.is_wide]


def _explicit(diagonal: Vector, n_rows: int) -> NDArray[np.intp]:
    """Return the columns whose diagonal is much smaller than usual.

    At a vertex as many columns as rows are active and have a vanishing diagonal, so the usual size
    is that of the next larger one.
    """
    usual = np.partition(diagonal, n_rows)[n_rows]
    return np.flatnonzero(diagonal < _EXPLICIT * usual)


def factorise(
    blocks: Sequence[Block], weights: list[Vector], diagonal: Vector, by_rows: bool
) -> Factor:
    """Return a factorisation; raise FactorError when the matrix is not positive definite."""
    return (RowFactor if by_rows else ColumnFactor)(blocks, weights, diagonal)
