"""The curvature of a task's optimal value in the common part of all tasks, for `_common`.

With the subspace fixed let ``phi(u_0)`` be what a task pays at best for ``u = u_0 + v``. Rows on a
kink hold their prediction, rows on a curved piece resist by their curvature, active constraints do
not give way. With X these rows, ``1/D`` how far each gives way and ``K = X S X' / strength``:

    phi'' = X' (1/D + K)^-1 X     or, for many rows,     R - R (X'D X + R)^-1 R,  R = strength S^-1,

with the intercept eliminated in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from rectiline._typing import Matrix
from rectiline.problems import DualPoint
from rectiline.problems.forms import Task

__all__ = ["task_curvature"]


def task_curvature(
    task: Task, dual: DualPoint, space: Any, eta: float, strength: float, metric: Matrix
) -> Matrix:
    """Return the second derivative of phi; `metric` is ``strength S^-1``."""
    rows, inverse = task.resisting_rows(dual)
    d = task.design.n_features
    X = task.design.X[rows]
    X = np.asarray(X.toarray() if task.design.is_sparse else X, dtype=np.float64)
    ones = np.full(rows.size, float(task.base.fit_intercept))
    if task.is_constrained:  # an active constraint is a row that does not give way at all
        held = task.holding_rows(dual)
        X = np.vstack([X, held])
        ones, inverse = (np.append(v, np.zeros(held.shape[0])) for v in (ones, inverse))
    n = X.shape[0]
    if not n:
        return np.zeros((d, d))
    if n <= d:
        kernel = X @ space.times(X.T, eta) / strength
        floor = 1e-9 * max(float(np.trace(kernel)) / n, 1e-300)
        kernel[np.diag_indices(n)] += np.maximum(inverse, floor)
        factor = linalg.cho_factor(kernel, lower=True)
        solved = linalg.cho_solve(factor, X)
        image = linalg.cho_solve(factor, ones)
        solved -= np.outer(image, image @ X) / max(float(image @ ones), 1e-300)
        return np.asarray(X.T @ solved)
    stiff = np.trace(metric) / max(float(np.sum(X * X)), 1e-300) * 1e8
    weight = 1.0 / np.maximum(inverse, 1.0 / stiff)
    pull = weight * ones
    X = X - np.outer(ones, (pull @ X) / max(float(pull.sum()), 1e-300))
    gram = (X * weight[:, None]).T @ X
    inner = linalg.cho_solve(linalg.cho_factor(gram + metric, lower=True), metric)
    return np.asarray(metric - metric @ inner)
