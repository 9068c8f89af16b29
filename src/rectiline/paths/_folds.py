"""Paths on the training parts of folds, in threads that share one copy of X.

A held-out sample keeps its row and gets the weight zero, so that nothing is copied.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from rectiline.paths._path import Path, path
from rectiline.problems import Problem

Vector = NDArray[np.float64]

__all__ = ["FoldJob", "fold_paths"]


@dataclass(frozen=True, eq=False)
class FoldJob:
    """One path: how to make its problem, and its strengths."""

    make: Callable[[], Problem]
    strengths: Vector


def fold_paths(
    jobs: Sequence[FoldJob],
    n_jobs: int | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> list[Path]:
    """Solve every path; the time limit is for all of them together.

    Compiled solvers release the interpreter lock, so threads run side by side.
    """
    deadline = None if time_limit is None else time.perf_counter() + time_limit

    def one(job: FoldJob) -> Path:
        left = None if deadline is None else max(deadline - time.perf_counter(), 1e-6)
        return path(job.make(), job.strengths, time_limit=left, **options)

    if n_jobs in (None, 1) or len(jobs) == 1:
        return [one(job) for job in jobs]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(job) for job in jobs))
