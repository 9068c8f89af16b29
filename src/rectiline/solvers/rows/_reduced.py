"""The reduced problem of the solver `passes`: near rows, and what the frozen rows add."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rectiline import _core
from rectiline._polling import time_left
from rectiline._typing import Matrix, Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import NearRows, Totals, with_frozen_rows
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers._base import Pair
from rectiline.solvers._polish import optimality_step
from rectiline.solvers.newton import Newton
from rectiline.solvers.newton._model import Model, Schedule

_SCHEDULE = Schedule(50.0, 5.0, 40)
_MOST_STEPS = 300
_CURVED_TARGET = 1e-13
_POLISHED_TARGET = 1e-8  # relative gap from which on answers are exact enough as they are
_MOST_POLISH_STEPS = 8
_SAME_COEFFICIENTS = 1e-13  # relative to the largest one: smaller changes are rounding
_SAME_MULTIPLIERS = 1e-9  # likewise, in a proof that bears them
_FAILED_GAP = 1e-4  # relative gap from which on another solver has a try


@dataclass(frozen=True, slots=True, eq=False)
class Frozen:
    """What frozen rows add around a point: gradient, its intercept entry, curvature or None."""

    coef: Vector
    intercept: float
    gradient: Vector
    total: float
    curvature: Matrix | None
    loss: float

    @classmethod
    def nothing(cls, coef: Vector, intercept: float, loss: float) -> Frozen:
        """Return the term of no rows."""
        return cls(coef, intercept, np.zeros(coef.size), 0.0, None, loss)

    def moved_to(self, coef: Vector, intercept: float) -> Frozen:
        """Return this term written around another point."""
        gradient, total = self.gradient, self.total
        if self.curvature is not None:
            d = coef.size
            step = np.append(coef - self.coef, intercept - self.intercept)
            change = self.curvature @ step[: self.curvature.shape[0]]
            gradient = gradient + change[:d]
            total += float(change[d:].sum())
        return replace(self, coef=coef, intercept=intercept, gradient=gradient, total=total)

    def changed(self, totals: Totals) -> Frozen:
        """Return the term after a split around the same point, which freezes other rows."""
        matrix = self.curvature
        if totals.has("curvature"):
            change = np.asarray(totals["curvature"])
            order = math.isqrt(change.size)
            matrix = change.reshape(order, order) + (0.0 if matrix is None else matrix)
        gradient = self.gradient + np.asarray(totals["change"])
        total = self.total + float(totals["change_total"])
        return replace(self, gradient=gradient, total=total, curvature=matrix)


def solve_reduced(
    problem: Problem,
    near: NearRows,
    frozen: Frozen,
    objective: float,
    target: float,
    is_proved: bool = False,
) -> Pair:
    """Return the answer to the reduced problem; `target` is relative to `objective`, of all rows.

    It ends early when whoever is asked at checkpoints has no time left. `is_proved` asks for an
    answer whose own certificate reaches the target: multipliers of Newton's method may have a
    small gap, and leave free columns that no exact ones balance.
    """
    part = near.problem(problem.terms)
    if is_proved or Newton.refuses(part) is not None:
        return _solve_as_rows(part, frozen, objective, target)[0]
    form = RectifiedForm.apply(part)
    model = Model(form)
    centre = model.from_user(frozen.coef, frozen.intercept)
    linear = model.joined(frozen.gradient, frozen.total)
    terms = _core.NewtonFrozen(model.terms, linear, frozen.curvature, centre)
    rows = _core.NewtonRows(form.design.by_rows.view, form.rows, form.fit_intercept)
    rows.place(model.terms.expand(centre))
    rows.set_multiplier(None)
    run = _core.NewtonRun(
        model.terms, rows, terms, centre, *model.no_multipliers(), _SCHEDULE, abs(objective)
    )
    # With curvature the estimate only bounds what is left.
    aim = target if frozen.curvature is None else min(target, _CURVED_TARGET)
    run.solve(aim, _MOST_STEPS, time_left())
    run.move_to_polished()
    constraint = run.constraint_multipliers() / model.row_norm
    coef, intercept = model.to_user(run.b)
    best = Pair(*form.invert(FormPoint(coef, intercept, rows.dual(), constraint)))
    if run.relative_gap > _FAILED_GAP and time_left() > 0.0:
        other, gap = _solve_as_rows(part, frozen, objective, aim)
        best = other if gap < run.relative_gap else best
    return best if target > _POLISHED_TARGET else _polished(part, frozen, best)


def _polished(near: Problem, frozen: Frozen, found: Pair) -> Pair:
    """Return the answer exact up to rounding, if Newton's method on its pieces converges.

    The slope at a coefficient that a penalty or bound holds costs as much in a proof as it is
    wrong, and multipliers of frozen rows cannot be moved to mend it: coefficients that are right
    to half the digits would prove an objective to half of them. Tight rows beside bounds leave
    multipliers undetermined, and the step may choose worse ones.
    """
    if not near.is_separable or near.has_constraint_rows:
        return found
    if not (near.columns.has_l1 or near.columns.has_bounds):
        return found
    pair = found
    for _ in range(_MOST_POLISH_STEPS):
        moved = optimality_step(near, pair, frozen)
        if moved is None:
            return found
        ended = not (
            _differs(pair.coef, moved.coef, _SAME_COEFFICIENTS)
            or _differs(pair.dual.sample, moved.dual.sample, _SAME_MULTIPLIERS)
        )
        pair = moved
        if ended:
            before, after = (_gap(near, frozen, one) for one in (found, pair))
            return pair if after <= before else found
    return found


def _differs(one: Vector, other: Vector, share: float) -> bool:
    size = np.abs(other).max(initial=0.0)
    return bool(np.abs(one - other).max(initial=0.0) > share * size)


def _gap(near: Problem, frozen: Frozen, found: Pair) -> float:
    """Return about the duality gap of an answer, with the share of its multipliers in range."""
    sample = found.dual.sample.copy()
    if sample.size:
        near.rows.clip(sample)
    if _differs(sample, found.dual.sample, _SAME_MULTIPLIERS):
        return math.inf  # they are outside their boxes
    here = frozen.moved_to(found.coef, found.intercept)
    q = near.terms.region.combined(found.dual) - near.design.tdot(sample) - here.gradient
    nothing = np.zeros(q.size)
    share = near.terms.safe_share(q, nothing)
    gap = (1.0 - share) * abs(frozen.loss)
    gap += near.terms.penalty_terms(found.coef, share * q, nothing).gap
    if near.fit_intercept:
        imbalance = abs(float(sample.sum()) + here.total)
        gap += imbalance * (abs(found.intercept) + near.argument_scale)
    z = near.design.dot(found.coef) + found.intercept
    return gap + float(near.rows.sums(z, share * sample)[1])


def _solve_as_rows(
    near: Problem, frozen: Frozen, objective: float, target: float
) -> tuple[Pair, float]:
    """Return the answer with frozen rows stated as rows of a problem, which any solver takes.

    The second value is its gap, relative to `objective`.
    """
    from rectiline.solvers._drive import solve_quietly

    centre = (frozen.coef, frozen.intercept)
    whole = with_frozen_rows(
        near, centre, frozen.gradient, frozen.total, frozen.curvature, frozen.loss
    )
    size = abs(whole.objective(*centre))
    tol = float(np.clip(target * abs(objective) / max(size, 1e-300), 1e-13, 1e-2))
    found = solve_quietly(whole, tol)
    dual = replace(found.dual, sample=found.dual.sample[: near.n_samples])
    gap = found.certificate.relative_gap * size / max(abs(objective), 1e-300)
    return Pair(found.coef, found.intercept, dual), gap
