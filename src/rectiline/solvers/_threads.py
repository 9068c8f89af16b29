"""How many threads the linear algebra library may use during a solve.

Factors of small matrices gain nothing from threads, and threads that wait for one another take the
cores away from whoever else needs them: folds of a cross-validation, other processes. Large ones
keep the setting of the process.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from rectiline.problems import Problem

__all__ = ["limited_threads"]

_LARGE_MATRIX = 1000  # order from which on threads are measured to pay


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")


def limited_threads(problem: Problem) -> AbstractContextManager[Any]:
    """Return a context in which matrices of the problem's size are factorised sensibly."""
    if min(problem.n_samples, problem.n_features) > _LARGE_MATRIX:
        return nullcontext()
    context: AbstractContextManager[Any] = _controller().limit(limits=1)
    return context
