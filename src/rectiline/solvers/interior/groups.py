"""Groups in the systems of `interior`: one arrow per group, and coefficients at their caps.

The epigraph of a penalty on groups has a column t for each group and two rows, ``t - b`` and
``t + b``, for each of its coefficients. What these rows add to the systems is diagonal in b with a
border t: eliminating b and then t costs nothing but sums over groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline import _core
from rectiline._typing import Matrix, Vector
from rectiline.solvers.interior.program import UnitProgram
from rectiline.solvers.interior.rows import DataRows

__all__ = ["Arrows"]

_ZERO_GROUP = 100.0  # cost of a group, in mean products per coefficient, that counts as zero


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

    # ---- exact zeros and caps ------------------------------------------------------------------

    def snapped(self, x: Vector, sides: Vector, mean: float) -> Vector:
        """Return x with small groups at zero and coefficients at their caps exactly.

        `sides` are rooms and multipliers of all units, `mean` is the mean of their products.
        """
        program = self.program
        column, cost = program.scales.column, program.linear[self.tops]
        push, slack = (np.split(sides[k][program.epigraph_units], 2) for k in (2, 3))
        b, t = x[self.columns], x[self.tops]
        sizes = np.diff(self.ends)
        busy = (t * cost > _ZERO_GROUP * mean * sizes)[self.owner]
        pushed = np.where(b > 0, push[0], push[1]) * self.of_t / cost[self.owner]
        away = np.where(b > 0, slack[0], slack[1]) / (2.0 * self.of_t * t[self.owner])
        at_cap = pushed > away  # of two numbers whose product is tiny, the one that is not
        coef = column[self.columns] * b
        count = self.per_group(at_cap.astype(np.float64))
        total = self.per_group(np.where(at_cap, np.abs(coef), 0.0))
        tops = np.where(count > 0, total / np.maximum(count, 1.0), column[self.tops] * t)
        cap = tops[self.owner]
        kept = np.where(at_cap, np.copysign(cap, coef), np.clip(coef, -cap, cap))
        found = x.copy()
        found[self.columns] = np.where(busy, kept, 0.0) / column[self.columns]
        is_busy = np.zeros(tops.size, dtype=bool)
        is_busy[self.owner[busy]] = True
        found[self.tops] = np.where(is_busy, tops, 0.0) / column[self.tops]
        return found
