"""Solve the problems behind one fit, in threads, with limits and reports, and prove them again.

Constraints that contradict each other are told in the names of the columns.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rectiline._polling import Clock
from rectiline.estimators._parameters import made
from rectiline.estimators._show import FitReport
from rectiline.exceptions import ConvergenceWarning, InfeasibleError
from rectiline.paths import in_threads
from rectiline.problems import DualPoint, Problem
from rectiline.problems.blocks import SplitDual
from rectiline.solvers import Solution, Status, check_takes_rows, solve, solve_family

__all__ = [
    "RunOptions",
    "proved_again",
    "raise_if_infeasible",
    "seed_of",
    "solve_all",
    "solve_in_passes",
]

# Problems on the same dense X that are solved in shared passes: how many, on how many rows.
_SHARED_PROBLEMS, _SHARED_ROWS, _SHARED_ROWS_PER_COLUMN = 3, 200_000, 10_000


@dataclass(frozen=True)
class RunOptions:
    """How to solve: what the parameters of an estimator say about the run."""

    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    time_limit: float | None = None
    n_jobs: int | None = None
    seed: int = 0
    solver_options: dict[str, Any] = field(default_factory=dict)
    polish: bool = True

    @classmethod
    def of(cls, estimator: Any, clock: Clock) -> RunOptions:
        """Read the options off an estimator; the time limit is what is left of it."""
        solver = estimator._run_solver()
        return cls(
            solver=solver,
            tol=estimator.tol,
            max_iter=estimator.max_iter,
            time_limit=clock.remaining,
            n_jobs=estimator.n_jobs,
            seed=seed_of(estimator.random_state),
            # The options of another library's solver are not for ours.
            solver_options=dict(estimator.solver_options or {})
            if solver == estimator.solver
            else {},
        )

    def keywords(self, time_limit: float | None) -> dict[str, Any]:
        """Return the keyword arguments of `rectiline.solve`, for a part of the time."""
        return {
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "time_limit": time_limit,
            "random_state": self.seed,
            **self.solver_options,
        }


def seed_of(random_state: Any) -> int:
    """Return the seed of a `random_state`; None means 0, so that equal data give equal models."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def solve_all(
    factories: Sequence[Callable[[], Any]],
    options: RunOptions,
    warm: Sequence[Solution] = (),
    report: FitReport | None = None,
) -> list[Solution]:
    """Solve every problem; the time limit is for all of them together, in fair shares.

    Problems are made where they are solved, so that threads share the work of encoding too.
    Where there are as many answers in `warm` they are starts.
    """
    if len(warm) != len(factories):
        warm = ()
    ends = None if options.time_limit is None else time.perf_counter() + options.time_limit
    parallel = len(factories) > 1 and options.n_jobs is not None and options.n_jobs != 1
    workers = min(effective_n_jobs(options.n_jobs), len(factories)) if parallel else 1
    waiting = list(range(len(factories)))  # taking one off is atomic

    first = factories[0]()
    if not first.is_in_memory:
        family = [first, *(make() for make in factories[1:])]
        return _solve_family(family, options, report, warm)
    are_shared = False
    if not warm and _may_share_passes(first, len(factories), options):
        problems = [first, *(make() for make in factories[1:])]
        factories = [partial(made, problem) for problem in problems]
        are_shared = all(problem.design is first.design for problem in problems)
    if are_shared:
        with warnings.catch_warnings():  # what is not solved gets another solver, which tells
            warnings.simplefilter("ignore", ConvergenceWarning)
            warm = _solve_family(problems, options, report)

    def one(index: int) -> Solution:
        if are_shared and warm[index].status == "solved":
            return warm[index]
        share = None
        if ends is not None:
            rounds = -(-len(waiting) // workers)  # how often the time left has to be shared out
            share = max((ends - time.perf_counter()) / max(rounds, 1), 1e-6)
        waiting.pop()
        problem = factories[index]() if index else first
        start = _usable(warm[index], problem) if warm else None
        callback = None if report is None else report.for_problem(index)
        solution = solve(
            problem,
            warm_start=start,
            callback=callback,
            polish=options.polish,
            **options.keywords(share),
        )
        raise_if_infeasible(solution)
        if report is not None:
            report.solved(index, solution)
        return solution

    if not parallel:
        return [one(index) for index in range(len(factories))]
    assert options.n_jobs is not None
    return in_threads(one, range(len(factories)), options.n_jobs)


def _may_share_passes(problem: Problem, count: int, options: RunOptions) -> bool:
    """Whether several problems with many rows are quicker in passes that they share.

    Measured for nine quantiles: 1.0 to 1.5 times quicker than one by one on 200,000 x 20, 1.6 to
    2.4 times on 1,000,000 x 20.
    """
    rows = max(_SHARED_ROWS, _SHARED_ROWS_PER_COLUMN * problem.n_features)
    return (
        count >= _SHARED_PROBLEMS
        and options.solver == "auto"
        and not options.solver_options
        and problem.n_samples >= rows
        and problem.is_separable
        and not problem.design.is_sparse
        and not any(loss.curve.curvature.any() for loss in problem.losses)
    )


def _solve_family(
    problems: Sequence[Problem],
    options: RunOptions,
    report: FitReport | None,
    warm: Sequence[Solution] = (),
) -> list[Solution]:
    """Solve problems on the same rows together, in passes that they share."""
    count = len(problems)
    callbacks = [None if report is None else report.for_problem(k) for k in range(count)]
    solutions = solve_in_passes(problems, options, callbacks, options.time_limit, warm)
    for index, solution in enumerate(solutions):
        raise_if_infeasible(solution)
        if report is not None:
            report.solved(index, solution)
    return solutions


def solve_in_passes(
    problems: Sequence[Problem],
    options: RunOptions,
    callbacks: Sequence[Any],
    time_limit: float | None,
    warm: Sequence[Solution] = (),
) -> list[Solution]:
    """Solve problems on the same rows together; refuse solvers and options that cannot."""
    check_takes_rows(options.solver, options.solver_options)
    return solve_family(
        problems,
        tol=options.tol,
        max_iter=options.max_iter,
        time_limit=time_limit,
        callback=callbacks,
        random_state=options.seed,
        warm_start=warm,
        **options.solver_options,
    )


def _usable(warm: Solution, problem: Problem) -> Solution | None:
    if not isinstance(warm.dual, DualPoint):  # of a fit on rows in blocks
        return None
    fits = warm.coef.size == problem.n_features and warm.dual.sample.size == problem.n_samples
    return warm if fits else None


def raise_if_infeasible(solution: Solution) -> None:
    """Raise InfeasibleError, with the proof, if no coefficients satisfy the constraints."""
    if solution.status != Status.INFEASIBLE:
        return
    raise InfeasibleError(
        f"{solution.infeasibility} Loosen one of them; the proof is in the `certificate` attribute "
        "of this error.",
        solution.infeasibility,
    )


# ---- proving again ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProvedAgain:
    """A copy of a model with the problems of its fit, its answers certified anew, and their units.

    What the fit noted about the data is noted on the copy again.
    """

    model: Any
    problems: list[Problem]
    solutions: list[Solution]
    units: list[float]
    data: Any


def proved_again(
    estimator: Any, caller: str, X: Any, y: Any, *given: Any, **named: Any
) -> ProvedAgain:
    """Return what the data of a fit prove about its coefficients; `caller` is for messages."""
    check_is_fitted(estimator)
    model = copy.copy(estimator)
    data = model._read(X, y, *given, **named)
    problems = [make() for make in model._problem_factories(data)]
    kept = estimator.solution_
    listed = [kept] if isinstance(kept, Solution) else list(kept)
    pairs = zip(problems, listed, strict=True)
    solutions = [_proved(model, caller, problem, solution) for problem, solution in pairs]
    return ProvedAgain(model, problems, solutions, model._objective_units(data), data)


def _proved(model: Any, caller: str, problem: Problem, solution: Solution) -> Solution:
    """Return a solution with the certificate that these data prove."""
    needs = f"{caller} needs the data of the fit:"
    if not problem.is_in_memory:
        if not isinstance(solution.dual, SplitDual):
            raise ValueError(f"{needs} that was arrays, these are rows.")
        if solution.coef.size != problem.n_features:
            raise ValueError(
                f"{needs} it had {solution.coef.size} columns, these rows have "
                f"{problem.n_features}."
            )
        return replace(solution, certificate=problem.certify(solution))
    if isinstance(solution.dual, SplitDual):
        raise ValueError(f"{needs} that was rows in blocks.")
    had = solution.dual.sample.size
    if had == 0 and solution.coef.size == problem.n_features:
        # A pickle does not hold the multipliers of a fit. Any multipliers prove something about
        # the fitted coefficients, whoever found them.
        seed = seed_of(model.random_state)
        found = solve(problem, tol=model.tol, random_state=seed, polish=True)
        solution, had = replace(solution, dual=found.dual), problem.n_samples
    if had != problem.n_samples or solution.coef.size != problem.n_features:
        raise ValueError(
            f"{needs} it had {had} samples and {solution.coef.size} coefficients, these data have "
            f"{problem.n_samples} and {problem.n_features}."
        )
    proof = problem.certify(solution.coef, solution.intercept, solution.dual)
    return replace(solution, certificate=proof)
