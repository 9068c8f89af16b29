"""`newton`: a semismooth-Newton method of multipliers, on few of many rows where that is enough.

1. Samples (many more rows than columns): solve on about one percent of the rows, then on ten.
   Without samples: solve roughly on all rows.
2. Working set (losses with kinks): freeze the rows far from every knot on their piece and solve on
   the others. Frozen rows that the answer moves to another piece join the next set, whose centre is
   the best answer so far.
3. Otherwise, and as the fallback: all rows.

The method itself is in ``rectiline/newton/newton_run.hpp``, its work per row in
``rectiline/newton/newton_rows.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rectiline import _core
from rectiline._typing import Mask, Vector
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import FormPoint, RectifiedForm, ReducedForm
from rectiline.rows import on_host, spread_rows
from rectiline.solvers._base import Budget, Step
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.newton._model import (
    Model,
    Multipliers,
    Schedule,
    WorkingSet,
    copy_rows,
    row_lengths,
)

_WARM_STIFFNESS_FACTOR = 30.0  # on the first stiffness of a schedule
# From so many rows per column on a stiffer start saves up to a third of the time.
_ROWS_PER_COLUMN_FOR_STIFF_START, _STIFF_START = 200, 10.0
_MOST_CONSTRAINT_ENTRIES = 50_000_000  # rows of constraints are made dense
_SAMPLE_TARGET, _SAMPLE_STEPS = 1e-4, 60
_REACH_IN_MOVES = 3.0  # rows within this many typical moves of a knot stay in the working set
# Of the next working set, after a poor and after a good step.
_REACH_GROWTH, _REACH_REDUCTION = 5.0, 0.2
_GOOD_STEP_GAP_SHARE = 0.2  # share of the gap that a good step leaves at most
_MOST_POOR_STEPS = 5  # in a row, after which all rows are looked at
_WARM_GAP_TO_FREEZE = 1e-2  # relative gap of a warm start up to which rows are frozen around it
_GAP_TO_FREEZE = 1e-3  # relative gap on all rows below which most rows stay on their piece
_FIRST_NEAR_SHARE = 0.1  # share of rows in a first working set when no moves are known
_WORKING_SET_STIFFNESS_FACTOR = 5.0  # relative to the start on all rows: multipliers are better
_WORKING_SET_TARGET_SHARE = 0.2
_WORKING_SET_STEPS = 300
# Up to this many entries of X a few steps are faster than a failed certificate.
_TINY_ENTRIES = 8000
# Such problems are solved to this share, but not below this relative gap.
_TINY_TARGET_SHARE, _LEAST_TINY_TARGET = 1e-3, 1e-11


@dataclass(slots=True, eq=False)
class NewtonState:
    """The pair in scaled variables, and what is known about it."""

    form: RectifiedForm
    model: Model
    rows: _core.NewtonRows
    b: Vector
    multipliers: Multipliers
    seed: int
    sample: Vector
    is_cold: bool
    schedule: Schedule
    has_working_set: bool
    reach: float | None = None  # how far arguments may still move, once known
    kept: Mask | None = None  # rows of the next working set besides those within reach
    length: Vector | None = None  # of each row, for the working set
    working: WorkingSet | None = None  # that the pair comes from, until it is evaluated
    poor_steps: int = 0  # of working sets, in a row
    certified_gap: float = np.inf  # of the best answer (estimated before the first certificate),
    best: tuple[Vector, Multipliers, Vector] | None = None  # and the answer
    run: _core.NewtonRun | None = None  # on all rows
    steps: int = 0
    relative_gap: float = np.inf  # estimated
    objective: float = 0.0  # on all rows, once known


@dataclass(frozen=True, slots=True)
class Newton:
    """Newton's method, `solver="newton"`; its fields are options.

    Parameters
    ----------
    subsample : bool, default=True
        Start on a sample of the rows when there are many.
    working_set : bool, default=True
        Freeze rows far from every knot when there are many.

    Notes
    -----
    An array of 500,000 to 50,000,000 entries of which more than 70 % are zero (images, counts) is
    also kept as a CSR matrix as long as its problem exists, with at most 12 bytes for each entry
    that is not zero: 45 % of X, 180 MB. On images of digits that makes the squared hinge 3 to 4.6
    times faster, and `rehline`, which does the same, 4 to 7 times. Rows of a sample or working set,
    less than half of all, are copied while they are worked on.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> problem = rl.Problem(np.eye(3), [1.0, 2.0, 3.0], "huber")
    >>> rl.solve(problem, "newton", working_set=False).solver
    'newton'
    """

    subsample: bool = True
    working_set: bool = True

    name: ClassVar[str] = "newton"
    form: ClassVar[type[Any]] = RectifiedForm
    default_max_iter: ClassVar[int] = 500
    first_burst: ClassVar[int] = 400

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the method does not apply, or None."""
        rows = problem.constraint_rows
        entries = (rows.c.size + rows.f.size) * problem.n_features
        if entries > _MOST_CONSTRAINT_ENTRIES:
            return f"its copy of the constraint rows would have {entries:,} entries"
        return RectifiedForm.accepts(problem)

    def start(self, form: RectifiedForm, warm: FormPoint | None, seed: int) -> NewtonState:
        """Return the state at zero, or at `warm`."""
        design = form.design.without_zeros
        n = design.n_samples
        model = Model(form)
        rows = _core.NewtonRows(design.view, form.rows, form.fit_intercept)
        multipliers = model.no_multipliers()
        b, sample = np.zeros(model.order), np.zeros(n)
        if warm is not None:
            b = model.from_user(warm.coef, warm.intercept)
            sample, multipliers = warm.sample, model.multipliers(b, warm)
        plain = not model.terms.n_kinked and not form.n_constraints
        is_tall = plain and n >= _ROWS_PER_COLUMN_FOR_STIFF_START * model.order
        schedule = Schedule(start=_STIFF_START if is_tall else 1.0)
        if warm is not None:  # good multipliers make stiff envelopes safe
            schedule = schedule._replace(start=_WARM_STIFFNESS_FACTOR * schedule.start)
        elif n <= 2 * model.order and form.columns.strongly_convex:
            schedule = schedule._replace(start=min(1.0, model.gentle_start()))
        return NewtonState(
            form=form,
            model=model,
            rows=rows,
            b=b,
            multipliers=multipliers,
            seed=seed,
            sample=sample,
            is_cold=warm is None,
            schedule=schedule,
            # Without kinks, or on tiny problems, a few steps on all rows are enough.
            has_working_set=self.working_set
            and model.is_kinked
            and design.n_stored > _TINY_ENTRIES
            and RowPlan(n, model.order).has_working_set,
        )

    def advance(self, state: NewtonState, budget: Budget) -> Step:
        """Run until the estimated gap on a working set, or on all rows, meets the target."""
        before, target = state.steps, budget.relative_gap
        if state.form.design.n_stored <= _TINY_ENTRIES:
            target = max(_TINY_TARGET_SHARE * target, min(target, _LEAST_TINY_TARGET))
        if state.is_cold and self.subsample:
            self._start_on_samples(state, budget)
            if budget.is_over():
                return Step(max(state.steps - before, 1), False)
        last = before + budget.iterations
        if state.has_working_set and state.reach is None:
            self._prepare_to_freeze(state, target, last - state.steps, budget)
        state.is_cold = False
        failed = False
        while state.relative_gap > target and not budget.is_over() and state.steps < last:
            left = last - state.steps
            if not state.has_working_set:
                failed = self._on_all_rows(state, target, left, budget)
                break
            if self._on_working_set(state, target, left, budget):
                break
        return Step(state.steps - before, state.relative_gap <= target, exhausted=failed)

    def _start_on_samples(self, state: NewtonState, budget: Budget) -> None:
        model, n = state.model, state.rows.n
        sizes = RowPlan(n, model.order).newton_samples(not model.is_kinked)
        for size in sizes:
            index, _ = spread_rows(n, size, on_host(state.seed))
            rows = copy_rows(model, index, state.b, n / index.size)
            before = rows.arguments()
            run = _core.NewtonRun(
                model.terms, rows, None, state.b, *state.multipliers, state.schedule
            )
            state.steps += run.solve(_SAMPLE_TARGET, _SAMPLE_STEPS, budget.left())[0]
            state.b, state.multipliers, state.objective = run.b, Multipliers.of(run), run.objective
            if budget.is_over():
                return
        if sizes:
            state.rows.place(model.terms.expand(state.b))
        if len(sizes) > 1 and state.has_working_set:
            # The error falls with the square root of the rows: what the last sample moved, scaled.
            state.length = row_lengths(model)
            change = (rows.arguments() - before) / state.length[index]
            share = sizes[-2] / sizes[-1]
            state.reach = _REACH_IN_MOVES * float(np.sqrt(share * np.mean(change * change)))

    def _prepare_to_freeze(
        self, state: NewtonState, target: float, max_steps: int, budget: Budget
    ) -> None:
        """Find which rows are near a knot, after a rough answer on all rows."""
        if not state.relative_gap <= _WARM_GAP_TO_FREEZE:
            self._on_all_rows(state, max(target, _GAP_TO_FREEZE), max_steps, budget)
        state.certified_gap = state.relative_gap
        state.best = state.b, state.multipliers, state.sample
        state.length = row_lengths(state.model)
        near = state.rows.slack() / state.length
        share = int(_FIRST_NEAR_SHARE * near.size)
        state.reach = float(np.partition(near, share)[share])

    def _on_working_set(
        self, state: NewtonState, target: float, max_steps: int, budget: Budget
    ) -> bool:
        """Solve on the rows near a knot; return whether there is an answer to be evaluated."""
        assert state.reach is not None and state.length is not None
        working = None
        if state.poor_steps < _MOST_POOR_STEPS:
            working = WorkingSet.split(
                state.rows, state.model, state.b, state.reach, state.length, budget, state.kept
            )
        if working is None:
            state.has_working_set = False
            return False
        stiffness = _WORKING_SET_STIFFNESS_FACTOR * state.schedule.start
        schedule = state.schedule._replace(start=stiffness, guards=1)
        run, sample, steps, failed = working.solve(
            state.sample,
            state.multipliers,
            schedule,
            state.objective,
            _WORKING_SET_TARGET_SHARE * target,
            min(_WORKING_SET_STEPS, max_steps),
            budget,
        )
        state.steps += max(steps, 1)
        state.reach = working.reach
        if failed:  # too few rows to hold the others: where it ends is no centre
            state.reach, state.poor_steps = _REACH_GROWTH * state.reach, state.poor_steps + 1
            return False
        state.working = working
        state.b, state.multipliers, state.sample, state.run = (
            run.b,
            Multipliers.of(run),
            sample,
            None,
        )
        # Frozen rows may have left their piece: a look at them takes half of a certificate.
        z = self._predictions(state)
        run.estimate(*state.form.rows.sums(z, sample))
        state.relative_gap = run.relative_gap
        if run.relative_gap <= target:
            return True
        self._evaluate(state, run.relative_gap, run.objective, z)
        return False

    @staticmethod
    def _predictions(state: NewtonState) -> Vector:
        """Return the predictions of all rows."""
        coef, intercept = state.model.to_user(state.b)
        return state.form.design.dot(coef) + intercept

    def _on_all_rows(
        self, state: NewtonState, target: float, max_steps: int, budget: Budget
    ) -> bool:
        """Solve on all rows; return whether this fails."""
        run, terms = state.run, state.model.terms
        if run is None:  # it starts at the pair at hand
            state.rows.place(terms.expand(state.b))
            state.rows.set_multiplier(np.ascontiguousarray(state.sample))
            run = state.run = _core.NewtonRun(
                terms, state.rows, None, state.b, *state.multipliers, state.schedule
            )
        steps, failed = run.solve(target, max_steps, budget.left())
        state.b, state.multipliers = run.b, Multipliers.of(run)
        state.sample = state.rows.dual()
        state.steps += steps
        state.relative_gap, state.objective = run.relative_gap, run.objective
        return failed

    def point(self, state: NewtonState) -> FormPoint:
        """Return the current pair, with exact zeros and bounds where it has reached them."""
        model, run = state.model, state.run
        coef, intercept = model.to_user(state.b if run is None else run.polished())
        constraint = state.multipliers.constraint / model.row_norm
        return FormPoint(coef, intercept, state.sample, constraint)

    def learn(self, state: NewtonState, certificate: Certificate) -> None:
        """Go on after an answer that was refused."""
        state.relative_gap = np.inf
        if state.working is not None:  # it was none on all rows
            z = self._predictions(state)
            self._evaluate(state, certificate.relative_gap, certificate.primal, z)

    def _evaluate(self, state: NewtonState, gap: float, objective: float, z: Vector) -> None:
        """Choose centre and rows of the next working set, given the last answer's predictions."""
        before, working = state.certified_gap, state.working
        assert working is not None and state.reach is not None
        state.relative_gap, state.working = np.inf, None
        state.kept = state.form.rows.slopes(z) != state.sample  # frozen rows on another piece
        state.kept[working.index] = False
        if gap <= min(_GOOD_STEP_GAP_SHARE * before, _GAP_TO_FREEZE):
            state.reach, state.poor_steps = _REACH_REDUCTION * state.reach, 0
        else:
            state.poor_steps += 1
            state.has_working_set = bool(state.kept.any())  # or else more rows do not help
            state.kept[working.index] = True
        if gap < before:
            state.certified_gap, state.objective = gap, objective
            state.best = state.b, state.multipliers, state.sample
            state.rows.place_at(z)
        else:
            assert state.best is not None
            state.b, state.multipliers, state.sample = state.best
            state.rows.place(state.model.terms.expand(state.b))


@dataclass(frozen=True, slots=True)
class ReducedNewton(Newton):
    """`newton` in the span of the rows, for many more columns than rows under a ridge penalty.

    Parameters
    ----------
    subsample, working_set : bool, default=True
        As for `Newton`.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X = np.random.default_rng(0).standard_normal((5, 50))
    >>> rl.solve(rl.Problem(X, [1.0, 2.0, 3.0, 4.0, 5.0], "huber"), "reduced_newton").solver
    'reduced_newton'
    """

    name: ClassVar[str] = "reduced_newton"
    form: ClassVar[type[Any]] = ReducedForm

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the problem does not reduce to the span of its rows, or None."""
        return ReducedForm.accepts(problem)
