"""The stage of `solve` that makes a nearly optimal pair exact up to rounding.

`Polish` is a solver whose step is `optimality_step`; the driver keeps a step only if it certifies
better. `polish_answer` is what ``solve(..., polish=True)`` adds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.problems.forms import FormPoint, ProblemForm
from rectiline.problems.intercepts import middle_intercept
from rectiline.solvers._base import Budget, Pair, Stage, Step
from rectiline.solvers._optimality import optimality_step
from rectiline.solvers._run import Run

_MOST_POLISH_STEPS = 4
_MOST_FAILURES = 2  # steps that did not improve the certificate
_MOST_ENTRIES_TO_POLISH = 200_000  # stored entries of X; beyond, a step costs more than it gains
# Stored entries of X up to which solving further takes milliseconds.
_MOST_ENTRIES_TO_SOLVE_ON = 50_000
_MOST_COLUMNS_TO_SOLVE_ON = 100
_MOST_STEPS_TO_SOLVE_ON = 100  # by each solver
_MOST_SAMPLES_TO_CENTRE = 100_000  # the search of the central intercept sorts them
_POLISHED_GAP = 1e-14  # relative gap, rounding included, at which polishing ends
_EXACT_GAP = 1e-12  # relative gap down to which the solvers go on
_CENTRING_GAP = 1e-14  # relative gap that a central intercept may cost
_INSIDE_SHARE = 1e-9  # a multiplier this share of its range from both ends determines the intercept


@dataclass(slots=True, eq=False)
class PolishState:
    """The pair at hand, the best certificate seen and how many steps did not improve it."""

    form: ProblemForm
    pair: Pair | None
    best: float = np.inf
    steps: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Polish:
    """Newton's method on the optimality conditions, as a solver without options."""

    name: ClassVar[str] = "polish"
    form: ClassVar[type[Any]] = ProblemForm
    default_max_iter: ClassVar[int] = 100  # never reached: it gives up after a few steps
    first_burst: ClassVar[int] = 1

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why there is no such step, or None."""
        if not problem.is_separable:
            return "the penalty couples columns"
        if problem.design.n_stored > _MOST_ENTRIES_TO_POLISH:
            return f"X has more than {_MOST_ENTRIES_TO_POLISH} entries"
        return None

    def start(self, form: ProblemForm, warm: FormPoint | None, seed: int) -> PolishState:
        """Return the state at the best pair; without one there is nothing to polish."""
        return PolishState(form, None if warm is None else Pair(*form.invert(warm)))

    def advance(self, state: PolishState, budget: Budget) -> Step:
        """Take one step; after a wrong guess of the pieces the next one starts nearer."""
        moved = None
        if (
            state.pair is not None
            and state.steps < _MOST_POLISH_STEPS
            and state.failures < _MOST_FAILURES
        ):
            moved = optimality_step(state.form.problem, state.pair)
        if moved is None:
            return Step(0, False, exhausted=True)
        state.pair, state.steps = moved, state.steps + 1
        return Step(1, False)

    def point(self, state: PolishState) -> FormPoint:
        """Return the pair at hand."""
        assert state.pair is not None
        return state.form.point_of(*state.pair)

    def learn(self, state: PolishState, certificate: Certificate) -> None:
        """Count the steps that did not help."""
        worst = max(certificate.relative_gap, certificate.relative_violation)
        if worst >= 0.5 * state.best:  # of an exact answer only the bound on rounding is left
            state.failures += _MOST_FAILURES if state.best <= _EXACT_GAP else 1
        state.best = min(worst, state.best)


POLISH_STAGE = Stage(Polish(), "polish: one linear system for the pieces that the pair lies on")


def polish_answer(run: Run, plan: Callable[[], Sequence[Stage]]) -> None:
    """Make a solved pair exact up to rounding where that is cheap; part of `solve`.

    Where the pieces are still undecided, the solvers of `plan()` go on for a few steps. Of several
    best intercepts the middle one is taken, so that a sample of weight two and the same sample
    twice give equal models.
    """
    problem: Problem = run.problem
    run.run_stages([POLISH_STAGE], _POLISHED_GAP, after_others=True)
    small = (
        problem.design.n_stored <= _MOST_ENTRIES_TO_SOLVE_ON
        and problem.n_features <= _MOST_COLUMNS_TO_SOLVE_ON
    )
    if small and problem.is_separable and run.verdict(_EXACT_GAP) is None:
        run.run_stages(plan(), _EXACT_GAP, _MOST_STEPS_TO_SOLVE_ON)
        if run.verdict(_POLISHED_GAP) is None:
            run.run_stages([POLISH_STAGE], _POLISHED_GAP, after_others=True)
    if run.clock.left() > 0.0:
        _centre_intercept(run)


def _centre_intercept(run: Run) -> None:
    best = run.best
    assert best.pair is not None
    coef, intercept, dual = best.pair
    central = central_intercept(run.problem, coef, intercept, dual)
    if central != intercept:
        best.replace(coef, central, dual, max(best.certificate.relative_gap, _CENTRING_GAP))


def central_intercept(problem: Problem, coef: Vector, intercept: float, dual: DualPoint) -> float:
    """Return the middle one of several best intercepts, where there are several."""
    if not problem.fit_intercept or problem.n_samples > _MOST_SAMPLES_TO_CENTRE:
        return intercept
    # A multiplier inside its box leaves one best intercept only.
    low, high = problem.dual_boxes
    room, width = np.minimum(dual.sample - low, high - dual.sample), high - low
    if ((room > _INSIDE_SHARE * width) | np.isinf(width)).any():
        return intercept
    return middle_intercept(problem, coef)
