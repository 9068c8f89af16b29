"""A factor of the equations without the block where light rows and stiff columns meet.

    delta x + R's = v,     R x - s/w = r/w

On the heavy rows H and the soft columns A, with the others eliminated, that is

    K s_H - C x_A = ...,   C's_H + G x_A = ...      K = 1/w_H + sum of squares of stiff columns
                                                    G = delta_A + sum of squares of light rows

which two Cholesky factors solve: of K and of ``G + C'K^-1 C``. Iterative refinement makes up for
the block, and for single precision where the factors are in that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.blocks import Block
from rectiline.solvers.interior.linear_algebra import (
    add_square,
    cholesky,
    forward,
    solve_with,
)
from rectiline.solvers.interior.rows import DataRows, UnitRows
from rectiline.solvers.interior.split import Coupling, Split

Vector = NDArray[np.float64]
Matrix = NDArray[Any]

__all__ = ["SplitFactor"]

_REFINEMENTS = 6
_ENOUGH = 2e-2  # error of the scaled equations, in roots of the mean product
_POOR = 1e-3  # of that error before refinement: what it must come to at least
_CHUNK = 1 << 19  # entries of X that are scaled at once


class SplitFactor:
    """The equations of the data rows and of single coefficients, but for a small block.

    Parameters
    ----------
    blocks : list of Block
        One of data rows, the others of single coefficients.
    weight : ndarray of shape (n,)
        Weights of the data rows.
    diagonal : ndarray of shape (d,)
        All that the other blocks add to the columns.
    split : Split
    coupling : Coupling
        What the steps have in common: memory, and the mean product as the yardstick of errors.
    single : bool
        Whether the factors are in single precision.
    """

    finds_duals = True

    def __init__(
        self,
        blocks: Sequence[Block],
        weight: Vector,
        diagonal: Vector,
        split: Split,
        coupling: Coupling,
        single: bool,
    ) -> None:
        self.blocks, self.weight, self.diagonal, self.split = blocks, weight, diagonal, split
        self.enough, self.is_poor = _ENOUGH * np.sqrt(coupling.mean), False
        space = coupling.space
        self.dtype = np.float32 if single else np.float64
        self.is_exact = not single and not split.light.size
        self.rows = next(block.rows for block in blocks if isinstance(block.rows, DataRows))
        heavy, light, soft, stiff = split.heavy, split.light, split.soft, split.stiff
        self.inverse = np.zeros(diagonal.size)
        self.inverse[stiff] = 1.0 / diagonal[stiff]
        kernel = self._kernel(space.matrix("kernel", heavy.size, heavy.size, self.dtype))
        self.size = np.sqrt(weight)  # what the equations of the rows are measured in
        self.size[heavy] = 1.0 / np.sqrt(kernel.diagonal())
        self.kernel = cholesky(kernel)
        gram = space.matrix("gram", soft.size, soft.size, self.dtype)
        self.light = self.rows.block(light, soft, np.sqrt(weight[light]), None, self.dtype)
        add_square(self.light, gram, first=True)
        gram.T.flat[:: soft.size + 1] += diagonal[soft]
        corner = space.matrix("corner", heavy.size, soft.size, self.dtype)
        corner[:] = self.rows.block(heavy, soft, None, None, self.dtype)
        self.corner = forward(self.kernel, corner)
        add_square(self.corner, gram, first=False)
        self.soft_size = 1.0 / np.sqrt(gram.diagonal())
        self.gram = cholesky(gram)

    def _kernel(self, kernel: Matrix) -> Matrix:
        heavy, stiff = self.split.heavy, self.split.stiff
        step = max(_CHUNK // max(heavy.size, 1), 64)
        for first in range(0, stiff.size, step):
            chosen = stiff[first : first + step]
            root = np.sqrt(self.inverse[chosen])
            part = self.rows.block(heavy, chosen, None, root, self.dtype)
            add_square(part.T, kernel, first == 0)
        if not stiff.size:
            kernel[:] = 0.0
        kernel.T.flat[:: heavy.size + 1] += 1.0 / self.weight[heavy]
        return kernel

    def solve(self, v: Vector, r: list[Vector] | None = None) -> tuple[Vector, list[Vector | None]]:
        """Return x and the s of the data rows."""
        soft, right = self.split.soft, np.zeros(self.weight.size)
        if r is not None:
            v = v.copy()
            for block, part in zip(self.blocks, r, strict=True):
                if isinstance(block.rows, UnitRows):
                    v += block.rows.tdot(part)
                else:
                    right = part / self.weight
        x, s, pulled = self._once(v, self.rows.dot(self.inverse * v) - right)
        first = least = np.inf
        for count in range(0 if self.is_exact else _REFINEMENTS + 1):
            left = np.zeros(v.size)  # the equations of stiff columns hold by construction
            left[soft] = v[soft] - self.diagonal[soft] * x[soft] - pulled[soft]
            miss = right - self.rows.dot(x) + s / self.weight
            error = float(np.max(np.abs(self.size * miss)))
            error = max(error, float(np.max(np.abs(self.soft_size * left[soft]), initial=0.0)))
            first = error if count == 0 else first
            if error <= self.enough:
                break
            if error > 0.5 * least or count == _REFINEMENTS:
                self.is_poor |= error > _POOR * first
                break
            least = error
            more_x, more_s, more = self._once(left, -miss)
            x, s, pulled = x + more_x, s + more_s, pulled + more
        return x, [s if block.rows is self.rows else None for block in self.blocks]

    def _once(self, v: Vector, image: Vector) -> tuple[Vector, Vector, Vector]:
        """Return x, s and R's, given v and what stiff columns alone do to the rows."""
        heavy, light, soft = self.split.heavy, self.split.light, self.split.soft
        root = np.sqrt(self.weight[light])
        first = forward(self.kernel, image[heavy].astype(self.dtype, copy=False))
        down = (root * image[light]).astype(self.dtype, copy=False)
        x_soft = solve_with(self.gram, v[soft] - self.light.T @ down - self.corner.T @ first)
        part = x_soft.astype(self.dtype, copy=False)
        s = np.empty(self.weight.size)
        s[heavy] = forward(self.kernel, first + self.corner @ part, transposed=True)
        s[light] = root * (root * image[light] + self.light @ part)
        pulled = self.rows.tdot(s)
        x = self.inverse * (v - pulled)
        x[soft] = x_soft
        return x, s, pulled
