"""When `auto` takes the solver `passes` for a problem in memory; thresholds are measured."""

from __future__ import annotations

from rectiline.problems import Problem
from rectiline.solvers.newton import Newton

__all__ = ["passes_pay"]

_LEAST_ROWS = 100_000
_ROWS_PER_COLUMN = 2_000
_MOST_COLUMNS = 500  # beyond, directions of the sample's error cost more than they tell


def passes_pay(problem: Problem) -> bool:
    """Whether a few passes are quicker than other solvers: many more rows than columns.

    Losses without kinks need few steps on all rows by other solvers, so they stay with those.
    """
    n, d = problem.n_samples, problem.n_features
    if n < max(_LEAST_ROWS, _ROWS_PER_COLUMN * d) or d > _MOST_COLUMNS:
        return False
    return problem.slope_width[1] and Newton.refuses(problem) is None
