"""`rehline`: dual coordinate ascent with one exact step per sample.

The loop lives in ``rectiline/rehline/rehline.hpp``, which states the problem, the step and the
departures from the paper. This file starts it, asks for gap-safe screening after certificates, and
refuses what the method cannot do.

An unpenalised intercept is handled by the method of multipliers on ``sum_i g_i = 0``; the
certificate repairs what is left of that sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from rectiline import _core
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers._base import Budget, Step

# Share of the mean squared row length that the intercept's multiplier step gets.
_LEAST_INTERCEPT_STEP_SHARE = 0.1  # relative to the mean squared norm of a row
_COLUMNS_TO_ACCELERATE = 1000
_SWEEP_OVERHEAD_IN_ROWS = 50  # cost of a sweep besides its rows
_SWEEPS_BETWEEN_ESTIMATES = 4  # of the rate of convergence


@dataclass(slots=True, eq=False)
class RehlineState:
    """The compiled loop and the best gap known, for screening."""

    loop: _core.Rehline
    form: RectifiedForm
    screened_gap: float = math.inf
    work: float = 0.0  # in sweeps over all rows
    first_look: tuple[float, float] | None = None  # work and relative gap then
    best_gap: float = math.inf  # smallest estimate of the relative gap


@dataclass(frozen=True, slots=True)
class Rehline:
    """Coordinate ascent on units, `solver="rehline"`; its fields are options.

    Parameters
    ----------
    shuffle : bool, default=True
        Visit blocks of rows in random order; False is cyclic, as Algorithm 1 of the paper is.
    accelerate : bool, optional
        Take conjugate gradient steps on the free duals when many sweeps seem to be left. The
        default does so from 1,000 columns on; with few columns sweeps alone are faster.
    shrink : bool, default=True
        Set rows aside that sit still far from every knot, until the gap looks closed.
    screen : bool, default=True
        Fix rows for good once the certified gap proves where they end (not with an intercept).
    patience : float, optional
        Give up when more work than this many sweeps over all rows is done, or seems to be left by
        the rate so far.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> problem = rl.Problem(np.eye(3), [1, 0, 1], "hinge", fit_intercept=False)
    >>> rl.solve(problem, "rehline", shuffle=False).solver
    'rehline'
    """

    shuffle: bool = True
    accelerate: bool | None = None
    shrink: bool = True
    screen: bool = True
    patience: float | None = None

    name: ClassVar[str] = "rehline"
    form: ClassVar[type[Any]] = RectifiedForm
    default_max_iter: ClassVar[int] = 10_000
    first_burst: ClassVar[int] = 60  # its estimate is close: certificates in between only screen

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why dual coordinate ascent does not apply, or None."""
        reason = RectifiedForm.accepts(problem)
        if reason is not None:
            return reason
        if not problem.columns.strongly_convex:
            return "it needs a ridge part on every coefficient (Ridge, or ElasticNet with l2 > 0)"
        return None

    def start(self, form: RectifiedForm, warm: FormPoint | None, seed: int) -> RehlineState:
        """Return the loop at zero multipliers, or at those of `warm`."""
        design = form.design.without_zeros
        step = 0.0
        if form.fit_intercept:
            squares = design.row_squares(1.0 / form.columns.rho)[form.weight > 0]
            # Rows (nearly) zero move nothing but the intercept: then the losses set the unit.
            unit = form.argument_scale() / (form.slope_width()[0] * form.total_weight)
            step = max(_LEAST_INTERCEPT_STEP_SHARE * float(squares.mean()), unit)
        loop = _core.Rehline(
            design.view,
            form.rows,
            form.columns.core,
            form.constraint_design.by_rows.view,
            form.constraint_offset,
            form.is_equality,
            self.shuffle,
            design.n_features >= _COLUMNS_TO_ACCELERATE
            if self.accelerate is None
            else self.accelerate,
            self.shrink,
            step,
            seed,
        )
        if warm is not None:
            loop.restart(warm.sample, warm.constraint, warm.intercept)
        return RehlineState(loop, form)

    def advance(self, state: RehlineState, budget: Budget) -> Step:
        """Sweep until the gap estimate meets the target or the budget is spent."""
        if self.patience is None:
            done = state.loop.run(budget.iterations, *_targets(budget), budget.left())
            return Step(done.sweeps, done.reached)
        return self._advance_while_it_pays(state, budget)

    def _advance_while_it_pays(self, state: RehlineState, budget: Budget) -> Step:
        """Sweep a few times at a time and extrapolate how much work is left."""
        form, total = state.form, 0
        of_constraints = form.constraint_design.n_stored / max(form.design.n_stored, 1)
        while total < budget.iterations:
            few = min(_SWEEPS_BETWEEN_ESTIMATES, budget.iterations - total)
            done = state.loop.run(few, *_targets(budget), budget.left())
            total += done.sweeps
            if done.reached or done.interrupted or budget.is_over():
                return Step(total, done.reached)
            visits = done.visits + _SWEEP_OVERHEAD_IN_ROWS * done.sweeps
            state.work += visits / form.design.n_samples + done.sweeps * of_constraints
            objective = done.objective if budget.objective is None else budget.objective
            ratio = done.gap / max(abs(objective), 1e-300)
            if self._gives_up(state, ratio, budget.relative_gap):
                return Step(total, False, exhausted=True)
        return Step(total, False)

    def _gives_up(self, state: RehlineState, ratio: float, target: float) -> bool:
        """Whether the rate since the first look leaves too much work.

        Estimates while rows are set aside miss their share, and jump when the rows come back: the
        smallest one so far is compared with the first.
        """
        assert self.patience is not None
        state.best_gap = min(state.best_gap, ratio)
        if state.first_look is None:
            state.first_look = (state.work, ratio)
            return False
        before, first = state.first_look
        if state.work > self.patience:
            return True
        still = math.log(max(state.best_gap / target, 1.0))
        gained = math.log(max(first / state.best_gap, 1.0)) if state.best_gap > 0 else math.inf
        return still * (state.work - before) > self.patience * gained

    def point(self, state: RehlineState) -> FormPoint:
        """Return the current pair."""
        loop = state.loop
        return FormPoint(loop.coef, loop.intercept, loop.sample_dual, loop.constraint_dual)

    def learn(self, state: RehlineState, certificate: Certificate) -> None:
        """Look at all rows again; screen when the certified gap has fallen enough for a pass."""
        state.loop.take_all_rows_back()
        if not self.screen or state.form.fit_intercept or certificate.relative_violation > 1e-9:
            return
        if certificate.gap < 0.1 * state.screened_gap:
            state.screened_gap = certificate.gap
            state.loop.screen(certificate.gap)


def _targets(budget: Budget) -> tuple[float, float]:
    """Return the absolute and the relative target of the compiled loop.

    Its own idea of the objective comes from its first sweep; a certified one is better.
    """
    if budget.objective is None:
        return 0.0, budget.relative_gap
    return budget.relative_gap * abs(budget.objective), 0.0
