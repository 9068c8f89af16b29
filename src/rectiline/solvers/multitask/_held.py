"""Costs of the tasks while the subspace is held, and the curvature of one in a common move of all.

With the subspace fixed let ``phi(u_0)`` be the least cost of a task for ``u = u_0 + v``. Rows on a
kink hold their prediction, rows on a curved piece resist by their curvature, active constraints do
not give way. With X these rows, ``1/D`` how far each gives way and ``K = X S X' / strength``:

    phi'' = X' (1/D + K)^-1 X     or, for many rows,     R - R (X'D X + R)^-1 R,  R = strength S^-1,

with the intercept eliminated in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from rectiline._lazy import cached_property
from rectiline._typing import Matrix, Vector
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.problems.forms import Task


@dataclass(frozen=True, eq=False)
class Held:
    """What all tasks of a pass have in common: ``(strength/2) u' (eta I + M)^-1 u``."""

    space: Any
    eta: float
    strength: float

    @classmethod
    def of(cls, problem: MultiTaskProblem, space: Any) -> Held:
        """Return what the penalty of a problem charges in a subspace."""
        return cls(space, problem.penalty.eta, 2.0 * problem.penalty.scale)

    def charge(self, coef: Matrix) -> float:
        """Return the costs of coefficients, one column for each task."""
        return 0.5 * self.strength * float(np.sum(coef * self.space.times(coef, self.eta, -1.0)))

    def image(self, q: Vector) -> Vector:
        """Return ``S q / strength``."""
        moved: Vector = self.space.times(q, self.eta) / self.strength
        return moved

    def reach(self, task: Task) -> Vector:
        """Return by how much, about, a unit of slope of each row moves its own argument."""
        typical = (self.eta + self.space.typical) / self.strength
        return np.asarray(task.weight * task.row_squares * typical)

    def kernel(self, X: Any, gram: Matrix | None = None) -> Matrix:
        """Return ``X S X' / strength``, dense; `gram` is ``X X'`` where it is known."""
        plain = X @ X.T if gram is None else gram
        plain = plain.toarray() if hasattr(plain, "toarray") else plain
        kernel = np.asarray(plain * ((self.eta + self.space.floor) / self.strength), dtype=float)
        if self.space.weights.size:
            extra = (self.space.weights - self.space.floor) / self.strength
            projected = np.asarray(X @ self.space.basis)
            kernel += (projected * extra) @ projected.T
        return kernel

    @cached_property
    def metric(self) -> Matrix:
        """``strength S^-1``."""
        space = self.space
        base = self.strength / (self.eta + space.floor)
        change = self.strength / (self.eta + space.weights) - base
        metric: Matrix = (space.basis * change) @ space.basis.T
        metric[np.diag_indices_from(metric)] += base
        return metric


def task_curvature(task: Task, at: tuple[Vector, float, DualPoint], held: Held) -> Matrix:
    """Return the second derivative of phi at coefficients, intercept and multipliers."""
    u, b, dual = at
    places = task.pieces.place(task.design.dot(u) + b, dual.sample, held.reach(task))
    rows = task.pieces.resisting(places)
    inverse = task.pieces.lines(places, rows)[1]
    d = task.design.n_features
    X = task.design.X[rows]
    X = np.asarray(X.toarray() if task.design.is_sparse else X, dtype=np.float64)
    ones = np.full(rows.size, float(task.fit_intercept))
    if task.is_constrained:  # an active constraint is a row that does not give way at all
        tight = task.holding_rows(dual)
        X = np.vstack([X, tight])
        ones, inverse = (np.append(v, np.zeros(tight.shape[0])) for v in (ones, inverse))
    n = X.shape[0]
    if not n:
        return np.zeros((d, d))
    if n <= d:
        kernel = held.kernel(X)
        floor = 1e-9 * max(float(np.trace(kernel)) / n, 1e-300)
        kernel[np.diag_indices(n)] += np.maximum(inverse, floor)
        factor = linalg.cho_factor(kernel, lower=True)
        solved = linalg.cho_solve(factor, X)
        image = linalg.cho_solve(factor, ones)
        solved -= np.outer(image, image @ X) / max(float(image @ ones), 1e-300)
        return np.asarray(X.T @ solved)
    stiff = np.trace(held.metric) / max(float(np.sum(X * X)), 1e-300) * 1e8
    weight = 1.0 / np.maximum(inverse, 1.0 / stiff)
    pull = weight * ones
    X = X - np.outer(ones, (pull @ X) / max(float(pull.sum()), 1e-300))
    gram = (X * weight[:, None]).T @ X
    inner = linalg.cho_solve(linalg.cho_factor(gram + held.metric, lower=True), held.metric)
    return np.asarray(held.metric - held.metric @ inner)
