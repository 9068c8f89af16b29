"""`newton`: a second-order method that touches all rows only a few times.

1. Subsample start (n much larger than d): solve on about one percent of the rows.
2. Working set: freeze the rows far from every knot on their piece, finish on the others, certify with
   one pass over all rows, enlarge and repeat if needed.
3. Otherwise, and as the fallback: all rows.

The method itself is in ``_multipliers.py``; per-row work in ``core/include/rectiline/newton_rows.hpp``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.newton._model import Model, Multipliers
from rectiline.solvers.newton._multipliers import Run, Schedule
from rectiline.solvers.newton._phases import choose_subsample, freeze_far_rows

Vector = NDArray[np.float64]

__all__ = ["Newton"]

_LARGEST_ORDER = 3000  # columns for which a dense Newton matrix is sensible
_FAST = Schedule(start=30.0, factor=5.0, inner_steps=40)  # many more rows than columns
_CAREFUL = Schedule(start=1.0, factor=3.0, inner_steps=15)
_FAST_RATIO = 200  # rows per column from which the fast schedule is measured to win
_MANY_ROWS = 20_000  # from here on freezing rows pays


@dataclass(slots=True, eq=False)
class NewtonState:
    """The pair in scaled variables, and what is known about it."""

    form: RectifiedForm
    model: Model
    rows: _core.NewtonRows
    b: Vector
    multipliers: Multipliers
    smooth: bool
    seed: int
    sample: Vector
    cold: bool
    schedule: Schedule
    share: float = 0.03
    run: Run | None = None
    steps: int = 0
    relative_gap: float = field(default=np.inf)


@dataclass(frozen=True, slots=True)
class Newton:
    """Options of the solver.

    Parameters
    ----------
    subsample : bool, default=True
        Start on a sample of the rows when there are many.
    working_set : bool, default=True
        Freeze rows far from every knot when there are many.
    n_threads : int, default=0
        Threads of the passes over the rows; 0 takes RECTILINE_NUM_THREADS, OMP_NUM_THREADS or the
        number of cores.
    """

    subsample: bool = True
    working_set: bool = True
    n_threads: int = 0

    name: ClassVar[str] = "newton"
    form: ClassVar[type[Any]] = RectifiedForm
    default_max_iter: ClassVar[int] = 500
    first_burst: ClassVar[int] = 150

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the method does not apply, or None."""
        reason = RectifiedForm.accepts(problem)
        if reason is not None:
            return reason
        if problem.n_features > _LARGEST_ORDER:
            return (
                f"it factorises a matrix of the order of the {problem.n_features} columns and takes "
                f"at most {_LARGEST_ORDER}"
            )
        return None

    def start(self, form: RectifiedForm, warm: FormPoint | None, seed: int) -> NewtonState:
        """Return the state at zero, or at `warm`."""
        design = form.design.by_rows
        width, kinked = form.slope_width()
        model = Model(form, form.argument_scale(), width)
        rows = _core.NewtonRows(design.view, form.rows, form.fit_intercept, self.n_threads)
        multipliers = model.no_multipliers()
        b = np.zeros(model.order)
        sample = np.zeros(design.n_samples)
        if warm is not None:
            b = model.from_user(warm.coef, warm.intercept)
            sample = warm.sample
            multipliers.constraint = warm.constraint * model.row_norm
        many = design.n_samples >= _FAST_RATIO * model.order
        plain = not model.kinked.size and not model.n_constraints
        schedule = _FAST if many and plain else _CAREFUL
        return NewtonState(
            form, model, rows, b, multipliers, not kinked, seed, sample, warm is None, schedule
        )

    def advance(self, state: NewtonState, budget: Budget) -> Step:
        """Run the phases until the estimated gap meets the target."""
        deadline = time.perf_counter() + budget.seconds
        before = state.steps
        target = budget.relative_gap
        many = state.form.design.n_samples >= _MANY_ROWS
        if state.cold and self.subsample:
            self._subsample_start(state, budget.iterations, deadline)
        state.cold = False
        if many and self.working_set and state.share < 0.5:
            self._working_set_rounds(state, target, before + budget.iterations, deadline)
        if state.relative_gap > target and time.perf_counter() < deadline:
            left = before + budget.iterations - state.steps
            failed = left > 0 and self._all_rows(state, target, left, deadline)
            return Step(state.steps - before, state.relative_gap <= target, exhausted=failed)
        return Step(state.steps - before, state.relative_gap <= target)

    def _subsample_start(self, state: NewtonState, max_steps: int, deadline: float) -> None:
        index = choose_subsample(state.rows.n, state.model.order, state.seed)
        if index is None:
            return
        rows = state.rows.subset(index, state.rows.n / index.size)
        run = Run(rows, state.model, state.b, state.multipliers, state.schedule, state.smooth)
        rows.set_multiplier(None)
        rows.place(state.b * state.model.scale)
        out = run.solve(1e-4, min(60, max_steps), deadline)
        state.b, state.multipliers = run.b, run.multipliers
        state.steps += out.steps
        state.rows.place(state.b * state.model.scale)
        state.share = min(state.share, 0.03)
        state.cold = False

    def _working_set_rounds(
        self, state: NewtonState, target: float, last_step: int, deadline: float
    ) -> None:
        model = state.model
        if not np.isfinite(state.relative_gap):
            state.rows.place(state.b * model.scale)
        while (
            state.relative_gap > target
            and state.steps < last_step
            and time.perf_counter() < deadline
        ):
            working = freeze_far_rows(state.rows, model, state.b, state.share, np.inf)
            if working is None:
                state.share = 1.0
                return
            rows = working.rows
            rows.set_multiplier(np.ascontiguousarray(state.sample[working.index]))
            run = Run(
                rows,
                model,
                state.b,
                Multipliers(state.multipliers.column, state.multipliers.constraint),
                state.schedule,
                state.smooth,
                frozen=working.frozen,
            )
            out = run.solve(0.2 * target, min(200, last_step - state.steps), deadline)
            state.steps += max(out.steps, 1)
            sample = working.frozen_dual
            sample[working.index] = rows.dual()
            previous = state.relative_gap
            gap = self._judge(state, run, sample)
            if gap < previous:
                state.b, state.multipliers, state.sample = run.b, run.multipliers, sample
                state.relative_gap = gap
            if gap > 0.2 * previous or out.failed:
                state.share *= 3.0

    def _judge(self, state: NewtonState, run: Run, sample: Vector) -> float:
        """Return the relative gap of a reduced run's answer on all rows; leaves them placed there."""
        form, model = state.form, state.model
        coef, intercept = model.to_user(run.b)
        z = form.design.dot(coef, self.n_threads) + intercept
        state.rows.place_at(z)
        loss, fenchel_young = form.rows.sums(z, sample)
        run.loss, run.fenchel_young = loss, fenchel_young
        run.estimate()
        return run.relative_gap

    def _all_rows(
        self, state: NewtonState, target: float, max_steps: int, deadline: float
    ) -> bool:
        model = state.model
        if state.run is None:
            state.rows.place(state.b * model.scale)
            state.rows.set_multiplier(np.ascontiguousarray(state.sample))
            state.run = Run(
                state.rows, model, state.b, state.multipliers, state.schedule, state.smooth
            )
        run = state.run
        out = run.solve(target, max_steps, deadline)
        state.b, state.multipliers = run.b, run.multipliers
        state.sample = state.rows.dual()
        state.steps += out.steps
        state.relative_gap = run.relative_gap
        if out.guards > 4 and run.schedule is _FAST:
            run.schedule = _CAREFUL
            run.growth = _CAREFUL.start
            return False
        return out.failed or out.guards > 4

    def point(self, state: NewtonState) -> FormPoint:
        """Return the current pair."""
        coef, intercept = state.model.to_user(state.b)
        constraint = state.multipliers.constraint
        if state.run is not None and state.model.n_constraints:
            model, run = state.model, state.run
            value = model.rows @ run.b + model.offset
            constraint = model.constraint_slopes(value, run.multipliers, run.growth)
        return FormPoint(coef, intercept, state.sample, constraint / state.model.row_norm)

    def learn(self, state: NewtonState, certificate: Certificate) -> None:
        """Nothing to learn: the next burst aims lower."""
