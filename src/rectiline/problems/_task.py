"""One task of a multi-task problem, and the rectified program it solves when the rest is held.

With the subspace fixed, ``S = eta I + M``, the task pays

    sum_i w_i L(y_i, x_i'u + b) + (strength/2) (u - start)' S^-1 (u - start).

Put ``u = start + T v`` with ``T T' = S``: then the penalty is a plain ridge in v, and the program is one
that every solver takes. Three choices of T, by what is cheaper:

- stretched: ``T = S^(1/2)``, symmetric; dense rows stay d long;
- augmented: ``T = [sqrt(eta) I, P sqrt(g)]``; sparse rows stay sparse, with a few dense entries more;
- reduced (fewer rows than columns, no constraints): ``T = S X' K^(-1/2)``, ``K = X S X'``; n columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy import sparse as sp

from rectiline.backends import Design
from rectiline.constraints import Constraint, ConstraintRows, LinearEquality, LinearInequality
from rectiline.penalties import Ridge, Subspace
from rectiline.problems._certificate import DualPoint
from rectiline.problems._encoded import Encoded
from rectiline.problems._problem import Problem, _bounds_as_rows

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Task", "TaskStep"]


class Task:
    """Rows, weights that sum to one, and constraints of one task."""

    def __init__(
        self,
        design: Design,
        loss: Encoded,
        weight: Vector,
        constraints: tuple[Constraint, ...],
        fit_intercept: bool,
    ) -> None:
        self.loss = loss
        n = design.n_samples
        # Without a penalty of its own: it knows the losses, the constraints and their repairs.
        self.base = Problem(design, np.zeros(n), loss, None, constraints, weight, fit_intercept)
        self.rows: ConstraintRows = _bounds_as_rows(self.base.constraint_rows)

    @property
    def design(self) -> Design:
        """The rows of the task."""
        return self.base.design

    @property
    def weight(self) -> Vector:
        """Weights of its rows; they sum to one."""
        return self.base.weight

    @property
    def is_constrained(self) -> bool:
        """Whether the task has constraints or bounds."""
        return bool(self.rows.c.size or self.rows.f.size)

    def image(self, dual: DualPoint) -> Vector:
        """Return ``q = A'xi + E'nu - X'g``."""
        return self.rows_part(dual) - self.design.tdot(dual.sample)

    def rows_part(self, dual: DualPoint) -> Vector:
        """Return ``A'xi + E'nu``."""
        total = np.zeros(self.design.n_features)
        if self.rows.c.size:
            total += self.rows.A.T @ dual.inequality
        if self.rows.f.size:
            total += self.rows.E.T @ dual.equality
        return total

    def constraint_gap(self, coef: Vector, dual: DualPoint) -> float:
        """Return ``xi'(A u + c) + |nu'(E u + f)|``, no term below zero."""
        rows, total = self.rows, 0.0
        if rows.c.size:
            total += float(dual.inequality @ np.maximum(rows.A @ coef + rows.c, 0.0))
        if rows.f.size:
            total += float(np.abs(dual.equality) @ np.abs(rows.E @ coef + rows.f))
        return total

    @cached_property
    def quadratic_target(self) -> tuple[float, Vector] | None:
        """``(a, y~)`` if the loss is ``a/2 (z - y~)^2`` plus a constant, else None."""
        curve = self.loss.curve
        a = float(curve.curvature[0])
        if a <= 0 or (curve.curvature != a).any() or (curve.left != curve.right).any():
            return None
        vertex, _ = curve.minimum()
        return a, self.loss.direction * (vertex - self.loss.offset)

    # ---- the step -----------------------------------------------------------------------------

    def step(
        self, space: Subspace, eta: float, strength: float, start: Vector | None = None
    ) -> TaskStep:
        """Return the program of this task for a fixed subspace, as described above."""
        z = None if start is None else self.design.dot(start)
        loss = self.loss if z is None else self.loss.shifted(z)
        X, back, there = self._change_of_variable(space, eta)
        constraints = self._moved_constraints(back, start) if self.is_constrained else ()
        n = self.design.n_samples
        problem = Problem(
            X, np.zeros(n), loss, Ridge(strength), constraints, self.weight, self.base.fit_intercept
        )
        return TaskStep(problem, start, back, there)

    def _change_of_variable(self, space: Subspace, eta: float) -> tuple[Any, Any, Any]:
        """Return ``X T`` with the maps ``v -> T v`` and ``u -> v`` (the shortest one)."""
        design, X = self.design, self.design.X
        if not space.weights.size:
            root = eta**0.5
            if eta == 1.0:
                return design, _same, _same
            return X * root, lambda v: root * v, lambda u: u / root
        n, d = design.n_samples, design.n_features
        if d > 2 * n and not self.is_constrained:
            return self._reduced(space, eta)
        projected = np.asarray(X @ space.basis)
        if not design.is_sparse:
            change = np.sqrt(eta + space.weights) - eta**0.5
            stretched = eta**0.5 * X + (projected * change) @ space.basis.T
            return (
                stretched,
                lambda v: space.times(v, eta, 0.5),
                lambda u: space.times(u, eta, -0.5),
            )
        root, soft = eta**0.5, np.sqrt(space.weights)
        augmented = sp.hstack([root * X, sp.csr_array(projected * soft)], format="csr")

        def back(v: Matrix) -> Matrix:
            return np.asarray(root * v[:d] + space.basis @ (soft * v[d:].T).T)

        def there(u: Matrix) -> Matrix:
            inner = space.times(u, eta, -1.0)
            return np.concatenate([root * inner, (soft * (space.basis.T @ inner).T).T])

        return augmented, back, there

    def _reduced(self, space: Subspace, eta: float) -> tuple[Any, Any, Any]:
        """Return the n x n factor of ``K = X S X'`` in place of X."""
        X = self.design.X
        projected = np.asarray(X @ space.basis)
        plain = X @ X.T
        kernel = eta * np.asarray(plain.toarray() if sp.issparse(plain) else plain)
        kernel += (projected * space.weights) @ projected.T
        values, vectors = linalg.eigh(kernel)
        kept = values > values[-1] * 1e-14 if values[-1] > 0 else np.zeros(values.size, dtype=bool)
        if not kept.any():
            kept[-1], values = True, np.maximum(values, 1.0)
        root, vectors = np.sqrt(values[kept]), vectors[:, kept]

        def back(v: Matrix) -> Matrix:
            return space.times(self.design.tdot(vectors @ (v / root)), eta)

        def there(u: Matrix) -> Matrix:
            # v = K^(-1/2) X u, exact for u in the range of S X', the only place solutions live in.
            return (vectors.T @ self.design.dot(u)) / root

        return vectors * root, back, there

    def _moved_constraints(self, back: Any, start: Vector | None) -> tuple[Constraint, ...]:
        """Return the constraints on ``u = start + T v`` as constraints on v."""
        rows, d = self.rows, self.design.n_features
        transpose = back(np.eye(d)) if back is not _same else None
        moved: list[Constraint] = []
        kinds = ((LinearInequality, rows.A, rows.c), (LinearEquality, rows.E, rows.f))
        for kind, matrix, constant in kinds:
            if not constant.size:
                continue
            if start is not None:
                constant = constant + matrix @ start
            image = matrix if transpose is None else np.asarray(matrix @ transpose)
            moved.append(kind(image, constant))
        return tuple(moved)


@dataclass(frozen=True, slots=True, eq=False)
class TaskStep:
    """A rectified program in v, and the way back to the coefficients of the task."""

    problem: Problem
    start: Vector | None
    _back: Any
    _there: Any

    def coef(self, v: Vector) -> Vector:
        """Return ``u = start + T v``."""
        moved: Vector = self._back(v)
        return moved if self.start is None else self.start + moved

    def variable(self, coef: Vector) -> Vector:
        """Return the shortest v with ``u = start + T v``."""
        moved: Vector = self._there(coef if self.start is None else coef - self.start)
        return np.ascontiguousarray(moved)


def _same(v: Matrix) -> Matrix:
    return v
