"""Rounds of the interior point method for groups: step, price the groups left out, look at the gap.

Groups that the present multipliers ask for join at once, with products of the present size, so that
the method goes on from where it is. Near the end the coefficients are snapped to exact zeros and
caps wherever that does not cost the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.generation._barrier import BarrierMaster

__all__ = ["BarrierState", "advance_barrier", "barrier_refusal", "start_barrier"]

_MOST_SAMPLES = 4000  # the size of the factor
_COLUMNS_PER_SAMPLE = 6  # of the first working set
_FEW_COLUMNS = 3000
_PRODUCTS = 5e9  # of one step for which any number of columns is welcome,
_ENTRIES = 2e7  # as long as they are no more than this
_PRICE_BELOW = 0.1  # relative gap of the working set from which on other groups are looked at
_GROUPS_PER_ROUND = 200
_MOST_STEPS = 150
_PATIENCE = 3  # steps more for exact zeros once the gap is closed


@dataclass(slots=True, eq=False)
class BarrierState:
    """The method, the groups it works on, and the best point so far."""

    form: LinearProgramForm
    master: BarrierMaster
    point: FormPoint
    inside: NDArray[np.bool_]
    best_gap: float = np.inf
    steps: int = 0
    reached: int = 0  # steps since the gap was closed without exact zeros
    failed: bool = False
    history: list[tuple[int, int, float]] = field(default_factory=list)


def barrier_refusal(form: LinearProgramForm) -> str | None:
    """Return why the interior point method does not apply, or None."""
    if form.groups is None:
        return "the penalty has no groups"
    if form.group_costs[1] > 0.0:
        return "the penalty charges single columns of its groups too"
    if form.n_constraints or form.free_columns.size or form.problem.has_linear_term:
        return "there are constraints, columns without cost or a linear term"
    if form.design.n_samples > _MOST_SAMPLES:
        return f"there are more than {_MOST_SAMPLES} samples"
    return None


def start_barrier(form: LinearProgramForm, q: Vector, n_columns: int | None = None) -> BarrierState:
    """Return the method on the groups with the largest sums of ``|q_j|``.

    They have `n_columns` columns or a few more; None: as many as a step can afford.
    """
    assert form.groups is not None
    n, d = form.design.n_samples, form.design.n_features
    totals = np.array([np.abs(q[group]).sum() for group in form.groups])
    order = np.argsort(-totals, kind="stable")
    sizes = np.cumsum([form.groups[g].size for g in order])
    affordable = int(min(_PRODUCTS / n**2, _ENTRIES / n))
    if n_columns is None:
        n_columns = max(_COLUMNS_PER_SAMPLE * n, _FEW_COLUMNS, affordable)
    master = BarrierMaster(form)
    first = [form.groups[g] for g in order[: int(np.searchsorted(sizes, n_columns)) + 1]]
    master.add_groups(first)
    inside = np.zeros(d, dtype=bool)
    inside[master.columns] = True
    point = FormPoint(np.zeros(d), master.b0, np.zeros(n), np.zeros(0))
    return BarrierState(form, master, point, inside)


def advance_barrier(state: BarrierState, budget: Budget) -> Step:
    """Do up to ``budget.iterations`` steps."""
    state.reached = 0  # a gap that closed before was not close enough
    for done in range(1, budget.iterations + 1):
        if _look(state, budget.relative_gap):
            return Step(done, True)
        if budget.is_over():
            return Step(done, False)
        state.steps += 1
        if state.steps > _MOST_STEPS or not state.master.step():
            state.failed = not state.reached
            return Step(done, not state.failed)
    return Step(budget.iterations, False)


def _look(state: BarrierState, target: float) -> bool:
    """Price the present point; whether its gap is closed."""
    form, master = state.form, state.master
    g = master.slopes
    form.rows.clip(g)
    if form.fit_intercept:
        form.rows.balance(g)
    coef = _spread(state, master.b)
    z, image = form.design.both(coef, g)
    relative = _offer(state, FormPoint(coef, master.b0, g, np.zeros(0)), z, -image)
    state.history.append((master.columns.size, state.steps, relative))
    closed = False
    if relative <= 10.0 * target:
        closed = _snap(state, g, -image, target)
        if not closed and relative <= target:
            state.reached += 1
    closed = closed or state.reached > _PATIENCE or (state.reached > 0 and relative > target)
    if not closed and not state.inside.all():
        _add_groups(state, coef, z, g, -image)
    return closed


def _offer(state: BarrierState, point: FormPoint, z: Vector, q: Vector) -> float:
    primal, gap = state.form.gap(point, z + point.intercept, q)
    if gap <= state.best_gap:
        state.best_gap, state.point = gap, point
    return gap / max(abs(primal), abs(primal - gap), 1e-300)


def _snap(state: BarrierState, g: Vector, q: Vector, target: float) -> bool:
    """Make the snapped coefficients the point, if they close the gap."""
    form = state.form
    coef = _spread(state, state.master.snapped())
    z = form.design.dot(coef)
    point = FormPoint(coef, form.best_intercept(z), g, np.zeros(0))
    primal, gap = form.gap(point, z + point.intercept, q)
    if gap > target * max(abs(primal), abs(primal - gap), 1e-300):
        return False
    state.best_gap, state.point = gap, point
    return True


def _add_groups(state: BarrierState, coef: Vector, z: Vector, g: Vector, q: Vector) -> None:
    """Add the groups that q asks for, once the working set itself is nearly solved."""
    form, master = state.form, state.master
    known = np.where(state.inside, q, 0.0)
    primal, gap = form.gap(FormPoint(coef, master.b0, g, np.zeros(0)), z + master.b0, known)
    if gap > _PRICE_BELOW * max(abs(primal), abs(primal - gap), 1e-300):
        return
    atoms = form.penalty.price(q - known, _GROUPS_PER_ROUND)
    if atoms:
        master.add_groups([atom.columns for atom in atoms])
        state.inside[master.columns] = True


def _spread(state: BarrierState, values: Vector) -> Vector:
    full = np.zeros(state.inside.size)
    full[state.master.columns] = values
    return full
