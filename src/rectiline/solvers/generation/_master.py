"""The restricted master: the dual linear program over some directions and some units.

    maximise    sum_u (o_i - t_k) v_u - c'xi - f'nu              over 0 <= v <= width, xi >= 0
    subject to  -a'q in [-cost_a, cost_a]  for each direction a,  sum_i g_i = 0

with ``g = base + sum_u p_i v_u`` and ``q = A'xi + E'nu - X'g``. The multiplier of the row of a
direction is how far the coefficients move along it, that of ``sum g = 0`` is the intercept. So
a new feature is a row, a new sample a few boxed columns, and the basis has as many rows as
there are directions.

Units that are not in the program sit at an end of their box ("bottom" or "top") and are a
constant. A unit that starts at the top enters as ``width - v``, so that the constant never
changes.

Bounds on a coefficient, ``lower <= b_j <= upper``, cost ``upper r+ - lower r-`` with ``q_j``
moved by ``r+ - r-``: one column each, or an open side of the row where the bound is zero. A
sorted penalty with few levels lets ``a'q`` exceed its base by ``sum_l r_l``, ``0 <= r_l <=
drop_l``, where each level has a budget ``count_l drop_l`` for all columns together.

Everything is scaled: directions to root mean square one, boxes by the widest, costs by their
size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._costs import SECONDS_PER_ENTRY_TURNED
from rectiline._lazy import cached_property
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers.generation._directions import Directions, ExtraColumns
from rectiline.solvers.generation._programs import (
    BASIC,
    HIGH,
    LOW,
    Block,
    BoxedProgram,
    LinearProgram,
    Positions,
    below,
    beside,
    is_boxed,
    row_norms,
    row_scale,
    scaled_rows,
)

_NOTHING = 1e-12  # in the scaled program
_NOWHERE: Positions = np.zeros(0, dtype=np.int32)


class Master:
    """The live program, with the maps from units and directions to columns and rows."""

    def __init__(
        self,
        form: LinearProgramForm,
        directions: Directions,
        top: NDArray[np.bool_],
        units: Indices,
        *,
        on_highs: bool = False,
    ) -> None:
        self.form, self.directions = form, directions
        self.patience = np.inf  # work that is left, in products
        self.factor = 1.0  # the penalty of the program is this many times the form's
        n = self.n = form.design.n_samples
        self.top = top
        self.is_in = np.zeros(top.size, dtype=bool)
        self.units = np.zeros(0, dtype=np.intp)
        self.sample = form.units.sample
        self.width = form.units.high - form.units.low
        base = form.weight * form.least_slope
        base = base + np.bincount(self.sample[top], self.width[top], minlength=n)
        self.base: Vector = form.direction * base
        self._set_scales()
        self.program = LinearProgram() if on_highs or not is_boxed(form) else BoxedProgram()
        self.unit_columns = _NOWHERE
        self._place_units(units, np.zeros((0, units.size)), _NOWHERE)
        self._place_constraints()
        self._place_fixed_rows()
        self._rows = _NOWHERE
        self._extra = ExtraColumns(form, self.program, self._box_scale, self._cost_scale)
        self._row_scale = np.zeros(0)
        self._row_shift = np.zeros(0)  # what the constant part of g adds to -a'q
        self._placed = 0
        self.lengths = np.zeros(0)  # how far the last solution moved along each direction
        self.place_directions()

    def _set_scales(self) -> None:
        form = self.form
        self.centre = 0.0
        if form.fit_intercept:
            self.centre = float(np.median(-form.direction * form.offset))
        self._offset = form.offset + form.direction * self.centre
        cost = np.abs(self._offset[self.sample] - form.units.knot)
        self._cost_scale = self._box_scale = 1.0
        if self.width.any():  # there may be a linear term and no data
            self._cost_scale = float(np.average(cost, weights=self.width)) or 1.0
            self._box_scale = float(self.width.max())

    # ---- columns -----------------------------------------------------------------------------

    def _signed(self, units: Indices) -> Vector:
        """Return +-p_i: how the unit's variable moves g_i."""
        sign = np.where(self.top[units], -1.0, 1.0)
        return np.asarray(self.form.direction[self.sample[units]] * sign)

    def _place_units(self, units: Indices, entries: Block, rows: Positions) -> None:
        sign = np.where(self.top[units], -1.0, 1.0)
        cost = self._offset[self.sample[units]] - self.form.units.knot[units]
        added = self.program.add_columns(
            sign * cost / self._cost_scale,
            np.zeros(units.size),
            self.width[units] / self._box_scale,
            rows,
            entries,
        )
        self.units = np.concatenate([self.units, units])
        self.is_in[units] = True
        self.unit_columns = np.concatenate([self.unit_columns, added])

    def _place_constraints(self) -> None:
        """Add xi >= 0 and nu, scaled so that every constraint row has norm one."""
        rows = self._constraints = self.form.problem.terms.region.stacked
        self._constraint_norm = row_norms(rows.design.X)
        cost = -rows.offset / (self._constraint_norm * self._cost_scale)
        low = np.where(rows.is_equality, -np.inf, 0.0)
        self._constraint_columns = self.program.add_columns(
            cost, low, np.full(low.size, np.inf), _NOWHERE, np.zeros((0, low.size))
        )

    # ---- rows --------------------------------------------------------------------------------

    def _place_fixed_rows(self) -> None:
        self._fixed_rows = _NOWHERE
        self._n_intercept = int(self.form.fit_intercept)
        if self._n_intercept:
            level = np.array([-self.base.sum() / self._box_scale])
            self._fixed_rows = self.program.add_rows(
                level, level, self.unit_columns, self._signed(self.units)[None, :]
            )

    def place_directions(self) -> None:
        """Add a row for every direction that has none yet."""
        first = self._placed
        count = self.directions.size - first
        if not count:
            return
        checkpoint(SECONDS_PER_ENTRY_TURNED * count * self.unit_columns.size)
        block = self._unit_block(self.units, first)
        scale = row_scale(block)
        self._row_scale = np.concatenate([self._row_scale, scale])
        self._row_shift = np.concatenate([self._row_shift, self._shift_of(block, first)])
        constraints = self._constraint_block(first)
        everything = np.concatenate([self.unit_columns, self._constraint_columns])
        entries = beside(scaled_rows(block, scale), constraints * scale[:, None])
        low, high = self._range(first)
        placed = self.program.add_rows(low, high, everything, entries)
        self._rows = np.concatenate([self._rows, placed])
        self._placed = self.directions.size
        self._extra.place(self.directions, first, placed, scale, self.factor)

    def _unit_block(self, units: Indices, first: int) -> Block:
        """Return the entries of the rows of directions `first` and later in the units' columns."""
        sign = self._signed(units)
        part = self.directions.block(self.form.design, self.sample[units], first)
        if sp.issparse(part):
            part.data *= np.repeat(sign, np.diff(part.indptr))  # a copy: see `block`
            return sp.csr_array(part.T)
        return np.ascontiguousarray((part * sign[:, None]).T, dtype=np.float64)

    def _shift_of(self, block: Block, first: int) -> Vector:
        """Return ``a'X'base`` for directions whose entries in the units' columns are `block`.

        With one unit for each sample the block is all that it takes; otherwise X is passed once.
        """
        if np.array_equal(self.sample[self.units], np.arange(self.n)):
            return np.asarray(block @ (self._signed(self.units) * self.base))
        return self.directions.along(self._shift, first)

    @cached_property
    def _shift(self) -> Vector:
        return self.form.design.tdot(self.base)

    def _constraint_block(self, first: int) -> NDArray[np.float64]:
        """Return ``-(A a)`` and ``-(E a)``, one row per direction, columns scaled to norm one."""
        if not self._constraint_norm.size:
            return np.zeros((self.directions.size - first, 0))
        products = self.directions.of_rows(self._constraints.design.X, first)
        return np.asarray(-(products / self._constraint_norm[:, None]).T)

    def _range(self, first: int) -> tuple[Vector, Vector]:
        """Return where -a'q must lie for each direction, less the constant part, scaled."""
        low, high = self.directions.allowed_range(self.form, first)
        shift = self._row_shift[first:]
        unit = self._row_scale[first:] / self._box_scale
        return (self.factor * low - shift) * unit, (self.factor * high - shift) * unit

    def set_factor(self, factor: float) -> None:
        """Make the penalty of the program `factor` times the form's; the basis stays."""
        self.factor = factor
        low, high = self._range(0)
        self.program.change_row_bounds(self._rows, low, high)
        self._extra.set_factor(factor, self._row_scale)

    def rebase(self, form: LinearProgramForm) -> None:
        """Take the penalty of a form that differs in its strength only; the basis stays."""
        share = form.penalty.strength / self.form.penalty.strength
        self.form = form
        self._extra.rebase(form)
        self.directions.costs = share * self.directions.costs
        self.set_factor(1.0)

    def add_units(self, units: Indices) -> None:
        """Let more units move."""
        if not units.size:
            return
        checkpoint(SECONDS_PER_ENTRY_TURNED * units.size * self._placed)
        block = scaled_rows(self._unit_block(units, 0), self._row_scale)
        fixed = np.tile(self._signed(units), (self._n_intercept, 1))
        entries = below(fixed, block)
        rows = np.concatenate([self._fixed_rows, self._rows])
        self._place_units(units, entries, rows)

    def other_columns(self) -> list[Positions]:
        """Return the columns that are no units, kind by kind, in the order of directions."""
        return [self._constraint_columns, *self._extra.columns()]

    def all_rows(self) -> list[Positions]:
        """Return the rows, kind by kind, in the order of directions."""
        return [self._fixed_rows, self._extra.rows, self._rows]

    # ---- solutions ---------------------------------------------------------------------------

    def solve(self, seconds: float) -> str:
        """Return the status of the program, see the `solve` of both kinds of program.

        After "trouble" or "step_limit" it starts once more from the slack basis.
        """
        before = self.program.work
        status = self.program.solve(seconds, self.patience)
        if status in ("trouble", "step_limit"):
            self.program.restart()
            status = self.program.solve(seconds, self.patience)
        self.patience -= self.program.work - before
        return status

    def _primal(self, multipliers: Vector) -> tuple[Vector, float]:
        held = multipliers[self._rows]
        held = np.where(np.abs(held) <= _NOTHING, 0.0, held)  # multipliers at rounding level
        lengths = -held * self._row_scale * self._cost_scale
        intercept = 0.0
        if self._n_intercept:
            intercept = -float(multipliers[self._fixed_rows[0]]) * self._cost_scale
        return lengths + 0.0, intercept

    def point(self) -> FormPoint:
        """Return the solution of the last program."""
        values, multipliers = self.program.solution()
        lengths, intercept = self._primal(multipliers)
        self.lengths = lengths
        each = self._signed(self.units) * values[self.unit_columns]
        moved = np.bincount(self.sample[self.units], each, minlength=self.n)
        scaled = values[self._constraint_columns] / self._constraint_norm
        return FormPoint(
            self.directions.spread(lengths),
            intercept + self.centre if self._n_intercept else 0.0,
            self.base + moved * self._box_scale,
            scaled * self._box_scale,
        )


