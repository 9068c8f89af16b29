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
from rectiline.solvers.interior.linear_algebra import FactorError, cholesky, solve_with
from rectiline.solvers.interior.rows import DataRows, UnitRows
from rectiline.solvers.interior.split import Coupling, Split
from rectiline.solvers.interior.split_factor import SplitFactor

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Factor", "FactorError", "factorise"]

_EXPLICIT = 1e-2  # columns whose diagonal is a smaller share of the usual one are kept explicit
_FEW = 8  # rows per explicit column from which on these may be eliminated last


class Factor(Protocol):
    """A factorisation."""

    @property
    def finds_duals(self) -> bool:
        """Whether `solve` returns s along with x."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing but rounding and the proximal term is left to refine."""

    @property
    def is_poor(self) -> bool:
        """Whether a solution turned out to be inaccurate."""

    def solve(self, v: Vector, r: list[Vector] | None = None) -> tuple[Vector, list[Vector | None]]:
        """Return x and, where it comes with x, ``s = W R x - r``; one r and s for each block."""


class ColumnFactor:
    """Cholesky factor of the size of the columns."""

    finds_duals = False
    is_exact = True
    is_poor = False

    def __init__(self, blocks: Sequence[Block], weights: list[Vector], diagonal: Vector) -> None:
        self.blocks, self.scale = blocks, np.ones(diagonal.size)
        lifted, wide = _sorted_out(blocks, weights, diagonal)
        rows = blocks[wide[0]].rows
        if len(wide) == 1 and isinstance(rows, DataRows) and rows.fills:
            # Columns in the user's units, so that nothing is copied for the sake of scaling.
            gram, scale = rows.plain_gram(weights[wide[0]])
            self.scale = 1.0 / scale
            gram.flat[:: diagonal.size + 1] += lifted * self.scale**2
        else:
            gram = np.zeros((diagonal.size, diagonal.size))
            for block, weight in zip(blocks, weights, strict=True):
                block.rows.add_gram(weight, gram)
            gram.flat[:: diagonal.size + 1] += diagonal
        self.factor = cholesky(gram)

    def solve(self, v: Vector, r: list[Vector] | None = None) -> tuple[Vector, list[Vector | None]]:
        """Return x alone: s is found by multiplication."""
        if r is not None:
            v = v + sum(block.rows.tdot(part) for block, part in zip(self.blocks, r, strict=True))
        return self.scale * solve_with(self.factor, self.scale * v), [None] * len(self.blocks)


class RowFactor:
    """Cholesky factor of the size of the rows that are not single coefficients."""

    finds_duals = True
    is_exact = True
    is_poor = False

    def __init__(self, blocks: Sequence[Block], weights: list[Vector], diagonal: Vector) -> None:
        diagonal, wide_ones = _sorted_out(blocks, weights, diagonal)
        self.is_wide = [k in wide_ones for k in range(len(blocks))]
        self.blocks = blocks
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
        if not self.explicit.size:
            self.factor = cholesky(kernel)
            return
        size = kernel.diagonal().copy()
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

    def _kernel(self) -> Any:
        sizes = [rows.size for rows in self.rows]
        ends = np.cumsum([0, *sizes])
        if len(self.rows) == 1:
            kernel = self.rows[0].kernel(self.inverse)
            kernel.flat[:: ends[-1] + 1] += 1.0 / self.weight
            return kernel
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
            s = solve_with(self.factor, image)
        x = self.inverse * (v - self._tdot(s))
        if self.explicit.size:
            x[self.explicit] = own
        pieces = iter(np.split(s, np.cumsum([rows.size for rows in self.rows])[:-1]))
        return x, [next(pieces) if wide else None for wide in self.is_wide]


def _sorted_out(
    blocks: Sequence[Block], weights: list[Vector], diagonal: Vector
) -> tuple[Vector, list[int]]:
    """Return the diagonal with the rows of single coefficients, and which blocks are others."""
    diagonal, wide = diagonal.copy(), []
    for k, (block, weight) in enumerate(zip(blocks, weights, strict=True)):
        if isinstance(block.rows, UnitRows):
            diagonal[block.rows.index] += weight
        else:
            wide.append(k)
    return diagonal, wide


def _explicit(diagonal: Vector, n_rows: int) -> NDArray[np.intp]:
    """Return the columns whose diagonal is much smaller than usual.

    At a vertex as many columns as rows are active and have a vanishing diagonal, so the usual size
    is that of the next larger one.
    """
    place = min(n_rows, diagonal.size - 1)
    usual = np.partition(diagonal, place)[place]
    return np.flatnonzero(diagonal < _EXPLICIT * usual)


def factorise(
    blocks: Sequence[Block],
    weights: list[Vector],
    diagonal: Vector,
    by_rows: bool,
    coupling: Coupling | None = None,
) -> Factor:
    """Return a factorisation; raise FactorError when the matrix is not positive definite.

    With `coupling` it may be one that leaves out what hardly matters.
    """
    if not by_rows and any(isinstance(one.rows, DataRows) and one.rows.is_steady for one in blocks):
        coupling = None  # the sum over all rows is at hand
    split = None if coupling is None else _split(blocks, weights, diagonal, by_rows, coupling)
    if split is not None:
        return split
    return (RowFactor if by_rows else ColumnFactor)(blocks, weights, diagonal)


def _split(
    blocks: Sequence[Block],
    weights: list[Vector],
    diagonal: Vector,
    by_rows: bool,
    coupling: Coupling,
) -> SplitFactor | None:
    diagonal, wide = _sorted_out(blocks, weights, diagonal)
    rows = blocks[wide[0]].rows
    if len(wide) != 1 or not isinstance(rows, DataRows) or not rows.fills or rows.design.is_sparse:
        return None
    weight = weights[wide[0]]
    always = _explicit(diagonal, weight.size)
    split = coupling.choose(rows, weight, diagonal, always, by_rows)
    few = _FEW * always.size < weight.size <= diagonal.size
    if split is None and few:
        everything = np.arange(weight.size)
        rest = np.setdiff1d(np.arange(diagonal.size), always, assume_unique=True)
        split = Split(everything, everything[:0], always, rest)
    if split is None:
        return None
    for single in (True, False):
        if single and not coupling.single:
            continue
        try:
            return SplitFactor(blocks, weight, diagonal, split, coupling, single)
        except FactorError:
            coupling.single = False
    return None
