"""`newton`: a second-order method that touches all rows only a few times.

1. Subsample start (n much larger than d): solve on about one percent of the rows.
2. Working set: freeze the rows far from every knot on their piece, finish on the others, certify
   with one pass over all rows, enlarge and repeat if needed.
3. Otherwise, and as the fallback: all rows.

The method itself is in ``rectiline/newton/newton_run.hpp``, its work per row in
``rectiline/newton/newton_rows.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.newton._model import Model, Multipliers
from rectiline.solvers.newton._phases import (
    choose_subsamples,
    copy_rows,
    freeze_far_rows,
    row_lengths,
)
from rectiline.solvers.newton._run import Run, Schedule
from rectiline.solvers.newton._starts import column_multipliers, gentle_start

Vector = NDArray[np.float64]

__all__ = ["Newton"]

_FAST = Schedule(start=10.0, factor=5.0, inner_steps=40)  # many more rows than columns
_CAREFUL = Schedule(start=1.0, factor=3.0, inner_steps=15)
_WARM_START = 30.0
_FAST_RATIO = 200  # rows per column from which the fast schedule is measured to win
_MOST_ENTRIES = 50_000_000  # of constraint rows, which are made dense
_REACH = 4.0  # rows within this many typical moves of a knot stay in the working set
_SMOOTH_SAMPLE, _KINKED_SAMPLE = 20, 50  # rows per column of the smallest sample to start on
_WARM_ROUGH = 1e-2  # relative gap of a warm start from which on the same is hoped for
_ROUGH = 1e-3  # relative gap on all rows from which most rows stay on their piece
_NEAR_SHARE = 0.1  # rows of the first working set when nothing is known about moves to come
_STIFFER = 5.0  # start of the working set against the start on all rows: multipliers are better
_FREEZE_ROWS = 1000  # and rows in all
_FREEZE_RATIO = 20  # rows per column from which a working set pays
_TINY = 2000  # entries of X up to which a few more steps take less time than a certificate in vain
_TIGHTER = 1e-3  # of the target, for those; no less than
_LEAST_TARGET = 1e-11  # relative gap


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
    may_freeze: bool  # whether a working set can pay
    reach: float | None = None  # how far arguments may still move, once known,
    least_reach: float = 0.0  # and no less, since shorter ones have misled it
    length: Vector | None = None  # of each row, for the working set
    growth: float = 0.0  # stiffness that the last reduced run ended with
    run: Run | None = None
    steps: int = 0
    relative_gap: float = field(default=np.inf)
    objective: float = 0.0  # of the pair on all rows, once known
    moved: float | None = None  # by how much arguments moved in a working set not judged since


@dataclass(frozen=True, slots=True)
class Newton:
    """Options of the solver.

    Parameters
    ----------
    subsample : bool, default=True
        Start on a sample of the rows when there are many.
    working_set : bool, default=True
        Freeze rows far from every knot when there are many.
    """

    subsample: bool = True
    working_set: bool = True

    name: ClassVar[str] = "newton"
    form: ClassVar[type[Any]] = RectifiedForm
    default_max_iter: ClassVar[int] = 500
    first_burst: ClassVar[int] = 150

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the method does not apply, or None."""
        rows = problem.constraint_rows
        entries = (rows.c.size + rows.f.size) * problem.n_features
        if entries > _MOST_ENTRIES:
            return f"its copy of the constraint rows would have {entries:,} entries"
        return RectifiedForm.accepts(problem)

    def start(self, form: RectifiedForm, warm: FormPoint | None, seed: int) -> NewtonState:
        """Return the state at zero, or at `warm`."""
        design = form.design.by_rows
        width, kinked = form.slope_width()
        model = Model(form, form.argument_scale(), width)
        rows = _core.NewtonRows(design.view, form.rows, form.fit_intercept)
        multipliers = model.no_multipliers()
        b = np.zeros(model.order)
        sample = np.zeros(design.n_samples)
        if warm is not None:
            b = model.from_user(warm.coef, warm.intercept)
            sample = warm.sample
            multipliers.constraint = warm.constraint * model.row_norm
            if model.kinked.size:
                multipliers.column = column_multipliers(form, model, b, warm)
        many = design.n_samples >= _FAST_RATIO * model.order
        plain = not model.kinked.size and not model.n_constraints
        schedule = _FAST if many and plain else _CAREFUL
        if warm is not None:  # good multipliers make stiff envelopes safe
            schedule = replace(schedule, start=_WARM_START * schedule.start)
        elif design.n_samples <= 2 * model.order and form.columns.strongly_convex:
            schedule = replace(schedule, start=min(1.0, gentle_start(form, model)))
        return NewtonState(
            form=form,
            model=model,
            rows=rows,
            b=b,
            multipliers=multipliers,
            smooth=not kinked,
            seed=seed,
            sample=sample,
            cold=warm is None,
            schedule=schedule,
            may_freeze=self.working_set
            and design.n_samples >= max(_FREEZE_RATIO * model.order, _FREEZE_ROWS),
        )

    def advance(self, state: NewtonState, budget: Budget) -> Step:
        """Run the phases until the estimated gap meets the target."""
        before = state.steps
        target = budget.relative_gap
        if state.form.design.n_stored <= _TINY:
            target = max(_TIGHTER * target, min(target, _LEAST_TARGET))
        if state.relative_gap <= target:  # believed, but not certified: look again
            state.relative_gap = np.inf
            self._look_at_all_rows(state)
        last = before + budget.iterations
        if state.cold and self.subsample:
            self._subsample_start(state, budget.iterations, budget)
            if budget.is_over():
                return Step(max(state.steps - before, 1), False)
        if state.smooth:
            state.may_freeze = False  # a few steps on all rows are enough
        if state.may_freeze and state.reach is None:
            self._prepare_to_freeze(state, target, last, budget)
        state.cold = False
        if state.may_freeze:
            self._working_set_rounds(state, target, last, budget)
        failed = False
        if state.relative_gap > target and not budget.is_over():
            left = last - state.steps
            failed = left > 0 and self._all_rows(state, target, left, budget)
        return Step(state.steps - before, state.relative_gap <= target, exhausted=failed)

    def _subsample_start(self, state: NewtonState, max_steps: int, budget: Budget) -> None:
        model = state.model
        first = _SMOOTH_SAMPLE if state.smooth else _KINKED_SAMPLE
        levels = choose_subsamples(state.rows.n, model.order, state.seed, first)
        for index in levels:
            if budget.is_over():
                return
            rows = copy_rows(state.rows, index, model, state.rows.n / index.size)
            rows.set_multiplier(None)
            rows.place(model.expand(state.b))
            before = rows.arguments()
            run = Run(rows, model, state.b, state.multipliers, state.schedule, state.smooth)
            out = run.solve(1e-4, min(60, max_steps), budget)
            state.b, state.multipliers = run.b, run.multipliers
            state.steps += out.steps
            # The error falls with the square root of the rows: what the last level moved, scaled.
            if index is levels[-1] and len(levels) > 1 and not budget.is_over():
                state.length = row_lengths(model)
                change = (rows.arguments() - before) / state.length[index]
                state.reach = _REACH * float(np.sqrt(0.1 * np.mean(change * change)))
        if levels and not budget.is_over():
            state.rows.place(model.expand(state.b))

    def _prepare_to_freeze(
        self, state: NewtonState, target: float, last_step: int, budget: Budget
    ) -> None:
        """Find which rows are near a knot, after a rough answer on all rows."""
        if state.cold or self._whole_run(state).look() > _WARM_ROUGH:
            self._all_rows(state, max(target, _ROUGH), last_step - state.steps, budget)
        state.length = row_lengths(state.model)
        near = state.rows.slack() / state.length
        share = int(_NEAR_SHARE * near.size)
        state.reach = float(np.partition(near, share)[share])

    def _working_set_rounds(
        self, state: NewtonState, target: float, last_step: int, budget: Budget
    ) -> None:
        model = state.model
        while state.relative_gap > target and state.steps < last_step and not budget.is_over():
            assert state.reach is not None and state.length is not None
            working = freeze_far_rows(
                state.rows, model, state.b, state.reach, state.length, budget.left
            )
            if working is None:
                state.may_freeze = False
                return
            rows = working.rows
            rows.set_multiplier(np.ascontiguousarray(state.sample[working.index]))
            stiffness = max(_STIFFER * state.schedule.start, state.growth / 25.0)
            schedule = replace(state.schedule, start=min(stiffness, 1e3))
            multipliers = Multipliers(state.multipliers.column, state.multipliers.constraint)
            before = rows.arguments()
            run = Run(
                rows,
                model,
                state.b,
                multipliers,
                schedule,
                state.smooth,
                frozen=working.frozen,
                reference=abs(state.objective),
            )
            # No use in solving the reduced problem far beyond what freezing lets it prove.
            aim = 0.2 * target if state.relative_gap < 1e-3 else max(0.2 * target, 1e-6)
            out = run.solve(aim, min(200, last_step - state.steps), budget)
            state.steps += max(out.steps, 1)
            sample = working.frozen_dual
            sample[working.index] = rows.dual()
            change = (rows.arguments() - before) / state.length[working.index]
            moved = _REACH * float(np.sqrt(np.mean(change * change)))
            previous = state.relative_gap
            run.move_to_polished()
            if aim < target and run.relative_gap <= aim and state.relative_gap < _ROUGH:
                # The certificate is about to look at all rows: no need to do so here as well.
                state.b, state.multipliers, state.sample = run.b, run.multipliers, sample
                state.relative_gap, state.growth, state.run = run.relative_gap, run.growth, None
                state.moved = moved
                return
            gap = self._judge(state, run, sample)
            if gap < previous:
                state.b, state.multipliers, state.sample = run.b, run.multipliers, sample
                state.relative_gap, state.growth = gap, run.growth
                state.objective = run.objective
                state.reach = max(0.2 * state.reach, state.least_reach)
                state.run = None
            else:
                state.rows.place(model.expand(state.b))
            if gap > 0.2 * previous or out.failed:
                state.reach = max(5.0 * state.reach, 2.0 * moved)

    def _look_at_all_rows(self, state: NewtonState) -> None:
        """Go on after an answer on a working set that all rows did not bear out."""
        if state.moved is None or state.reach is None:
            return
        state.rows.place(state.model.expand(state.b))
        state.reach = state.least_reach = max(5.0 * state.reach, 2.0 * state.moved)
        state.moved = None

    def _judge(self, state: NewtonState, run: Run, sample: Vector) -> float:
        """Return the relative gap of a reduced run's answer on all rows; they stay placed there."""
        form, model = state.form, state.model
        coef, intercept = model.to_user(run.b)
        z = form.design.dot(coef) + intercept
        state.rows.place_at(z)
        run.judge(*form.rows.sums(z, sample))
        return run.relative_gap

    @staticmethod
    def _whole_run(state: NewtonState) -> Run:
        """Return the run on all rows, started at the pair at hand if there is none."""
        if state.run is None:
            state.rows.place(state.model.expand(state.b))
            state.rows.set_multiplier(np.ascontiguousarray(state.sample))
            state.run = Run(
                state.rows, state.model, state.b, state.multipliers, state.schedule, state.smooth
            )
        return state.run

    def _all_rows(self, state: NewtonState, target: float, max_steps: int, budget: Budget) -> bool:
        run = self._whole_run(state)
        out = run.solve(target, max_steps, budget)
        state.b, state.multipliers = run.b, run.multipliers
        state.sample = state.rows.dual()
        state.steps += out.steps
        state.relative_gap, state.objective = run.relative_gap, run.objective
        if out.guards > 4 and run.schedule is _FAST:
            run.restart(_CAREFUL)
            return False
        return out.failed or out.guards > 4

    def point(self, state: NewtonState) -> FormPoint:
        """Return the current pair, with exact zeros and bounds where it has reached them."""
        model, b, run = state.model, state.b, state.run
        constraint = state.multipliers.constraint
        if run is not None:
            b = run.polished()
            constraint = run.constraint_multipliers()
        coef, intercept = model.to_user(b)
        return FormPoint(coef, intercept, state.sample, constraint / state.model.row_norm)

    def learn(self, state: NewtonState, certificate: Certificate) -> None:
        """Nothing to learn: the next burst aims lower."""