# ---- the basis of a master that is built again ---------------------------------------------------


def rebuilt(old: Master, arguments: Vector, units: Indices) -> Master:
    """Return the program over `units` and all basic ones, at the same basis.

    The other units leave for the end of their box where the predictions put them. Call it right
    after a solve; directions without a row yet get one, with a basic slack.
    """
    columns, rows = old.program.basis()
    n_steps = old.program.n_steps
    old.program.release()  # before the new one takes memory
    mine = columns[old.unit_columns]
    staying = np.union1d(units, old.units[mine == BASIC])
    new = Master(old.form, old.directions, arguments > 0, staying)
    new.set_factor(old.factor)
    status = np.where(new.top, HIGH, LOW).astype(np.uint8)  # by unit: which end it is at
    status[old.units] = np.where((mine == HIGH) ^ old.top[old.units], HIGH, LOW)
    ends = np.where((status == HIGH) ^ new.top, HIGH, LOW).astype(np.uint8)
    ends[old.units[mine == BASIC]] = BASIC
    moved = np.full(new.program.n_columns, LOW, dtype=np.uint8)
    moved[new.unit_columns] = ends[new.units]
    for target, source in zip(new.other_columns(), old.other_columns()):
        moved[target] = columns[source]
    turned = np.full(new.program.n_rows, BASIC, dtype=np.uint8)
    for target, source in zip(new.all_rows(), old.all_rows()):
        turned[target[: source.size]] = rows[source]
    new.program.set_basis(moved, turned)
    new.program.n_steps = n_steps
    new.patience = old.patience
    return new


def guess_basis(master: Master, coef: Vector, arguments: Vector) -> None:
    """Start from the vertex next to a guess: its support, and as many units near their knots.

    A solution of a similar program is such a vertex, and is met exactly.
    """
    directions = master.directions
    if not master.form.is_separable:
        return
    moves = directions.signs * coef[directions.columns]
    fixed, _, own = master.all_rows()
    rows = np.full(master.program.n_rows, BASIC, dtype=np.uint8)
    rows[fixed] = LOW
    rows[own] = np.where(moves > 0, LOW, np.where(moves < 0, HIGH, BASIC))
    count = int(np.count_nonzero(rows != BASIC))
    mine = arguments[master.units]
    if count > mine.size:
        return
    ends = np.where((mine > 0) ^ master.top[master.units], HIGH, LOW).astype(np.uint8)
    ends[np.argsort(np.abs(mine), kind="stable")[:count]] = BASIC
    columns = np.full(master.program.n_columns, LOW, dtype=np.uint8)
    columns[master.unit_columns] = ends
    master.program.set_basis(columns, rows)
