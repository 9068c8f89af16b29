"""`interior`: a primal-dual interior point method with predictor and corrector.

See `program` for the problem it solves, `per_row` for the variables of a row, `central` for the step and
`normal` for the linear systems, which are what it costs: one weighted matrix of squares and one Cholesky
factor a step, of the size of the columns or of the rows. Ten to thirty steps whatever the loss, the
strength or the scaling of the columns.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import EpigraphForm, Form, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.interior.central import Iterate, Verdict, iterate, judge
from rectiline.solvers.interior.program import build
from rectiline.solvers.interior.rounding import rounded

__all__ = ["Interior"]

_SAFETY = 0.3  # the certificate may say a little more than the estimate
_ROUNDING_SAFETY = 0.7
_PATIENCE = 8  # steps without progress
_ROUNDING = 1e-20  # mean products below this cannot make the gap smaller
_MOST_COLUMNS = 12_000  # of the matrix to factorise


@dataclass(slots=True, eq=False)
class InteriorState:
    """The iterate and the best pair met."""

    iterate: Iterate
    best: FormPoint
    best_gap: float = np.inf
    since_best: int = 0
    mark: float = np.inf  # the products when there was progress last
    idle: int = 0  # steps since then

    def note(self, verdict: Verdict) -> None:
        """Keep the pair if it is the best so far."""
        gap = max(verdict.relative_gap, verdict.violation)
        self.since_best += 1
        if gap < self.best_gap or not np.isfinite(self.best_gap):
            self.best = self.iterate.program.point(self.iterate.b)
            self.best_gap, self.since_best = gap, 0
        # The gap of an early pair says little: what must fall is the products, down to rounding.
        self.idle += 1
        if self.since_best == 0 or _ROUNDING < verdict.products < 0.5 * self.mark:
            self.idle, self.mark = 0, verdict.products

    @property
    def is_stuck(self) -> bool:
        """Whether there has been no progress for a while."""
        return self.idle >= _PATIENCE

    def round_off(self, target: float) -> None:
        """Give the best pair exact zeros and bounds where it stays good enough for the target."""
        program = self.iterate.program
        if self.since_best == 0:
            b = rounded(self.iterate, max(_ROUNDING_SAFETY * target, self.best_gap))
            coef, intercept = program.coefficients(b)
            self.best = replace(self.best, coef=coef, intercept=intercept)
        columns = program.form.columns
        if columns.has_bounds:
            coef = np.clip(self.best.coef, columns.lower, columns.upper)
            self.best = replace(self.best, coef=coef)


@dataclass(frozen=True, slots=True)
class Interior:
    """Options of the solver.

    Parameters
    ----------
    proximal : float, default=1e-12
        Share of a proximal term in the linear systems; raised when a factorisation fails. It
        regularises the steps, not the answer.
    """

    proximal: float = 1e-12

    name: ClassVar[str] = "interior"
    form: ClassVar[type[Form]] = EpigraphForm
    default_max_iter: ClassVar[int] = 200
    first_burst: ClassVar[int] = 100

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the linear systems would be too large, or None."""
        reason = EpigraphForm.accepts(problem)
        if reason is not None:
            return reason
        return None

    def start(self, form: EpigraphForm, warm: FormPoint | None, seed: int) -> InteriorState:
        """Return the iterate at the starting point."""
        program = build(form)
        b = np.zeros(program.width)
        pull = np.zeros(program.width)
        for block in program.blocks:
            pull += block.pull()
        rows = program.data.rows.size + form.n_constraints
        by_rows = rows < program.width and program.width == form.design.n_features + form.fit_intercept
        state = Iterate(program, b, pull, by_rows, self.proximal)
        return InteriorState(state, program.point(b))

    def advance(self, state: InteriorState, budget: Budget) -> Step:
        """Iterate until the gap estimate meets the target or the budget is spent."""
        began = time.perf_counter()
        step = Step(0, False)
        for done in range(1, budget.iterations + 1):
            moved = iterate(state.iterate)
            verdict = judge(state.iterate)
            if DEBUG:
                it = state.iterate
                print(done, f"gap {verdict.relative_gap:.2e} viol {verdict.violation:.1e} mu {verdict.products:.1e} res {np.abs(it.residual).max():.1e} step {it.step:.4f} prox {it.proximal:.0e}")
            state.note(verdict)
            reached = verdict.meets(_SAFETY * budget.relative_gap)
            step = Step(done, reached, exhausted=not moved or state.is_stuck)
            if reached or step.exhausted or time.perf_counter() - began >= budget.seconds:
                break
        state.round_off(budget.relative_gap)
        return step

    def point(self, state: InteriorState) -> FormPoint:
        """Return the best pair so far."""
        return state.best

    def learn(self, state: InteriorState, certificate: Certificate) -> None:
        """Nothing: the next steps are the same whatever is proved."""

DEBUG = False
