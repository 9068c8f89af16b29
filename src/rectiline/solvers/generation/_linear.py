"""Rounds of pricing on the linear program: solve the master, price, add, until the gap closes.

One round: solve the restricted dual; ``q = R'y - X'g`` tells which directions are missing and
``z = X b + b0`` which units sit at the wrong end; the same two products give the gap.
Directions and units are added together (Algorithm 4 of the paper); with one of the two complete
from the start this is Algorithm 1 or 3, with sorted penalties 5 to 7.

Departures: the dual is the master, units are fixed at both ends, and the gap, not the reduced
cost, says when to stop.

A unit at the bottom of its box is right as long as ``t_i <= t_k``, one at the top as long as
``t_i >= t_k``. Far from its knot it stays at an end of its box and is a constant. Both ends are
allowed, so clearly misclassified samples leave the program as well as clearly well classified ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rectiline._polling import checkpoint, time_left
from rectiline._typing import Indices, Vector
from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers._screening import evaluated, largest, relative_gap, zero_dual
from rectiline.solvers.generation._master import Master, guess_basis, rebuilt
from rectiline.solvers.generation._pricing import AtomPricing, Pricing, pricing_for
from rectiline.solvers.generation._programs import highs_refusal

if TYPE_CHECKING:
    from rectiline.solvers.generation._solver import Generation

_UNITS_PER_WANTED_UNIT = 2.0  # a master with more units than this is rebuilt without the others
_REBUILD_THRESHOLD_GROWTH = 1.3  # factor on that limit after each rebuild
_SETTLED_GAP = 0.1  # relative gap below which units that are far from their kink can be left out
_UNITS_PER_KEPT_UNIT = 6  # above that gap one unit in so many is kept at least
# Simplex steps after which sign vectors of groups are given up while the gap is wide.
_STEPS_PER_SAMPLE_OF_GROUPS, _LEAST_STEPS_OF_GROUPS = 4, 3000
_USABLE = ("optimal", "stalled")  # the point can be priced
_STRENGTH_FACTOR = 0.4  # from one strength of the path down to the next


@dataclass(slots=True, eq=False)
class LinearState:
    """The restricted program and the best point it has produced."""

    form: LinearProgramForm
    pricing: Pricing
    master: Master
    point: FormPoint
    arguments: Vector  # t_i - t_k of every unit at the current predictions
    plan: Generation
    best_gap: float = np.inf
    too_many: float = _UNITS_PER_WANTED_UNIT
    rounds: int = 0
    started_over: bool = False
    relative_gap: float = np.inf  # of the last round
    factor: float = 1.0  # times the penalty: where the path of strengths begins

    @property
    def units_per_round(self) -> int:
        """Most units that a round adds."""
        return self.plan.samples_per_round or 0

    @property
    def is_lost(self) -> bool:
        """Whether sign vectors of groups are too many: after many steps the gap is still wide."""
        if self.plan.master != "auto" or not isinstance(self.pricing, AtomPricing):
            return False
        most = max(_STEPS_PER_SAMPLE_OF_GROUPS * self.form.design.n_samples, _LEAST_STEPS_OF_GROUPS)
        is_wide = _SETTLED_GAP < self.relative_gap < np.inf
        return is_wide and self.rounds >= 3 and self.master.program.n_steps > most


def advance_linear(state: LinearState, budget: Budget) -> Step:
    """Do up to ``budget.iterations`` rounds, after those on the path of strengths."""
    continue_down(state)
    for done in range(1, budget.iterations + 1):
        state.rounds += 1
        status = state.master.solve(budget.left())
        if status == "limit":
            return Step(done, False, exhausted=state.master.patience <= 0.0)
        # Where the restricted problem falls for ever, units near their knots are to stop it.
        most = max(state.units_per_round, state.master.units.size)
        if status == "infeasible" and _add_nearest(state, most):
            continue
        if status not in _USABLE:
            if not _start_over(state):
                return Step(done, False, exhausted=True)
            continue
        step = _price(state, budget.relative_gap)
        if step is False and status == "stalled" and _start_over(state):
            continue
        if step is not None:
            return Step(done, step, exhausted=not step)
        if state.is_lost or budget.is_over():
            return Step(done, False, exhausted=state.is_lost)
    return Step(budget.iterations, False)


def _add_nearest(state: LinearState, count: int) -> bool:
    """Add units next to their knots that are not in the program; False if there are none."""
    master = state.master
    units = nearest_units(state.arguments, np.where(master.is_in, 0.0, master.width), count)
    master.add_units(units)
    return bool(units.size)


def _start_over(state: LinearState) -> bool:
    """Put all units into a new program on HiGHS, once, when the present one has got stuck."""
    if state.started_over or highs_refusal() is not None:
        return False
    state.started_over, old = True, state.master
    everything = nearest_units(state.arguments, old.width, state.arguments.size)
    state.master = Master(old.form, old.directions, old.top, everything, on_highs=True)
    return True


def continue_down(state: LinearState, rounds: int = 2) -> None:
    """Follow the path from a stronger penalty down to the penalty itself (Algorithm 2).

    A few rounds at each strength are enough: what counts are the columns and units they bring. The
    solution at the last strength is what is known when time is up.
    """
    while state.factor > 1.0 and state.master.patience > 0.0:
        state.master.set_factor(state.factor)
        for _ in range(rounds):
            checkpoint()
            status = state.master.solve(time_left())
            if status == "infeasible":
                _add_nearest(state, state.units_per_round)
                continue
            if status not in _USABLE:
                break
            state.point, z, q = evaluated(state.form, state.master.point())
            if not _add(state, z, q):
                break
        state.factor *= _STRENGTH_FACTOR
    state.factor = 1.0
    state.master.set_factor(1.0)


def _add(state: LinearState, z: Vector, q: Vector) -> bool:
    """Add the units and directions that a point asks for; False if there are none."""
    state.arguments = state.form.arguments(z)
    rebuilt = _drop_units(state)
    master = state.master
    units = wrong_units(master, state.arguments, state.units_per_round)
    master.add_units(units)
    added = state.pricing.extend(q / master.factor, state.plan.columns_per_round)
    master.place_directions()
    return bool(units.size or added or rebuilt)


def _drop_units(state: LinearState) -> bool:
    """Rebuild the program without the units far from their knots, once they are the most.

    As long as the gap is wide many units stay: a program over few of them would be unbounded or
    point elsewhere. Every time the next rebuild is put off, so that units cannot come and go for
    ever.
    """
    if not state.plan.samples:
        return False
    master = state.master
    wanted = 4 * int(np.count_nonzero(master.lengths)) + state.units_per_round
    if state.relative_gap > _SETTLED_GAP:
        wanted = max(wanted, state.arguments.size // _UNITS_PER_KEPT_UNIT)
    if master.units.size <= state.too_many * wanted:
        return False
    near = nearest_units(state.arguments, master.width, wanted)
    state.master = rebuilt(master, state.arguments, near)
    state.too_many *= _REBUILD_THRESHOLD_GROWTH
    return True


def _price(state: LinearState, target: float) -> bool | None:
    """Price the master's solution; True: the gap is closed, False: nothing is left to add."""
    point, z, q = evaluated(state.form, state.master.point())
    primal, gap = state.form.gap(point, z, q)
    if gap <= state.best_gap:
        state.best_gap, state.point = gap, point
    state.relative_gap = relative_gap(primal, gap)
    if state.relative_gap <= target:
        return True
    if _add(state, z, q):
        return None
    state.point = point  # the program is complete: its optimum, whatever the estimate says
    return False


