"""The linear systems of a step: ``D x + R's = v`` and ``R x - s/W = r/W``.

R stacks all rows, W holds their weights, D is the diagonal of the program and a proximal term. The
compiled method asks for a factor at given weights and for solutions; what is behind is one of

- `DenseColumns`: a Cholesky factor of ``D + R'W R``;
- `DenseRows`: one of the size of the rows, for more columns than rows; where a penalty on groups
  ties the columns of a group to one more column, that arrow is eliminated along with D.

Small systems and sparse ones are solved by the core itself (`DenseSystem`, `SparseSystem`).

The epigraph of a penalty on groups has a column t for each group and two rows, ``t - b`` and
``t + b``, for each of its coefficients. What these rows add to the systems is diagonal in b with a
border t: eliminating b and then t costs nothing but sums over groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.linalg import blas, lapack

from rectiline import _core
from rectiline._polling import checkpoint
from rectiline._typing import Matrix, Vector
from rectiline.backends import Design
from rectiline.solvers.interior.program import UnitProgram
from rectiline.solvers.interior.rows import DataRows

Solved = tuple[Vector, Vector | None]

_LARGEST_PROXIMAL = 1e-2  # beyond this a system that cannot be factorised is given up
# Columns with a smaller share of the usual diagonal are kept explicit.
_EXPLICIT_DIAGONAL_SHARE = 1e-2


class FactorError(ArithmeticError):
    """The matrix is not positive definite in floating point."""


class _System(ABC):
    """What the systems have in common: products with the rows, and the proximal term."""

    def __init__(self, program: UnitProgram, proximal: float) -> None:
        self.rows, self.rho, self.proximal = program.rows, program.rho, proximal
        self.size = program.rows.size
        self.dot, self.tdot = program.rows.dot, program.rows.tdot

    def factorise(self, weight: Vector) -> bool:
        """Factorise, with a larger proximal term where that is needed to succeed."""
        while self.proximal <= _LARGEST_PROXIMAL:
            try:
                self._factorise(weight, self.rho + self.proximal)
                return True
            except FactorError:
                self.proximal *= 100.0
        return False

    @abstractmethod
    def _factorise(self, weight: Vector, diagonal: Vector) -> None:
        """Factorise the matrix with such a diagonal, or raise FactorError."""


class DenseColumns(_System):
    """A Cholesky factor of the size of the columns."""

    def _factorise(self, weight: Vector, diagonal: Vector) -> None:
        data, matrix, single = self.rows.parts(weight)
        diagonal[self.rows.single] += single
        gram = self.rows.data.gram(data)
        d, width = self.rows.data.scale.size, self.rows.width
        if gram.shape[0] < width:  # columns of an epigraph between those of X and the intercept
            own, whole = np.arange(gram.shape[0]), np.zeros((width, width))
            own[d:] = width - 1
            whole[np.ix_(own, own)] = gram
            gram = whole
        if matrix.size:
            m = self.rows.matrix.shape[1]
            gram[:m, :m] += Design(self.rows.matrix).weighted_gram(matrix, np.arange(m), False)
        gram.flat[:: width + 1] += diagonal
        self.factor = cholesky(gram)

    def solve(self, v: Vector, r: Vector) -> Solved:
        """Return x alone: s is found by multiplication."""
        return solve_with(self.factor, v + self.tdot(r)), None


class DenseRows(_System):
    """Cholesky factors of the size of the rows that are neither single nor of a group.

    With s as an unknown of its own, eliminating x loses no digits however small D is, as long as v
    is small with it. Columns where it is not (active ones under an L1 penalty, the intercept) are
    kept explicit: with C for them and K for what the others leave of the rows, two factors solve

        K s - C x_explicit = ...,     C's + D x_explicit = ...
    """

    def __init__(self, program: UnitProgram, proximal: float) -> None:
        super().__init__(program, proximal)
        self.arrows = Arrows.of(program)
        n, wide = int(self.rows.ends[0]), np.ones(int(self.rows.ends[1]), dtype=bool)
        if self.arrows is not None:
            wide[self.arrows.rows] = False
        self.wide = np.flatnonzero(wide)
        self.matrix = self.rows.matrix[self.wide[self.wide >= n] - n]

    def _factorise(self, weight: Vector, diagonal: Vector) -> None:
        diagonal[self.rows.single] += self.rows.parts(weight)[2]
        self.weight = weight[self.wide]
        if self.arrows is not None:
            self.arrows.prepare(weight, diagonal)
        self.explicit = self._explicit(diagonal)
        rest = diagonal.copy()
        rest[self.explicit] = np.inf
        self.inverse = 1.0 / rest
        kernel = self._kernel()
        kernel.flat[:: kernel.shape[0] + 1] += 1.0 / self.weight
        self.kernel = cholesky(kernel)
        corner = np.asfortranarray(self._wide_columns(self.explicit))
        self.corner = forward(self.kernel, corner)
        gram = np.asfortranarray(np.diag(diagonal[self.explicit]))
        self.gram = cholesky(add_square(self.corner, gram))

    def _explicit(self, diagonal: Vector) -> NDArray[np.intp]:
        """Return the columns whose diagonal is much smaller than usual.

        At a vertex as many columns as rows are active and have a vanishing diagonal, so the usual
        size is that of the next larger one. Columns of arrows are eliminated with these.
        """
        if self.arrows is not None:
            return self.arrows.others
        place = min(self.weight.size, diagonal.size - 1)
        usual = np.partition(diagonal, place)[place]
        return np.flatnonzero(diagonal < _EXPLICIT_DIAGONAL_SHARE * usual)

    def _kernel(self) -> Matrix:
        """Return ``R D^-1 R'`` of the wide rows."""
        data, n = self.rows.data, self.rows.data.size
        kernel = data.kernel(self.inverse)
        if self.arrows is not None:
            lines = self.arrows.lines(data)
            kernel += lines.T @ lines
        more = self.matrix.shape[0]
        if not more:
            return kernel
        whole = np.zeros((n + more, n + more))
        whole[:n, :n] = kernel
        for k in range(more):  # rows of constraints are few
            unit = np.zeros(n + more)
            unit[n + k] = 1.0
            image = self.dot(self._eliminated(self._wide_tdot(unit)))[self.wide]
            whole[n + k], whole[:, n + k] = image, image
        return whole

    def _eliminated(self, v: Vector) -> Vector:
        """Return ``D^-1 v`` of the columns that are not explicit."""
        return self.inverse * v if self.arrows is None else self.arrows.solve(v, self.inverse)

    def _wide_tdot(self, s: Vector) -> Vector:
        """Return the sum of the wide rows with the given weights."""
        values = np.zeros(self.size)
        values[self.wide] = s
        return self.tdot(values)

    def _wide_columns(self, chosen: NDArray[np.intp]) -> Matrix:
        own = self.rows.data.columns(chosen)
        if not self.matrix.shape[0]:
            return own
        below = np.zeros((self.matrix.shape[0], chosen.size))
        inside = chosen < self.matrix.shape[1]
        part = self.matrix[:, chosen[inside]]
        below[:, inside] = part.toarray() if sp.issparse(part) else part
        return np.vstack([own, below])

    def solve(self, v: Vector, r: Vector) -> Solved:
        """Return x, and s for the wide rows."""
        others = r.copy()
        others[self.wide] = 0.0
        v = v + self.tdot(others)
        right = self.dot(self._eliminated(v))[self.wide] - r[self.wide] / self.weight
        first = forward(self.kernel, right)
        own = solve_with(self.gram, v[self.explicit] - self.corner.T @ first)
        s = forward(self.kernel, first + self.corner @ own, transposed=True)
        x = self._eliminated(v - self._wide_tdot(s))
        x[self.explicit] = own
        duals = np.full(self.size, np.nan)
        duals[self.wide] = s
        return x, duals


