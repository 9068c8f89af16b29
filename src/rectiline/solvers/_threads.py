"""How many threads the linear algebra library may use during a solve.

Factors of small matrices gain nothing from threads, and threads that wait for one another take the
cores away from whoever else needs them: folds of a cross-validation, other processes. Large ones
keep the setting of the process.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController

from rectiline.problems import Problem

_LARGE_MATRIX = 1000  # order from which on threads are measured to save time
_TINY = 4000  # entries of X up to which no library starts threads


class _OneThread:
    """Limits the library to one thread while anybody asks for it.

    The setting belongs to the process: of several solves side by side, the first to come sets it
    and the last to leave puts back what was there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: list[int] = []  # the threads that ask for it, once for each time
        self._libraries: Any = None
        self._limited: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                if self._libraries is None:
                    blas = ThreadpoolController().select(user_api="blas")
                    self._libraries = blas.lib_controllers
                # One by one: asking for a description of each costs more than a small solve.
                found = [(one, one.get_num_threads()) for one in self._libraries]
                self._limited = [(one, count) for one, count in found if count != 1]
                for one, _ in self._limited:
                    one.set_num_threads(1)
            self._users.append(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users.remove(threading.get_ident())
            self._put_back_if_unused()

    def _put_back_if_unused(self) -> None:
        if not self._users:
            for one, count in self._limited:
                one.set_num_threads(count)
            self._limited = []

    def start_in_child(self) -> None:
        """Forget the threads that a process just forked does not have, and what they have locked.

        The thread that has forked is the only one there.
        """
        self._lock = threading.Lock()
        self._users = [one for one in self._users if one == threading.get_ident()]
        self._put_back_if_unused()


one_thread = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.start_in_child)


def limited_threads(problem: Problem) -> AbstractContextManager[None]:
    """Return a context in which matrices of the problem's size are factorised sensibly."""
    n, d = problem.n_samples, problem.n_features
    return nullcontext() if n * d <= _TINY or min(n, d) > _LARGE_MATRIX else one_thread
