"""What a fit leaves behind: coefficients, multipliers, and the proof of how good they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import DualPoint
from rectiline.solvers import Solution

Vector = NDArray[np.float64]

__all__ = ["store_solutions"]


def store_solutions(
    estimator: Any,
    solutions: Sequence[Solution],
    *,
    rows: bool,
    samples: Sequence[NDArray[np.intp]] | None = None,
    n_samples: int | None = None,
) -> None:
    """Set the fitted attributes of a linear estimator.

    Parameters
    ----------
    rows : bool
        Whether ``coef_`` has one row per problem; otherwise there is one problem and ``coef_`` is
        as scikit-learn shapes it for one output.
    samples : sequence of index arrays, optional
        The samples of each problem where it has not all of them.
    """
    one = solutions[0]
    if rows:
        estimator.coef_ = np.array([s.coef for s in solutions])
        estimator.intercept_ = np.array([s.intercept for s in solutions])
    else:
        estimator.coef_ = one.coef.copy()
        estimator.intercept_ = float(one.intercept)
    if len(solutions) == 1 and not (rows and samples is None and _is_multi(estimator)):
        estimator.n_iter_ = max(int(one.n_iter), 1)
        estimator.solver_ = one.solver
        estimator.status_ = str(one.status)
        estimator.certificate_ = one.certificate
        estimator.solution_ = one
        _set_duals(estimator, solutions, lambda: one.dual.sample)
        return
    estimator.n_iter_ = np.array([max(int(s.n_iter), 1) for s in solutions])
    estimator.solver_ = tuple(s.solver for s in solutions)
    estimator.status_ = tuple(str(s.status) for s in solutions)
    estimator.certificate_ = tuple(s.certificate for s in solutions)
    estimator.solution_ = tuple(solutions)
    _set_duals(estimator, solutions, lambda: _stacked_duals(solutions, samples, n_samples))


def _set_duals(estimator: Any, solutions: Sequence[Solution], duals: Callable[[], Vector]) -> None:
    """Set ``dual_coef_``; rows in blocks have multipliers by exception, in ``solution_`` only."""
    if all(isinstance(one.dual, DualPoint) for one in solutions):
        estimator.dual_coef_ = duals()
    else:
        estimator.__dict__.pop("dual_coef_", None)


def _is_multi(estimator: Any) -> bool:
    """Whether one problem still stands for a list of outputs of length one."""
    return bool(getattr(estimator, "_always_lists", False))


def _stacked_duals(
    solutions: Sequence[Solution],
    samples: Sequence[NDArray[np.intp]] | None,
    n_samples: int | None,
) -> Vector:
    if samples is None:
        return np.array([s.dual.sample for s in solutions])
    assert n_samples is not None
    duals = np.zeros((len(solutions), n_samples))
    for row, kept, solution in zip(duals, samples, solutions, strict=True):
        row[kept] = solution.dual.sample
    return duals
