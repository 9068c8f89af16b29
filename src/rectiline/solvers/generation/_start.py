"""Where generation starts: which directions and which units are in the first program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rectiline._polling import time_left
from rectiline._typing import Indices, Vector
from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget
from rectiline.solvers._screening import zero_dual
from rectiline.solvers.generation._linear import (
    LinearState,
    advance_linear,
    continue_down,
    nearest_units,
)
from rectiline.solvers.generation._master import Master, guess_basis
from rectiline.solvers.generation._pricing import AtomPricing, pricing_for

if TYPE_CHECKING:
    from rectiline.solvers.generation._solver import Generation

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
    width = form.weight[form.units.sample]
    count = arguments.size
    if plan.samples and not goes_down:
        count = max(4 * int(np.count_nonzero(guess.coef)), plan.samples_per_round or 0)
    units = nearest_units(arguments, width, count)
    master = Master(form, pricing.directions, arguments > 0, units)
    master.patience = 0.0 if guess.lost else plan.patience
    if guess.coef.any():
        guess_basis(master, guess.coef, arguments)
    point = FormPoint(np.zeros(d), 0.0, np.zeros(n), np.zeros(form.n_constraints))
    state = LinearState(
        form,
        pricing,
        master,
        point,
        arguments,
        plan.columns_per_round,
        plan.samples_per_round or 0,
        bool(plan.samples),
    )
    if goes_down:
        share = form.shrink_factor(_without(guess.q, form.free_columns))
        continue_down(state, _FIRST_SHARE_OF_LARGEST_STRENGTH / max(share, 1e-6))
    return state


def restart_linear(state: LinearState, form: LinearProgramForm) -> None:
    """Turn the program to another strength of the same penalty; basis and columns stay."""
    state.form = state.pricing.form = form
    state.master.rebase(form)
    state.best_gap = np.inf


def _without(q: Vector, columns: Indices) -> Vector:
    q = q.copy()
    q[columns] = 0.0
    return q


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
