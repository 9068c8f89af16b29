"""Rounds on a working set of columns with a second-order master.

One round: steps of the master until its own gap is closed well enough, then one product with
all of X, which prices the columns left out and gives the gap of the whole problem. A sorted
penalty is tested by the dual norm of all columns together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems.forms import CompositeForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers._screening import screened_columns, zero_dual
from rectiline.solvers.generation._proximal import ProximalMaster

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
        g = form.shrink_factor(np.where(form.free_mask, 0.0, q)) * g
    else:
        coef, intercept, constraint = warm.coef, warm.intercept, warm.constraint
        g = warm.sample
        q = form.rows_part(constraint) - form.design.tdot(g)
    count = d if every_column else min(d, max(_FIRST_COLUMNS, n))
    chosen = screened_columns(form, q, count)
    support = np.flatnonzero(coef)
    chosen = np.union1d(np.union1d(chosen, support), form.needed_columns)
    master = ProximalMaster(form, _typical_cost(form))
    master.set_columns(form.whole_groups(chosen))
    master.start_at(coef, intercept, g)
    inside = np.zeros(d, dtype=bool)
    inside[master.columns] = True
    point = FormPoint(coef, intercept, np.zeros(n), constraint)
    return CurvedState(form, master, point, columns_per_round, patience, inside)


def _typical_cost(form: CompositeForm) -> float:
    """Return what a column costs: the scale of q."""
    if form.sorted_strengths is not None:
        few = min(form.design.n_samples, form.sorted_strengths.size)
        return float(form.sorted_strengths[:few].mean())
    if form.is_separable:
        return float(form.columns.l1.mean())
    sizes, (largest, each) = [group.size for group in form.groups or []], form.group_costs
    return largest / float(np.mean(sizes)) + each


def advance_curved(state: CurvedState, budget: Budget) -> Step:
    """Do up to ``budget.iterations`` rounds."""
    for done in range(1, budget.iterations + 1):
        _solve_restricted(state, max(state.inner_gap, 0.5 * budget.relative_gap), budget)
        relative, grew = _price(state)
        if relative <= budget.relative_gap:
            return Step(done, True)
        if state.master.work > state.patience:
            return Step(done, False, exhausted=True, impatient=True)
        if budget.is_over():
            return Step(done, False)
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
            or budget.is_over()
            or state.master.work > state.patience
        ):
            break
    state.stalls += 1


def _restricted_gap(state: CurvedState) -> float:
    """Return the relative gap of the problem on the working set."""
    found, part = state.master.point(), state.master.part
    g, z, q = _products(part, found.coef, found)
    point = FormPoint(found.coef, 0.0, g, found.constraint)
    return _relative(part, point, z + found.intercept, q)[0]


def _products(form: CompositeForm, coef: Vector, found: FormPoint) -> tuple[Vector, Vector, Vector]:
    """Return multipliers that are feasible, ``X coef`` and q."""
    g = found.sample.copy()
    form.rows.clip(g)
    if form.fit_intercept:
        form.rows.balance(g)
    z, image = form.design.both(coef, g)
    return g, z, form.rows_part(found.constraint) - image


def _relative(form: CompositeForm, point: FormPoint, z: Vector, q: Vector) -> tuple[float, float]:
    """Return the relative gap, or the violation of the constraints if that is worse, and the gap.

    Points a little outside are moved inside before they are certified.
    """
    primal, gap = form.gap(point, z, q)
    relative = gap / max(abs(primal), abs(primal - gap), 1e-300)
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
    g, z, q = _products(form, coef, found)
    intercept = form.best_intercept(z)
    point = FormPoint(coef, intercept, g, found.constraint)
    relative, gap = _relative(form, point, z + intercept, q)
    if gap <= state.best_gap:
        state.best_gap, state.point = gap, point
    new = form.missing_columns(q, state.inside, state.columns_per_round)
    if new.size:
        state.inside[new] = True
        master.set_columns(np.concatenate([master.columns, new]))
    return relative, bool(new.size)
