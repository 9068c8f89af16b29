"""Rounds of pricing on the linear program: solve the master, price, add, until the gap closes.

One round: solve the restricted dual; ``q = R'y - X'g`` tells which directions are missing and
``z = X b + b0`` which units sit at the wrong end; the same two products give the gap. Directions and
units are added together (Algorithm 4 of the paper); with one of the two complete from the start this
is Algorithm 1 or 3, with sorted penalties 5 to 7.

Departures: the dual is the master, units are fixed at both ends, and the gap, not the reduced cost,
says when to stop.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.generation._master import Master
from rectiline.solvers.generation._pricing import Pricing
from rectiline.solvers.generation._samples import opposing_units, wrong_units

Vector = NDArray[np.float64]

__all__ = ["LinearState", "advance_linear"]


@dataclass(slots=True, eq=False)
class LinearState:
    """The restricted program and the best point it has produced."""

    form: LinearProgramForm
    pricing: Pricing
    master: Master
    point: FormPoint
    arguments: Vector  # t_i - t_k of every unit at the current predictions
    directions_per_round: int
    units_per_round: int
    best_gap: float = np.inf
    rounds: int = 0
    history: list[tuple[int, int, float]] = field(default_factory=list)


def advance_linear(state: LinearState, budget: Budget) -> Step:
    """Do up to ``budget.iterations`` rounds."""
    ends = time.perf_counter() + budget.seconds
    for done in range(1, budget.iterations + 1):
        state.rounds += 1
        status = state.master.solve(max(ends - time.perf_counter(), 0.0))
        if status == "limit":
            return Step(done, False)
        if status == "infeasible":
            units = opposing_units(
                state.master, state.arguments, max(state.units_per_round, state.master.units.size)
            )
            if not units.size:
                return Step(done, False, exhausted=True)
            state.master.add_units(units)
            continue
        if status != "optimal":
            return Step(done, False, exhausted=True)
        step = _price(state, budget.relative_gap)
        if step is not None:
            return Step(done, step, exhausted=not step)
        if time.perf_counter() >= ends:
            break
    return Step(budget.iterations, False)


def _price(state: LinearState, target: float) -> bool | None:
    """Price the master's solution; True: the gap is closed, False: nothing is left to add."""
    form, found = state.form, state.master.point()
    point = FormPoint(found.coef, found.intercept, found.sample, found.constraint)
    product, image = form.design.both(point.coef, point.sample)
    z, q = product + point.intercept, form.rows_part(point.constraint) - image
    primal, gap = form.gap(point, z, q)
    relative = gap / max(abs(primal), abs(primal - gap), 1e-300)
    state.arguments = form.arguments(z)
    if gap <= state.best_gap:
        state.best_gap, state.point = gap, point
    state.history.append((state.pricing.directions.size, state.master.units.size, relative))
    if relative <= target:
        return True
    units = wrong_units(state.master, state.arguments, state.units_per_round)
    state.master.add_units(units)
    if not state.pricing.extend(q, state.directions_per_round) and not units.size:
        return False
    state.master.place_directions()
    return None
