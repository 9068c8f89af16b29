"""How many threads the linear algebra library may use during a solve.

Factors of small matrices gain nothing from threads, and threads that wait for one another take the
cores away from whoever else needs them: folds of a cross-validation, other processes. Large ones
keep the setting of the process.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController

from rectiline.problems import Problem

__all__ = ["limited_threads", "one_thread"]

_LARGE_MATRIX = 1000  # order from which on threads are measured to pay
_TINY = 4000  # entries of X up to which no library starts threads


class _OneThread:
    """Limits the library to one thread while anybody asks for it.

    The setting belongs to the process: of several solves side by side, the first to come sets it
    and the last to leave puts back what was there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._libraries: Any = None
        self._limited: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                if self._libraries is None:
                    blas = ThreadpoolController().select(user_api="blas")
                    self._libraries = blas.lib_controllers
                # One by one: asking for a description of each costs more than a small solve.
                found = [(one, one.get_num_threads()) for one in self._libraries]
                self._limited = [(one, count) for one, count in found if count != 1]
                for one, _ in self._limited:
                    one.set_num_threads(1)
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                for one, count in self._limited:
                    one.set_num_threads(count)


one_thread = _OneThread()


def limited_threads(problem: Problem) -> AbstractContextManager[None]:
    """Return a context in which matrices of the problem's size are factorised sensibly."""
    n, d = problem.n_samples, problem.n_features
    return nullcontext() if n * d <= _TINY or min(n, d) > _LARGE_MATRIX else one_thread
