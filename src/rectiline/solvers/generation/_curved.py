"""Rounds on a working set of columns with a second-order master.

One round: steps of the master until its own gap is closed well enough, then one product with
all of X, which prices the columns left out and gives the gap of the whole problem. A sorted
penalty is tested by the dual norm of all columns together.

The master is the proximal method of multipliers on the working set:

    min over b, b0   sum_i f_i(x_i'b + b0) + Omega(b)   subject to   A b + c >= 0,  E b + f = 0

Each f_i is a sum of units with a dual variable ``low <= a <= high`` (`CompositeForm.units`), so
the dual is a box-constrained problem in ``a`` with ``g_i = sum_u sign_u a_u``. Around a
point (b_k, b0_k, a_k) one outer step minimises over the box

    sum_u (bend a^2 / 2 - lift a)  +  |prox_{s Omega}(b_k - s X'g)|^2 / (2 s)
        + (b0_k - s0 sum g)^2 / (2 s0)  +  |a - a_k|^2 / (2 r)

by a projected semismooth Newton method and sets ``b = prox_{s Omega}(b_k - s X'g)``, ``b0 =
b0_k - s0 sum g``. The Newton matrix on the free units is ``s X_F P P'X_F' + s0 1 1' + diag(bend
+ 1/r)``, where the columns of P are the clusters that the prox moves as one; with fewer
clusters than free units it is inverted by Woodbury. The iterates b have exact zeros and exact
clusters, because they are points of the prox.

The loop is compiled (`core` `ProximalMultipliers`); here are the scales, the working set and the
schedule of s and r.

Constraint rows are units without an upper end (equalities without a lower one either) on rows
of their own. Everything is scaled: columns by their mean length, predictions by the spread of
y, boxes by the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY_TURNED, SECONDS_PER_ROW_LISTED
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import CompositeForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers._screening import (
    evaluated,
    relative_gap,
    screened_columns,
    spread_of_arguments,
    zero_dual,
)
from rectiline.solvers.generation._programs import below, row_norms

_FIRST_COLUMNS = 400
_MOST_OUTER_STEPS = 60
_INNER_GAP_SHARE = 0.2  # inner problems are solved to this share of the gap
_OUTER_STEPS_UNTIL_PRICING = 12  # without a halving of the gap
_MOST_ROUNDS_WITHOUT_COLUMNS = 8


@dataclass(slots=True, eq=False)
class CurvedState:
    """The working set, its master, and the best point so far."""

    form: CompositeForm
    master: ProximalMaster
    point: FormPoint
    columns_per_round: int
    patience: float  # products that Newton steps may take
    inside: NDArray[np.bool_]
    inner_gap: float = 1e-2
    best_gap: float = np.inf
    stalls: int = 0


def start_curved(
    form: CompositeForm,
    warm: FormPoint | None,
    columns_per_round: int,
    every_column: bool,
    patience: float = np.inf,
) -> CurvedState:
    """Return the first working set: columns that the slopes at zero, or `warm`, ask for."""
    n, d = form.design.n_samples, form.design.n_features
    if warm is None:
        intercept, g = zero_dual(form)
        coef, constraint = np.zeros(d), np.zeros(form.n_constraints)
        q = -form.design.tdot(g)
    else:
        coef, intercept, constraint = warm.coef, warm.intercept, warm.constraint
        g = warm.sample
        q = form.rows_part(constraint) - form.design.tdot(g)
    priced = np.where(form.free_mask, 0.0, q)
    share = form.shrink_factor(priced)
    count = d if every_column else min(d, max(_FIRST_COLUMNS, n))
    chosen = screened_columns(form, q, count)
    support = np.flatnonzero(coef)
    chosen = np.union1d(np.union1d(chosen, support), form.needed_columns)
    master = ProximalMaster(form, share * float(np.abs(priced).max(initial=0.0)))
    master.set_columns(form.whole_groups(chosen))
    master.start_at(coef, intercept, g if warm else share * g)
    inside = np.zeros(d, dtype=bool)
    inside[master.columns] = True
    point = FormPoint(coef, intercept, np.zeros(n), constraint)
    return CurvedState(form, master, point, columns_per_round, patience, inside)


def advance_curved(state: CurvedState, budget: Budget) -> Step:
    """Do up to ``budget.iterations`` rounds."""
    for done in range(1, budget.iterations + 1):
        _solve_restricted(state, max(state.inner_gap, 0.5 * budget.relative_gap), budget)
        relative, grew = _price(state)
        if relative <= budget.relative_gap:
            return Step(done, True)
        if state.master.work > state.patience:
            return Step(done, False, exhausted=True)
        if budget.is_over():
            return Step(done, False)
        if state.master.stopped:  # its next step takes longer than is left
            return Step(done - 1, False)
        if not grew or relative < 3 * state.inner_gap:
            state.inner_gap = max(0.03 * state.inner_gap, 1e-13)
        if not grew and state.stalls >= _MOST_ROUNDS_WITHOUT_COLUMNS:
            return Step(done, False, exhausted=True)
    return Step(budget.iterations, False)


def _solve_restricted(state: CurvedState, target: float, budget: Budget) -> None:
    best, since = np.inf, 0
    for _ in range(_MOST_OUTER_STEPS):
        state.master.outer(budget)
        gap = _restricted_gap(state)
        state.master.tolerance = min(state.master.tolerance, max(_INNER_GAP_SHARE * gap, 1e-10))
        since = 0 if gap < 0.5 * best else since + 1
        best = min(best, gap)
        if gap <= target:
            state.stalls = 0
            return
        if (
            since >= _OUTER_STEPS_UNTIL_PRICING
            or state.master.stopped
            or budget.is_over()
            or state.master.work > state.patience
        ):
            break
    state.stalls += 1


def _restricted_gap(state: CurvedState) -> float:
    """Return the relative gap of the problem on the working set."""
    part = state.master.part
    return _relative(part, *evaluated(part, state.master.point()))[0]


def _relative(form: CompositeForm, point: FormPoint, z: Vector, q: Vector) -> tuple[float, float]:
    """Return the relative gap, or the violation of the constraints if that is worse, and the gap.

    Points a little outside are moved inside before they are certified.
    """
    primal, gap = form.gap(point, z, q)
    relative = relative_gap(primal, gap)
    if not np.isfinite(point.coef).all():
        raise FloatingPointError("coefficients overflowed")  # ends this stage, see `Run`
    if form.n_constraints:
        violation = form.problem.violation(point.coef, roughly=True)[1]
        if violation > relative:
            return violation, max(gap, violation * abs(primal))
    return relative, gap


def _price(state: CurvedState) -> tuple[float, bool]:
    """Return the relative gap of the whole problem, and whether columns were added."""
    form, master = state.form, state.master
    found = master.point()
    coef = np.zeros(state.inside.size)
    coef[master.columns] = found.coef
    point, z, q = evaluated(form, replace(found, coef=coef))
    shift = form.best_intercept(z)
    point = replace(point, intercept=point.intercept + shift)
    relative, gap = _relative(form, point, z + shift, q)
    if gap <= state.best_gap:
        state.best_gap, state.point = gap, point
    new = form.missing_columns(q, state.inside, state.columns_per_round)
    if new.size:
        state.inside[new] = True
        master.set_columns(np.concatenate([master.columns, new]))
    return relative, bool(new.size)


# ---- the proximal method of multipliers ----------------------------------------------------------


_STEP_GROWTH = 2.0  # of the proximal step after an easy inner problem
_LARGEST_STEP_GROWTH = 1e7  # in all, relative to the first step
_MOST_NEWTON_STEPS = 20
_NEWTON_STEPS_OF_EASY_PROBLEM = 8
_STEP_REDUCTION = 5.0  # after an inner problem that was not solved
_NEWTON_STEPS_OF_LOOSE_TOLERANCE = 1  # with so few, the tolerance asked for nothing
_LEAST_TOLERANCE = 1e-10


class ProximalMaster:
    """The method's state; the working set may grow between calls of `solve`."""

    def __init__(self, form: CompositeForm, typical_cost: float) -> None:
        self.form = form
        checkpoint(SECONDS_PER_ROW_LISTED * form.design.n_samples)
        units, n, k = form.units, form.design.n_samples, form.n_constraints
        linear = form.problem.data.samples.linear_rows
        squares = form.design.column_squares()
        self._column_scale = float(np.sqrt(squares.mean())) or 1.0
        self._argument_scale = spread_of_arguments(form)
        width = units.high - units.low
        width = width[np.isfinite(width)]
        self._box_scale = float(width.mean()) if width.size else float(form.weight.mean())
        self._n_rows, self._n_units = n + k, units.sample.size + linear.size
        self._row = np.concatenate([units.sample, linear, n + np.arange(k)])
        direction = form.direction[units.sample]
        self._sign = np.concatenate([direction, np.ones(linear.size + k)])
        rows = form.problem.terms.region.stacked
        self._norms = row_norms(rows.design.X)
        constant = rows.offset * (self._column_scale / self._norms)
        least = np.where(rows.is_equality, -np.inf, 0.0)
        fixed = form.weight[linear]
        self._low = np.concatenate([units.low, fixed, least]) / self._box_scale
        self._high = np.concatenate([units.high, fixed, np.full(k, np.inf)]) / self._box_scale
        lift = form.offset[units.sample] - units.knot
        bend = units.soft * (self._box_scale / self._argument_scale)
        self._method = _core.ProximalMultipliers(
            self._row,
            self._sign,
            self._low,
            self._high,
            np.concatenate([lift, np.zeros(linear.size), -constant]) / self._argument_scale,
            np.concatenate([bend, np.zeros(linear.size + k)]),
            self._n_rows,
            n if form.fit_intercept else 0,
            1.0 / np.sqrt(n),
        )
        self.dual = np.zeros(self._row.size)
        self.columns = np.zeros(0, dtype=np.intp)
        self.coef = np.zeros(0)
        self.scaled_intercept = 0.0
        cost = typical_cost / (self._column_scale * self._box_scale)
        self.step = self._first_step = 0.3 * np.sqrt(n) / max(cost, 1e-3 * np.sqrt(n))
        self.room = self._first_room = 3.0
        self.tolerance = 1e-1
        self.stopped = False  # in its last step

    @property
    def work(self) -> float:
        """Products that the Newton steps have taken."""
        return self._method.work

    # ---- the working set ---------------------------------------------------------------------

    def set_columns(self, columns: Indices) -> None:
        """Make `columns` the working set; coefficients of old columns stay."""
        form = self.form
        everywhere = np.zeros(form.design.n_features)
        everywhere[self.columns] = self.coef
        checkpoint(SECONDS_PER_ENTRY_TURNED * form.design.n_stored * columns.size / everywhere.size)
        self.coef, self.columns = everywhere[columns], columns
        self.part = part = form.on_columns(columns)
        self._pass_penalty(Design(self._scaled_matrix(part)).view)
        self.step = max(self.step / 8.0, self._first_step)
        self.room = max(self.room / 8.0, self._first_room)

    def _scaled_matrix(self, part: CompositeForm) -> Any:
        """Return the columns of the working set, and below them the constraint rows."""
        whole = part.design.X * (1.0 / self._column_scale)
        if self._norms.size:
            rows = sp.csr_array(part.problem.terms.region.stacked.design.X)
            rows = sp.diags_array(-1.0 / self._norms) @ rows
            whole = below(whole, rows if sp.issparse(whole) else rows.toarray())
        if sp.issparse(whole):
            return sp.csc_array(whole, dtype=np.float64)
        return np.asfortranarray(whole, dtype=np.float64)

    def _pass_penalty(self, matrix: _core.DesignView) -> None:
        """Hand matrix and penalty, scaled, to the method."""
        part, method = self.part, self._method
        unit = 1.0 / (self._column_scale * self._box_scale)
        if part.sorted_strengths is not None:
            method.set_sorted(matrix, part.sorted_strengths * unit)
        elif part.groups is not None:
            members = np.concatenate(part.groups).astype(np.int64)
            ends = np.cumsum([0, *(group.size for group in part.groups)]).astype(np.int64)
            largest, each = part.group_costs
            method.set_groups(matrix, members, ends, largest * unit, each * unit)
        else:
            columns, back = part.columns, self._column_scale / self._argument_scale
            lower, upper = columns.lower * back, columns.upper * back
            method.set_separable(matrix, columns.l1 * unit, lower, upper)

    def start_at(self, coef: Vector, intercept: float, sample: Vector) -> None:
        """Start from coefficients of all columns, an intercept and slopes of the samples."""
        left = sample / self._box_scale
        # Parts of a loss are listed outward from its minimum on each side: fill them in turn.
        for first, last in _runs(self._row[: self._n_units]):
            u = slice(first, last)
            i, sign = self._row[u], self._sign[u]
            self.dual[u] = np.clip(sign * left[i], self._low[u], self._high[u])
            left[i] -= sign * self.dual[u]
        unit = self._column_scale / self._argument_scale
        self.coef = coef[self.columns] * unit
        self.scaled_intercept = intercept / self._argument_scale

    # ---- the method --------------------------------------------------------------------------

    def outer(self, budget: Budget) -> None:
        """Take one step of the proximal method of multipliers."""
        taken, self.scaled_intercept, self.stopped = self._method.advance(
            self.dual,
            self.coef,
            self.scaled_intercept,
            self.step,
            self.room,
            self.tolerance,
            _MOST_NEWTON_STEPS,
            budget.left(),
        )
        if self.stopped:
            return
        if taken <= _NEWTON_STEPS_OF_LOOSE_TOLERANCE:  # as good as nothing was asked for
            self.tolerance = max(0.3 * self.tolerance, _LEAST_TOLERANCE)
        factor = 1.0 / _STEP_REDUCTION if taken == _MOST_NEWTON_STEPS else 1.0
        if taken < _NEWTON_STEPS_OF_EASY_PROBLEM:
            factor = _STEP_GROWTH
        self.step = min(self.step * factor, _LARGEST_STEP_GROWTH * self._first_step)
        self.room = min(self.room * factor, _LARGEST_STEP_GROWTH * self._first_room)

    def _slopes(self) -> Vector:
        weights: Vector = self._sign * self.dual
        return np.bincount(self._row, weights, minlength=self._n_rows).astype(np.float64)

    def point(self) -> FormPoint:
        """Return the current point on the working set, in the form's own units."""
        n = self.form.design.n_samples
        g = self._slopes()
        back = self._argument_scale / self._column_scale
        norms = self._norms / self._column_scale
        return FormPoint(
            self.coef * back,
            self.scaled_intercept * self._argument_scale,
            g[:n] * self._box_scale,
            g[n:] * self._box_scale / norms,
        )


def _runs(sample: Indices) -> list[tuple[int, int]]:
    """Return stretches in which no sample comes twice."""
    ends = np.flatnonzero(sample[1:] <= sample[:-1]) + 1
    starts = [0, *ends.tolist()]
    return list(zip(starts, [*ends.tolist(), sample.size]))