# ---- squares and Cholesky factors, straight from BLAS and LAPACK ---------------------------------


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


# ---- groups --------------------------------------------------------------------------------------


class Arrows:
    """The coefficients, columns and rows of all groups; vectors go group by group."""

    def __init__(self, program: UnitProgram, groups: list[Any]) -> None:
        d = program.form.design.n_features
        self.program = program
        self.columns = np.concatenate(groups)
        self.ends = np.cumsum([0, *(group.size for group in groups)])
        self.owner = np.repeat(np.arange(len(groups)), np.diff(self.ends))
        self.tops = d + np.arange(len(groups))
        self.rows = program.row[program.epigraph_units]  # t - b, then t + b
        # Entries of t and, but for the sign, of b; both rows of a coefficient have the same size.
        k, column = program.form.n_constraints, program.scales.column
        size = program.scales.rows[k : k + self.columns.size]
        self.of_t, self.of_b = column[self.tops][self.owner] / size, column[self.columns] / size
        is_other = np.ones(program.width, dtype=bool)
        is_other[self.columns] = is_other[self.tops] = False
        self.others = np.flatnonzero(is_other)  # columns without a group

    @classmethod
    def of(cls, program: UnitProgram) -> Arrows | None:
        """Return the arrows of a program, or None if no penalty on groups is in it."""
        groups = program.form.groups
        return None if groups is None else cls(program, groups)

    def per_group(self, values: Vector) -> Vector:
        """Return the sums over groups."""
        return np.asarray(np.add.reduceat(values, self.ends[:-1]))

    # ---- elimination ---------------------------------------------------------------------------

    def prepare(self, weight: Vector, diagonal: Vector) -> None:
        """Take in the weights of the rows; the diagonal of the coefficients grows by theirs."""
        up, down = np.split(weight[self.rows], 2)
        both, rest = up + down, diagonal[self.columns]
        whole = self.of_b**2 * both + rest
        self.tilt = self.of_t * self.of_b * (down - up) / whole
        # What b leaves of t, without the difference of two nearly equal numbers.
        left = self.of_t**2 * (4.0 * up * down * self.of_b**2 + rest * both) / whole
        self.border = diagonal[self.tops] + self.per_group(left)
        diagonal[self.columns] = whole

    def solve(self, v: Vector, inverse: Vector) -> Vector:
        """Return the solution of the arrows, and ``inverse * v`` for columns without a group."""
        t = (v[self.tops] - self.per_group(self.tilt * v[self.columns])) / self.border
        x = inverse * v
        x[self.columns] -= self.tilt * t[self.owner]
        x[self.tops] = t
        return x

    def lines(self, data: DataRows) -> Matrix:
        """Return one line per group: its columns of the data times their tilts."""
        tilt = self.tilt * data.scale[self.columns]
        if data.design.is_sparse:
            shape = (data.scale.size, self.tops.size)
            spread = sp.csr_array((tilt, (self.columns, self.owner)), shape=shape)
            lines = np.asarray((data.design.X @ spread).toarray().T)
        else:
            columns, ends = self.columns.astype(np.int64), self.ends.astype(np.int64)
            lines = _core.signed_sums(data.design.view, columns, ends, tilt)
        if data.centre is not None:
            lines -= self.per_group(tilt * data.centre[self.columns])[:, None]
        return np.asarray(lines / np.sqrt(self.border)[:, None])
