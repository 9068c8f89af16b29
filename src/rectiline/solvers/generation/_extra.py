"""Columns that belong to directions: what bounds and the levels of a sorted penalty cost.

A bound ``b_j <= upper`` lets ``q_j`` exceed its cost by ``r >= 0`` at the price ``upper r``; a
lower bound likewise on the other side. Bounds at zero cost nothing and are open sides of the
row instead. A sorted penalty with few levels lets ``a'q`` exceed its base by ``sum_l r_l`` with
``0 <= r_l <= drop_l``, where each level has a budget ``count_l drop_l`` for all columns
together.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse as sp

from rectiline._typing import Vector
from rectiline.problems.forms import Levels, LinearProgramForm
from rectiline.solvers.generation._directions import Directions
from rectiline.solvers.generation._programs import BoxedProgram, LinearProgram, Positions

_NOWHERE: Positions = np.zeros(0, dtype=np.int32)


class ExtraColumns:
    """Keeps the columns of bounds and levels, in the order of directions, and the budget rows."""

    def __init__(
        self,
        form: LinearProgramForm,
        program: LinearProgram | BoxedProgram,
        box_scale: float,
        cost_scale: float,
    ) -> None:
        self._form, self._program = form, program
        self._box_scale, self._cost_scale = box_scale, cost_scale
        self.rows = _NOWHERE
        self._levels = _levels(form)
        if self._levels is not None:
            budget = self._budget(1.0)
            self.rows = program.add_rows(
                np.full(budget.size, -np.inf), budget, _NOWHERE, np.zeros((budget.size, 0))
            )
        self._level_columns = [_NOWHERE] * self.rows.size
        self._bound_columns = [_NOWHERE] * 2

    def rebase(self, form: LinearProgramForm) -> None:
        """Take the levels of a form that differs in its strength only."""
        self._form, self._levels = form, _levels(form)

    def columns(self) -> list[Positions]:
        """Return the positions of all columns, kind by kind."""
        return [*self._bound_columns, *self._level_columns]

    def place(
        self,
        directions: Directions,
        first: int,
        rows: Positions,
        scale: Vector,
        factor: float,
    ) -> None:
        """Add the columns of the directions from `first` on, whose scaled rows are `rows`."""
        if self._form.is_separable and self._form.columns.has_bounds:
            self._place_bounds(directions, first, rows, scale)
        elif self._levels is not None:
            self._place_levels(rows, scale, factor)

    def _place_bounds(
        self, directions: Directions, first: int, rows: Positions, scale: Vector
    ) -> None:
        columns, j = self._form.columns, directions.columns[first:]
        sides = ((columns.upper[j], 1.0), (columns.lower[j], -1.0))
        for side, (bound, sign) in enumerate(sides):
            here = np.flatnonzero(np.isfinite(bound) & (bound != 0))
            added = self._program.add_columns(
                -sign * bound[here] / (scale[here] * self._cost_scale),
                np.zeros(here.size),
                np.full(here.size, np.inf),
                rows[here],
                sp.csr_array(sign * sp.eye_array(here.size)),
            )
            self._bound_columns[side] = np.concatenate([self._bound_columns[side], added])

    def _budget(self, factor: float) -> Vector:
        assert self._levels is not None
        budget: Vector = factor * self._levels.n_largest * self._levels.drop / self._box_scale
        return budget

    def _place_levels(self, rows: Positions, scale: Vector, factor: float) -> None:
        assert self._levels is not None
        entries = sp.vstack([sp.eye_array(rows.size), (1.0 / scale)[None, :]], format="csr")
        for place, (drop, budget) in enumerate(zip(self._levels.drop, self.rows)):
            added = self._program.add_columns(
                np.zeros(rows.size),
                np.zeros(rows.size),
                factor * drop * scale / self._box_scale,
                np.append(rows, budget).astype(np.int32),
                entries,
            )
            known = self._level_columns[place]
            self._level_columns[place] = np.concatenate([known, added])

    def set_factor(self, factor: float, scale: Vector) -> None:
        """Scale what the levels allow; `scale` is the scale of the directions' rows."""
        if self._levels is None:
            return
        budget = self._budget(factor)
        self._program.change_row_bounds(self.rows, np.full(budget.size, -np.inf), budget)
        for drop, columns in zip(self._levels.drop, self._level_columns):
            high = factor * drop * scale / self._box_scale
            self._program.change_column_bounds(columns, np.zeros(columns.size), high)


def _levels(form: LinearProgramForm) -> Levels | None:
    return form.levels if form.levels is not None and form.levels.drop.size else None
