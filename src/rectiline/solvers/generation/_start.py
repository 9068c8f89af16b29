"""Where generation starts: which directions and which units are in the first program."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rectiline._polling import time_left
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget
from rectiline.solvers._screening import zero_dual
from rectiline.solvers.generation._linear import (
    LinearState,
    advance_linear,
    continue_down,
    drop_directions,
)
from rectiline.solvers.generation._master import Master
from rectiline.solvers.generation._pricing import AtomPricing, pricing_for
from rectiline.solvers.generation._rebuild import guess_basis
from rectiline.solvers.generation._units import nearest_units
from rectiline.solvers.smoothed import Smoothed

__all__ = ["Plan", "restart_linear", "start_linear"]

_SMALLEST_SAMPLE = 800  # subsamples of this size are solved whole
_PATH_START = 0.4  # of the strength at which the coefficients become zero
_EXPECTED = 40  # most columns that are added before the next strength asks for them
_LESS_PATIENCE = 0.5  # with a subsample than with everything
_INNER, _NEXT_TO = 0.01, 1e-9  # share of a box that counts as inside; distance to the knot then
_ROUGH_GAP = 1e-2  # a subsample is not worth more accuracy than its sampling error


@dataclass(frozen=True, slots=True)
class Plan:
    """How a solve starts and grows; see the options of `Generation`."""

    start: str
    columns: bool
    samples: bool
    directions_per_round: int
    units_per_round: int
    patience: float = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A rough primal point and a dual image for screening."""

    coef: Vector
    intercept: float
    q: Vector
    lost: bool = False  # whether patience ran out on the way


def start_linear(
    form: LinearProgramForm, warm: FormPoint | None, plan: Plan, seed: int
) -> LinearState:
    """Return the first restricted program around a guess."""
    n, d = form.design.n_samples, form.design.n_features
    guess = _warm_guess(form, warm) if warm is not None else _cold_guess(form, plan, seed)
    if not (np.isfinite(guess.q).all() and np.isfinite(guess.coef).all()):
        raise FloatingPointError("The numbers of the linear program are too large for a float64.")
    pricing = pricing_for(form)
    # Groups found at a larger strength bring the wrong signs: their path has one strength.
    goes_down = warm is None and plan.start == "path" and not isinstance(pricing, AtomPricing)
    limit = max(plan.directions_per_round // 4, 20) if plan.columns else 2 * d
    pricing.seed(guess.q, guess.coef, limit)
    z = np.full(n, guess.intercept)
    if guess.coef.any():
        product = form.design.dot(guess.coef)
        if warm is None and plan.start != "subsample" and form.fit_intercept:
            z = product + form.best_intercept(product)
        else:
            z = z + product
    arguments = form.arguments(z)
    width = form.weight[form.units.sample]
    count = arguments.size
    if plan.samples and not goes_down:
        count = max(4 * int(np.count_nonzero(guess.coef)), plan.units_per_round)
    units = nearest_units(arguments, width, count)
    master = Master(form, pricing.directions, arguments > 0, units)
    master.patience = 0.0 if guess.lost else plan.patience
    if guess.coef.any():
        at = arguments if warm is None else _at_knots(form, arguments, warm.sample)
        guess_basis(master, guess.coef, at)
    point = FormPoint(np.zeros(d), 0.0, np.zeros(n), np.zeros(form.n_constraints))
    state = LinearState(
        form,
        pricing,
        master,
        point,
        arguments,
        plan.directions_per_round,
        plan.units_per_round,
        plan.samples,
    )
    if goes_down:
        share = form.shrink_factor(_without(guess.q, form.free_columns))
        continue_down(state, _PATH_START / max(share, 1e-6))
    return state


def restart_linear(state: LinearState, form: LinearProgramForm) -> None:
    """Turn the program to another strength of the same penalty; basis and columns stay.

    Columns that the strong rule expects are added at once: those with ``|q_j|`` above what the new
    cost leaves if q moves by no more than the cost does.
    """
    share = form.penalty.strength / state.form.penalty.strength
    state.form = state.pricing.form = form
    state.master.rebase(form)
    drop_directions(state)
    state.best_gap = np.inf
    if state.q is not None and 0.5 < share < 1.0:
        expected = share / (2.0 * share - 1.0)
        state.pricing.extend(state.q * expected, min(_EXPECTED, state.directions_per_round // 2))
        state.master.place_directions()


def _image(design: Design, g: Vector) -> Vector:
    """Return ``X'g``; rows with the most common slope are in the sums of the columns already."""
    levels, counts = np.unique(g, return_counts=True)
    level = float(levels[np.argmax(counts)])
    if level == 0.0 or 4 * counts.max() < g.size:
        return design.tdot(g)
    return level * design.column_sums + design.tdot(g - level)


def _without(q: Vector, columns: Indices) -> Vector:
    q = q.copy()
    q[columns] = 0.0
    return q


def _at_knots(form: LinearProgramForm, arguments: Vector, g: Vector) -> Vector:
    """Return the arguments with those near zero whose multipliers are well inside their boxes.

    These units are at their knots in the end, wherever a rough solution has them.
    """
    i = form.units.sample
    slope = form.direction[i] * g[i] / np.maximum(form.weight[i], 1e-300) - form.least_slope[i]
    share = np.clip(slope / form.units.jump, 0.0, 1.0)
    inner = np.minimum(share, 1.0 - share)
    return np.where(inner > _INNER, np.copysign(_NEXT_TO * (1.0 - inner), arguments), arguments)


def _warm_guess(form: LinearProgramForm, warm: FormPoint) -> Guess:
    q = form.rows_part(warm.constraint) - form.design.tdot(warm.sample)
    return Guess(warm.coef, warm.intercept, q)


def _cold_guess(form: LinearProgramForm, plan: Plan, seed: int) -> Guess:
    intercept, g = zero_dual(form)
    q = -_image(form.design, g)
    if plan.start == "subsample":
        return _subsample_guess(form, plan, intercept, q, seed)
    if plan.start == "smoothed":
        rough = Smoothed(hands_over=True)
        started = rough.start(form, None, seed)
        rough.advance(started, Budget(rough.default_max_iter, time_left(), _ROUGH_GAP))
        return Guess(started.best.coef, started.best.intercept, q)
    return Guess(np.zeros(q.size), intercept, q)


def _subsample_guess(
    form: LinearProgramForm, plan: Plan, intercept: float, q: Vector, seed: int
) -> Guess:
    """Solve the program roughly on a random eighth of the samples, which starts the same way."""
    n = form.design.n_samples
    rng = np.random.default_rng(seed)
    samples = np.sort(rng.choice(n, max(n // 8, 1), replace=False))
    if not form.weight[samples].any():
        return Guess(np.zeros(q.size), intercept, q)
    part = form.on_samples(samples)
    few = samples.size <= _SMALLEST_SAMPLE
    start = "path" if few else "subsample"
    less = replace(plan, start=start, samples=not few, patience=_LESS_PATIENCE * plan.patience)
    state = start_linear(part, None, less, seed + 1)
    advance_linear(state, Budget(50, time_left(), _ROUGH_GAP))
    found = state.point
    image = form.rows_part(found.constraint) - part.design.tdot(found.sample)
    return Guess(found.coef, found.intercept, image, lost=state.master.patience <= 0.0)
