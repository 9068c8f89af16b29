"""Solves the reduced problem of the solver `passes`: near rows, and what frozen rows add."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.problems import Problem
from rectiline.problems.blocks import NearRows
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers._base import Budget
from rectiline.solvers.newton import Newton
from rectiline.solvers.newton._model import Model
from rectiline.solvers.newton._run import Run, Schedule
from rectiline.solvers.passes._coupled import solve_coupled
from rectiline.solvers.passes._frozen import Frozen, Reduced

Vector = NDArray[np.float64]

__all__ = ["solve_reduced"]

_SCHEDULES = (Schedule(50.0, 5.0, 40), Schedule(1.0, 3.0, 15))  # quick, careful
_MOST_STEPS = 300
_CURVED_TARGET = 1e-13
_FAILED = 1e-4  # relative gap from which on another solver has a try


def solve_reduced(
    problem: Problem,
    near: NearRows,
    frozen: Frozen,
    start: Vector | None,
    objective: float,
    target: float,
    deadline: float,
) -> Reduced:
    """Return the answer to the reduced problem.

    Parameters
    ----------
    start : ndarray or None
        Multipliers of the near rows to start from.
    objective : float
        Of the whole problem; `target` is relative to it.
    """
    part = near.problem(problem.terms)
    if Newton.refuses(part) is not None:
        return solve_coupled(part, frozen, objective, target, deadline)
    form = RectifiedForm.apply(part)
    design = form.design.by_rows
    width, kinked = form.slope_width()
    model = Model(form, form.argument_scale(), width)
    linear = frozen.gradient
    if problem.fit_intercept:
        linear = np.append(linear, frozen.total)
    quadratic = None
    if frozen.curvature is not None:
        quadratic = model.contract_matrix(frozen.curvature.copy())
    centre = model.from_user(frozen.coef, frozen.intercept)
    terms = _core.NewtonFrozen(model.contract(linear), quadratic, centre.copy())
    if quadratic is not None:  # a few more steps, and an estimate that bounds what is left
        target = min(target, _CURVED_TARGET)
    best: Reduced | None = None
    for schedule in _SCHEDULES:
        rows = _core.NewtonRows(design.view, form.rows, form.fit_intercept)
        rows.place(model.expand(centre))
        rows.set_multiplier(start)
        multipliers = model.no_multipliers()
        run = Run(
            rows,
            model,
            centre,
            multipliers,
            schedule,
            not kinked,
            frozen=terms,
            reference=abs(objective),
        )
        budget = Budget(_MOST_STEPS, max(deadline - time.perf_counter(), 0.0), target)
        steps = run.solve(target, _MOST_STEPS, budget).steps
        run.move_to_polished()
        constraint = run.constraint_multipliers() / model.row_norm
        coef, intercept = model.to_user(run.b)
        point = FormPoint(coef, intercept, rows.dual(), constraint)
        coef, intercept, dual = form.invert(point)
        gap = float(run.relative_gap)
        if best is None or gap < best.relative_gap:
            best = Reduced(coef, intercept, dual, steps, gap)
        if gap <= target or time.perf_counter() >= deadline:
            break
    assert best is not None
    if best.relative_gap > _FAILED and time.perf_counter() < deadline:
        other = solve_coupled(part, frozen, objective, target, deadline)
        return other if other.relative_gap < best.relative_gap else best
    return best
