"""What `solve` looks at before it chooses solvers: zero coefficients, and passes over the rows."""

from __future__ import annotations

import numpy as np

from rectiline.problems import Problem
from rectiline.solvers._row_plan import RowPlan

__all__ = ["prefers_passes", "zero_may_be_optimal"]

_ZERO_SIZE = 20_000  # entries of X from which on that look costs less than a solver
_ZERO_SHARE = 1.0  # of the loss at zero: a bound below this may turn out to be nothing at all
_ZERO_GAIN = 1e-6  # of the loss at zero: what could be gained, where it is known


def prefers_passes(problem: Problem) -> bool:
    """Whether there are so many rows for each column that `passes` is tried first."""
    return (
        RowPlan(problem.n_samples, problem.n_features).is_first_choice
        and problem.is_separable
        and not problem.has_constraint_rows
        and not problem.design.is_sparse
    )


def zero_may_be_optimal(problem: Problem) -> bool:
    """Whether zero coefficients may be good enough, so that looking at them first can pay.

    The slopes at zero can gain no more than their square over the ridge part. Losses with bounded
    slopes on targets far from zero (prices under a Huber loss) gain next to nothing. Where all
    slopes are the same, their sum over the rows is known: centred columns leave nothing of it.
    """
    if problem.fit_intercept or problem.has_constraint_rows or not problem.is_separable:
        return False
    if problem.design.n_stored < _ZERO_SIZE:  # solved about as fast as looked at
        return False
    columns = problem.columns
    if not columns.strongly_convex or columns.has_bounds:
        return False
    total = problem.total_weight * problem.slope_width[0]
    most = 0.5 * total**2 * problem.design.mean_row_square(1.0 / columns.rho)
    if most <= _ZERO_SHARE * problem.loss_at_zero:
        return True
    slopes = problem.rows.slopes(np.zeros(problem.n_samples))
    if slopes[0] == 0 or (slopes != slopes[0]).any():
        return False
    pull = slopes[0] * problem.design.column_sums
    return float(0.5 * (pull * pull / columns.rho).sum()) <= _ZERO_GAIN * problem.loss_at_zero
