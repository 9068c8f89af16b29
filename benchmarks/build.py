"""From a case to numbers: load its table, set weights and strengths, make the fairness rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .cases import Case, Data
from .datasets import Table, load
from .objective import Objective


@lru_cache(maxsize=1)
def _table(data: Data) -> Table:
    """The last table is kept: consecutive cases often share it."""
    return load(data)


def build(case: Case) -> tuple[Objective, str]:
    """The objective of a case, and where its data came from."""
    table = _table(case.data)
    n, d = table.X.shape
    weight = np.full(n, case.C / n if case.mean else case.C)
    objective = Objective(case, table.X, table.y, weight, l1=case.l1, l2=case.l2)
    if case.fairness is not None:
        sensitive = _sensitive(table.X, table.Z, case.data.seed)
        row = np.asarray(table.X.T @ (sensitive - sensitive.mean())).ravel() / n
        objective.sensitive = sensitive
        objective.A = np.vstack([row, -row])
        objective.c = np.full(2, case.fairness)
    if case.penalty == "group_linf":
        own = case.data.name in ("correlated_groups", "weak_groups")
        objective.groups = np.asarray(table.Z if own else np.arange(d) // 10, dtype=np.intp)
    elif case.penalty == "slope_two_level":
        objective.slope = np.where(np.arange(d) < 10, 2.0, 1.0)
    elif case.penalty == "slope_sqrt_log":
        objective.slope = np.sqrt(np.log(2.0 * d / np.arange(1, d + 1)))
    if case.l1_relative:
        objective.l1 *= _largest_strength(objective)
    if objective.slope is not None:
        objective.slope = objective.slope * objective.l1
    return objective, table.origin


def _sensitive(X: object, Z: object, seed: int) -> np.ndarray:
    """The set's own sensitive attribute, else a random column (as the ReHLine paper does)."""
    if Z is not None:
        return np.asarray(Z, dtype=float).reshape(len(Z), -1)[:, 0]  # type: ignore[arg-type]
    column = int(np.random.default_rng(seed).integers(X.shape[1]))  # type: ignore[attr-defined]
    picked = X[:, [column]]  # type: ignore[index]
    return np.asarray(picked.todense() if hasattr(picked, "todense") else picked).ravel()


def _largest_strength(objective: Objective) -> float:
    """``max_j sum_i w_i |x_ij|`` over columns: the lambda_max of the L1-SVM paper (a norm of it
    for groups), an upper bound on the smallest strength with zero coefficients."""
    total = np.asarray(abs(objective.X).T @ objective.weight).ravel()
    if objective.groups is not None:
        return float(np.bincount(objective.groups, weights=total).max())
    return float(total.max())
