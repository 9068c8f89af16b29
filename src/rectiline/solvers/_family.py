"""`solve_family`: problems that share their rows. Each has a run of its own, passes are for all."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from rectiline._polling import OutOfTime, asked_at_checkpoints
from rectiline._thread_count import using_threads
from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Problem
from rectiline.solvers._arguments import checked_limits
from rectiline.solvers._base import Callback, RunLimits, Stage
from rectiline.solvers._run import Run
from rectiline.solvers._solution import Solution, answer_of, note_answers
from rectiline.solvers._status import Status, warn_about
from rectiline.solvers.rows._resume import Checkpoint, evaluated_answers
from rectiline.solvers.rows.solver import RowGroup, RowMember, Rows


def check_takes_rows(solver: str, options: Mapping[str, Any]) -> None:
    """Raise if the named solver, or an option, is not for rows in blocks."""
    if solver not in ("auto", "passes"):
        raise UnsupportedProblemError(
            f"Solver {solver!r} cannot take this problem: its rows are in blocks. Solvers that "
            "can: passes."
        )
    for name, value in options.items():
        if name != "checkpoint":
            raise TypeError(f"Solver 'passes' has no option {name!r}; it takes checkpoint.")
        if not isinstance(value, str | os.PathLike | None):
            raise TypeError(f"checkpoint={value!r}: must be the path of a file, or None.")


def solve_family(
    problems: Sequence[Problem],
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    callback: Callback | Sequence[Callback | None] | None = None,
    random_state: int = 0,
    n_threads: int | None = None,
    warm_start: Sequence[Solution | None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> list[Solution]:
    """Solve several problems on the same rows together, each block read once for all of them.

    Parameters
    ----------
    problems : sequence of Problem
        They share X (the same array), or their rows in blocks, and agree about the intercept.
        Losses, weights, penalties and constraints may differ.
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most passes over the rows; 30 by default.
    time_limit : float, optional
        Most seconds.
    callback : callable or sequence of callables, optional
        Called with a `Progress` for every problem after each pass; a true return value stops. A
        sequence holds one for each problem, or None.
    random_state : int, default=0
        Seed of the sample.
    n_threads : int, optional
        Threads of passes over X, see `rectiline.set_threads`.
    warm_start : sequence of Solution, optional
        Earlier answers on the same rows, one for each problem: the first pass evaluates them, and
        those that hold are returned. Only for rows in blocks.
    checkpoint : path, optional
        A file that is written after the first pass and removed when all problems are solved. A
        call that finds it goes on from there. Only for rows in blocks; load files of your own
        alone, as they are pickles.

    Returns
    -------
    list of Solution

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20_000, 3))
    >>> y = X.sum(axis=1) + rng.standard_normal(20_000)
    >>> rows = rl.rows.from_arrays(X, y)
    >>> levels = [rl.Problem(rows, loss=rl.losses.Pinball(q)) for q in (0.1, 0.5, 0.9)]
    >>> solutions = rl.solve_family(levels)
    >>> [solution.certificate.relative_gap <= 1e-6 for solution in solutions]
    [True, True, True]
    """
    family = list(problems)
    _check_shared_rows(family)
    callbacks = list(callback) if isinstance(callback, Sequence) else [callback] * len(family)
    if len(callbacks) != len(family):
        raise ValueError(
            f"callback must hold one callable or None for each of the {len(family)} problems; got "
            f"{len(callbacks)}."
        )
    for one in callbacks:
        limits = checked_limits(tol, max_iter, time_limit, random_state, one)
    check_takes_rows("passes", {"checkpoint": checkpoint})
    # What overflows is not finite, and never certified.
    with np.errstate(all="ignore"), using_threads(n_threads):
        return solve_together(
            family, limits, callbacks, warm=warm_start or (), checkpoint=checkpoint
        )


def solve_together(
    problems: Sequence[Problem],
    limits: RunLimits,
    callbacks: Sequence[Callback | None],
    warns: bool = True,
    warm: Sequence[Solution | None] = (),
    checkpoint: str | os.PathLike[str] | None = None,
) -> list[Solution]:
    """Return the solutions; all runs go on in turn, a burst each, and share their passes."""
    members = [RowMember(one) for one in problems]
    seen = [one.problem if one.problem.is_in_memory else one for one in members]
    proofs = [one.terms.region.contradiction for one in problems]
    runs = [Run(one, limits, told) for one, told in zip(seen, callbacks, strict=True)]
    feasible = [k for k, proof in enumerate(proofs) if proof is None]
    ended = [Status.INFEASIBLE] * len(runs)
    passes = _evaluated(problems, warm, runs, limits.tol) if len(warm) == len(runs) else 0
    left = [k for k in feasible if runs[k].best.pair is None or not runs[k].verdict(limits.tol)]
    for k in set(feasible) - set(left):
        ended[k] = Status.SOLVED
    file = None
    if checkpoint is not None and left and not problems[0].is_in_memory:
        some = [problems[k] for k in left]
        file = Checkpoint(checkpoint, some, limits.tol, limits.seed)
    group = RowGroup([members[k] for k in left], passes, file)
    courses = {k: _course(runs[k], group) for k in left}
    try:
        while courses:
            for place in list(courses):
                try:
                    with asked_at_checkpoints(runs[place]):
                        next(courses[place])
                except StopIteration as end:
                    ended[place] = end.value
                    del courses[place]
            if any(run.clock.stopped for run in runs):
                for run in runs:
                    run.clock.stop()
    except KeyboardInterrupt as stop:
        for run in runs:
            if run.best.pair is None and isinstance(run.problem, RowMember):
                run.best.keep(*run.problem.zero_pair(), "passes")
        note_answers(stop, runs)
        raise
    if file is not None and all(status is Status.SOLVED for status in ended):
        file.remove()
    for run, status in zip(runs, ended, strict=True):
        run.check_answered(status)
        if warns:
            warn_about(run, status, stacklevel=3)
    return [answer_of(*parts) for parts in zip(runs, ended, proofs, strict=True)]


def _evaluated(
    problems: Sequence[Problem], warm: Sequence[Any], runs: Sequence[Run], tol: float
) -> int:
    """Hand earlier answers, if they fit, to the runs; return the number of passes, 0 or 1."""
    try:
        with asked_at_checkpoints(runs[0]):
            proofs = evaluated_answers(problems, warm, tol)
    except OutOfTime:
        return 0
    for run, one, (certificate, dual) in zip(runs, warm, proofs, strict=False):
        run.problem.note(one.coef, certificate)
        run.problem.fallback = (one.coef, one.intercept)
        run.best.keep(one.coef, one.intercept, dual, "warm start")
        run.n_iter = 1
        counts = {"passes": 1, "rows_kept": dual.rows.size}
        run.tried, run.counted = ["passes"], counts.copy
        run.report("warm start")
    return min(len(proofs), 1)


def _course(run: Run, group: RowGroup) -> Generator[None, None, Status]:
    """Yield after each burst of a run; return how it ends."""
    stage = Stage(Rows(group), "passes: all problems share them")
    try:
        status = yield from run.bursts(stage, run.limits.tol)
        status = run.concluded(status)
    except OutOfTime:
        status = run.out_of_time()
    return run.limited(status)


def _check_shared_rows(problems: list[Problem]) -> None:
    """Say why problems do not share their rows."""
    if not problems:
        raise ValueError("problems must hold at least one problem.")
    for one in problems:
        if not isinstance(one, Problem):
            raise TypeError(f"problems must hold Problem objects; got {type(one).__name__}.")
    if len({one.fit_intercept for one in problems}) > 1:
        raise ValueError("problems of a family must agree about fit_intercept.")
    for place, one in enumerate(problems):
        if not one.source.shares_rows(problems[0].source):
            rule = "has another X than problems[0]; a family shares one array."
            if not one.is_in_memory:
                rule = "is on other rows than problems[0]."
            raise ValueError(f"problems[{place}] {rule}")
