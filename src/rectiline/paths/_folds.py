"""Paths on the training parts of folds, in threads that share one copy of X; used by searches.

A held-out sample keeps its row and gets the weight zero, so that nothing is copied. A path is a
function of its job alone: threads write nothing that others read, and linear algebra takes one
thread whatever `n_jobs` is, so that equal jobs give equal bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from rectiline._polling import Clock
from rectiline._thread_count import using_threads
from rectiline._typing import Vector
from rectiline.exceptions import NoAnswerError
from rectiline.paths._follow import follow_path
from rectiline.paths._grid import checked_strengths
from rectiline.paths._path import Path
from rectiline.problems import Problem
from rectiline.solvers import Progress, one_thread

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class FoldJob:
    """One path: how to make its problem, its strengths, and its callback."""

    make: Callable[[], Problem]
    strengths: Vector
    on_start: Callable[[], Callable[[Progress], Any] | None] = lambda: None  # gives the callback
    on_end: Callable[[Problem, Path], Any] = lambda problem, found: found  # gives what is kept


def fold_paths(
    jobs: Sequence[FoldJob],
    n_jobs: int | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> list[Any]:
    """Solve every path and return what `on_end` makes of each.

    The time limit is for all of them together, in fair shares.

    Compiled solvers release the interpreter lock, so threads run side by side.
    """
    clock = Clock(time_limit)
    workers = min(effective_n_jobs(n_jobs), len(jobs))
    waiting = list(range(len(jobs)))  # taking one off is atomic

    def one(job: FoldJob) -> Any:
        rounds = -(-len(waiting) // workers)  # how often the time left has to be shared out
        share = None if clock.remaining is None else clock.remaining / max(rounds, 1)
        waiting.pop()
        own = Clock.with_grace(share)
        callback = job.on_start()
        problem = job.make()
        grid = checked_strengths(job.strengths)
        try:
            solutions = follow_path(problem, grid, own, callback=callback, **options)
        except NoAnswerError:  # other folds may have had more time
            solutions = []
        found = Path(grid[: len(solutions)], tuple(solutions), own.seconds)
        return job.on_end(problem, found)

    if n_jobs is None or workers == 1:
        with one_thread:
            return [one(job) for job in jobs]
    return in_threads(one, jobs, n_jobs)


def in_threads(call: Callable[[Item], Result], items: Sequence[Item], n_jobs: int) -> list[Result]:
    """Call for every item in threads, each with one thread of its own for linear algebra."""

    def alone(item: Item) -> Result:
        with np.errstate(all="ignore"), using_threads(1):  # settings of each thread
            return call(item)

    with one_thread:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(alone)(one) for one in items))
