"""Solve the problems behind one fit, in threads, with limits and reports.

Constraints that contradict each other are told in the names of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rectiline._numbers import seed_of
from rectiline._polling import Clock
from rectiline.estimators._show import FitReport
from rectiline.exceptions import InfeasibleError
from rectiline.paths import FairShares, in_threads
from rectiline.problems import DualPoint, Problem
from rectiline.solvers import Solution, Status, check_takes_rows, solve, solve_family


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


def solve_all(
    problems: Sequence[Problem],
    options: RunOptions,
    warm: Sequence[Solution] = (),
    report: FitReport | None = None,
) -> list[Solution]:
    """Solve every problem; the time limit is for all of them together, in fair shares.

    Where there are as many answers in `warm` they are starts.
    """
    count = len(problems)
    if len(warm) != count:
        warm = ()
    if not problems[0].is_in_memory:
        return solve_in_passes(problems, options, warm, report)
    n_jobs = 1 if options.n_jobs is None or count == 1 else options.n_jobs
    shares = FairShares(options.time_limit, count, n_jobs)

    def one(index: int) -> Solution:
        solution = solve(
            problems[index],
            warm_start=_usable(warm[index], problems[index]) if warm else None,
            callback=None if report is None else report.for_problem(index),
            polish=options.polish,
            **options.keywords(shares.next()),
        )
        raise_if_infeasible(solution)
        if report is not None:
            report.solved(index, solution)
        return solution

    if n_jobs == 1:
        return [one(index) for index in range(count)]
    return in_threads(one, range(count), n_jobs)


def solve_in_passes(
    problems: Sequence[Problem],
    options: RunOptions,
    warm: Sequence[Solution] = (),
    report: FitReport | None = None,
    callbacks: Sequence[Any] | None = None,
) -> list[Solution]:
    """Solve problems on the same rows in shared passes; refuse solvers and options that cannot.

    Either a report hears of all problems, or each has its callback.
    """
    check_takes_rows(options.solver, options.solver_options)
    given = options.keywords(options.time_limit)
    del given["solver"]
    if report is not None:
        callbacks = list(map(report.for_problem, range(len(problems))))
    solutions = solve_family(problems, callback=callbacks, warm_start=warm, **given)
    for index, one in enumerate(solutions):
        raise_if_infeasible(one)
        if report is not None:
            report.solved(index, one)
    return solutions


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
