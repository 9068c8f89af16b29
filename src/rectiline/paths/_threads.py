"""Jobs in threads that share one copy of X, and their shares of a time limit; used by searches.

Linear algebra takes one thread whatever `n_jobs` is, so that equal jobs give equal bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from rectiline._polling import Clock
from rectiline._thread_count import using_threads
from rectiline.solvers import one_thread

Item = TypeVar("Item")
Result = TypeVar("Result")


class FairShares:
    """The time for several jobs, of which so many run at once, shared out as they begin."""

    def __init__(self, time_limit: float | None, count: int, n_jobs: int | None) -> None:
        self._clock = Clock(time_limit)
        self._n_workers = 1 if n_jobs in (None, 1) else min(effective_n_jobs(n_jobs), count)
        self._waiting = list(range(count))  # taking one off is atomic

    def next(self) -> float | None:
        """Return the seconds for the next job; None without a limit."""
        rounds = -(-len(self._waiting) // self._n_workers)  # in which the waiting ones run
        self._waiting.pop()
        left = self._clock.remaining
        return None if left is None else left / max(rounds, 1)


def in_threads(
    call: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> list[Result]:
    """Call for every item in threads, each with one thread of its own for linear algebra.

    None stands for this thread, whose compiled loops keep the threads that they have.
    """

    def alone(item: Item) -> Result:
        with np.errstate(all="ignore"), using_threads(1):  # settings of each thread
            return call(item)

    with one_thread:
        if n_jobs is None:
            return [call(one) for one in items]
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(alone)(one) for one in items))