# ---- which units move ----------------------------------------------------------------------------


def nearest_units(arguments: Vector, width: Vector, count: int) -> Indices:
    """Return up to `count` units nearest to their knots, among those that have a width."""
    distance = np.where(width > 0, np.abs(arguments), np.inf)
    return largest(-distance, count, -np.inf)


def wrong_units(master: Master, arguments: Vector, limit: int) -> Indices:
    """Return the units outside the program that sit at the wrong end: the costliest."""
    miss = np.where(master.top, -arguments, arguments) * master.width
    miss[master.is_in] = 0.0
    return largest(miss, limit, 0.0)


# ---- where generation starts ---------------------------------------------------------------------


_SAMPLES_SOLVED_WHOLE = 800  # a subsample up to this size is not sampled again
# Where a path starts; at the largest strength all coefficients are zero.
_FIRST_SHARE_OF_LARGEST_STRENGTH = 0.4
_PATIENCE_SHARE_OF_SUBSAMPLES = 0.5  # relative to the work allowed on all samples
_SUBSAMPLE_GAP = 1e-2  # relative; a smaller one would be below the sampling error


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A rough primal point and a dual image for screening."""

    coef: Vector
    intercept: float
    q: Vector
    lost: bool = False  # whether patience ran out on the way


def start_linear(
    form: LinearProgramForm, warm: FormPoint | None, plan: Generation, seed: int
) -> LinearState:
    """Return the first restricted program around a guess; `plan` has no options left open."""
    n, d = form.design.n_samples, form.design.n_features
    guess = _warm_guess(form, warm) if warm is not None else _cold_guess(form, plan, seed)
    if not (np.isfinite(guess.q).all() and np.isfinite(guess.coef).all()):
        raise FloatingPointError("The numbers of the linear program are too large for a float64.")
    pricing = pricing_for(form)
    # Groups found at a larger strength bring the wrong signs: their path has one strength.
    goes_down = warm is None and plan.start_with == "path" and not isinstance(pricing, AtomPricing)
    limit = max(plan.columns_per_round // 4, 20) if plan.columns else 2 * d
    pricing.seed(guess.q, guess.coef, limit)
    z = np.full(n, guess.intercept)
    if guess.coef.any():
        z = z + form.design.dot(guess.coef)
    arguments = form.arguments(z)
    width = form.units.high - form.units.low
    count = arguments.size
    if plan.samples and not goes_down:
        count = max(4 * int(np.count_nonzero(guess.coef)), plan.samples_per_round or 0)
    units = nearest_units(arguments, width, count)
    master = Master(form, pricing.directions, arguments > 0, units)
    master.patience = 0.0 if guess.lost else plan.patience
    if guess.coef.any():
        guess_basis(master, guess.coef, arguments)
    point = FormPoint(np.zeros(d), 0.0, np.zeros(n), np.zeros(form.n_constraints))
    state = LinearState(form, pricing, master, point, arguments, plan)
    if goes_down:
        share = form.shrink_factor(np.where(form.free_mask, 0.0, guess.q))
        state.factor = _FIRST_SHARE_OF_LARGEST_STRENGTH / max(share, 1e-6)
    return state


def restart_linear(state: LinearState, form: LinearProgramForm, patience: float) -> None:
    """Turn the program to another strength of the same penalty; basis, columns and units stay."""
    state.form = state.pricing.form = form
    state.master.rebase(form)
    state.master.patience = patience
    state.best_gap = np.inf
    state.too_many = np.inf  # units that left would be asked for again


def _warm_guess(form: LinearProgramForm, warm: FormPoint) -> Guess:
    q = form.rows_part(warm.constraint) - form.design.tdot(warm.sample)
    return Guess(warm.coef, warm.intercept, q)


def _cold_guess(form: LinearProgramForm, plan: Generation, seed: int) -> Guess:
    intercept, g = zero_dual(form)
    q = -form.design.tdot(g)
    if plan.start_with == "subsample":
        return _subsample_guess(form, plan, intercept, q, seed)
    return Guess(np.zeros(q.size), intercept, q)


def _subsample_guess(
    form: LinearProgramForm, plan: Generation, intercept: float, q: Vector, seed: int
) -> Guess:
    """Solve the program roughly on a random eighth of the samples, which starts the same way."""
    n = form.design.n_samples
    rng = np.random.default_rng(seed)
    samples = np.sort(rng.choice(n, max(n // 8, 1), replace=False))
    if not form.weight[samples].any():
        return Guess(np.zeros(q.size), intercept, q)
    part = form.on_samples(samples)
    few = samples.size <= _SAMPLES_SOLVED_WHOLE
    start = "path" if few else "subsample"
    less = replace(
        plan,
        start_with=start,
        samples=not few,
        patience=_PATIENCE_SHARE_OF_SUBSAMPLES * plan.patience,
    )
    state = start_linear(part, None, less, seed + 1)
    advance_linear(state, Budget(50, time_left(), _SUBSAMPLE_GAP))
    found = state.point
    image = form.rows_part(found.constraint) - part.design.tdot(found.sample)
    return Guess(found.coef, found.intercept, image, lost=state.master.patience <= 0.0)
