"""How far a pair is from optimal: the certificate, and the dual point repaired so that it proves.

Everything is computed from the user's data. A dual point is moved into the boxes of its samples and
into the range of the penalty before it is used, so that any numbers give a valid bound.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._repair import balance_free_columns
from rectiline.problems._values import Values

Vector = NDArray[np.float64]

__all__ = ["FREE_TOLERANCE", "Proofs"]

FREE_TOLERANCE = 1e-13  # what may be left of q on a column without cost, relative to its terms


class Proofs(Values):
    """Certificates of a problem; a base of `Problem`."""

    direction: Vector
    loss_index: NDArray[np.uint8] | None

    def certify(
        self, coef: ArrayLike, intercept: float = 0.0, dual: DualPoint | ArrayLike | None = None
    ) -> Certificate:
        """Prove how close to optimal an answer is, whoever found it.

        Parameters
        ----------
        coef : array-like of shape (n_features,)
        intercept : float, default=0.0
        dual : DualPoint or array-like of shape (n_samples,), optional
            Multipliers; an array is taken as the sample part. They are repaired to be feasible
            first. Without them slopes of the loss at the predictions are tried, which proves
            little unless the loss is smooth.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import numpy as np
        >>> import rectiline as rl
        >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
        >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
        >>> problem.certify([1.0], -1.0, dual=[0.5, -0.5]).gap
        0.0
        """
        return self.certify_repaired(coef, intercept, dual)[0]

    def certify_repaired(
        self, coef: ArrayLike, intercept: float = 0.0, dual: DualPoint | ArrayLike | None = None
    ) -> tuple[Certificate, DualPoint]:
        """Return the certificate together with the repaired dual point behind it."""
        b, b0 = self._checked_point(coef, intercept)
        absolute, relative = self.violation(b) if self.is_constrained else (0.0, 0.0)
        if dual is None:
            dual = DualPoint(self.rows.slopes(self.design.dot(b) + b0))
        point = self._inside_boxes(dual)
        z, q, point, left = self._feasible_dual(b, point)
        z += b0
        loss, gap = self.rows.sums(z, point.sample)
        primal = loss + self.penalty_value(b)
        gap += self._penalty_gap(b, q) + self._constraint_gap(b, point)
        if self.fit_intercept:
            gap += abs(b0 * float(point.sample.sum()))
        if left > FREE_TOLERANCE:
            gap = np.inf
        gap, point = self._or_zero_dual(b, primal, gap, point)
        return Certificate(primal, float(gap), absolute, relative, self._reference), point

    def _inside_boxes(self, dual: DualPoint | ArrayLike) -> DualPoint:
        """Return a private copy of the dual point with every multiplier in its own range."""
        rows = self.constraint_rows
        if not isinstance(dual, DualPoint):
            dual = DualPoint(np.asarray(dual, dtype=np.float64))
        sample = np.array(dual.sample, dtype=np.float64)
        if sample.shape != (self.n_samples,) or not np.isfinite(sample).all():
            raise ValueError(
                f"dual: the sample part must hold {self.n_samples} finite numbers; got shape "
                f"{sample.shape}."
            )
        self.rows.clip(sample)
        parts = []
        for name, given, size in (
            ("inequality", dual.inequality, rows.c.size),
            ("equality", dual.equality, rows.f.size),
        ):
            part = np.array(given, dtype=np.float64) if np.size(given) else np.zeros(size)
            if part.shape != (size,) or not np.isfinite(part).all():
                raise ValueError(
                    f"dual: the {name} part must hold {size} finite numbers; got shape "
                    f"{part.shape}."
                )
            parts.append(part)
        return DualPoint(sample, np.maximum(parts[0], 0.0), parts[1])

    def _rows_part(self, point: DualPoint) -> Vector | float:
        """Return ``A'xi + E'nu``."""
        rows = self.constraint_rows
        total: Vector | float = 0.0
        if rows.c.size:
            total = total + rows.A.T @ point.inequality
        if rows.f.size:
            total = total + rows.E.T @ point.equality
        return total

    def _feasible_dual(
        self, b: Vector, point: DualPoint
    ) -> tuple[Vector, Vector, DualPoint, float]:
        """Return ``X b``, q and a dual point in the penalty's dual range, and what is left over."""
        left = 0.0
        free = self._free_columns
        if not free.size and self.fit_intercept:
            total = abs(self.rows.balance(point.sample))
            left = total / max(float(np.abs(point.sample).sum()), 1e-300)
        if free.size:
            point, left = self._balanced(point, free)
        z, image = self.design.both(b, point.sample)
        q = self._rows_part(point) - image
        # A bound on one side only asks for a sign of q_j; columns with the wrong one are set to
        # zero.
        q[free] = 0.0
        for _ in range(4):
            wrong = self._wrong_signs(q)
            if not wrong.size:
                break
            free = np.union1d(free, wrong)
            point, left = self._balanced(point, free)
            q = self._rows_part(point) - self.design.tdot(point.sample)
            q[free] = 0.0
        shrink = self._shrink_factor(q)
        return z, shrink * q, point.scaled(shrink), left

    def _balanced(self, point: DualPoint, free: NDArray[np.intp]) -> tuple[DualPoint, float]:
        """Return the dual point moved so that q is zero on the columns `free`."""
        low, high = self.dual_boxes
        target, size = np.zeros((2, free.size + self.fit_intercept))
        if self.has_constraint_rows:
            rows = self.constraint_rows
            target[: free.size] = np.asarray(self._rows_part(point))[free]
            terms = abs(rows.A).T @ np.abs(point.inequality)
            size[: free.size] = (terms + abs(rows.E).T @ np.abs(point.equality))[free]
        sample, left = balance_free_columns(
            self.design, free, self.fit_intercept, point.sample, low, high, target, size
        )
        return replace(point, sample=sample), left

    def _wrong_signs(self, q: Vector) -> NDArray[np.intp]:
        """Return the columns bounded on one side only where q has the sign that costs infinity."""
        if not self.is_separable or not self.columns.has_bounds:
            return np.zeros(0, dtype=np.intp)
        low, high = self.columns.dual_range
        return np.flatnonzero(((high == 0) & (q > 0)) | ((low == 0) & (q < 0)))

    @cached_property
    def _free_columns(self) -> NDArray[np.intp]:
        """Columns that cost nothing and have no bound: q must be zero there."""
        if self.is_separable:
            if self.columns.strongly_convex:
                return np.zeros(0, dtype=np.intp)
            return np.flatnonzero(self.columns.free)
        assert self.penalty is not None
        return np.flatnonzero(self.penalty.free_columns(self.n_features))

    def _shrink_factor(self, q: Vector) -> float:
        """Return the largest share of the dual point that lies in the penalty's dual range."""
        if not self.is_separable:
            assert self.penalty is not None
            return self.penalty.shrink_factor(q)
        if self.columns.strongly_convex:
            return 1.0
        low, high = self.columns.dual_range
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.columns.is_plain_l1 and self.columns.l1.all():
                return 1.0 / max(float((np.abs(q) / self.columns.l1).max()), 1.0)
            room = np.where(q > high, high / q, np.where(q < low, low / q, 1.0))
        return float(np.min(room))

    def _penalty_gap(self, b: Vector, q: Vector) -> float:
        if self.is_separable:
            return float(self.columns.fenchel_young(b, q).sum())
        assert self.penalty is not None
        return self.penalty.fenchel_young(b, q)

    def _constraint_gap(self, b: Vector, point: DualPoint) -> float:
        rows = self.constraint_rows
        total = 0.0
        if rows.c.size:
            total += float(point.inequality @ np.maximum(rows.A @ b + rows.c, 0.0))
        if rows.f.size:
            total += float(np.abs(point.equality) @ np.abs(rows.E @ b + rows.f))
        return total

    def _or_zero_dual(
        self, b: Vector, primal: float, gap: float, point: DualPoint
    ) -> tuple[float, DualPoint]:
        """Return the better of the given dual bound and the trivial one, all multipliers zero.

        Zero multipliers say that no loss is below its minimum; where every sample reaches its
        minimum (separable classes, interpolation) that is the only bound there is.
        """
        trivial = primal - self._least_loss - self.penalty_value(b)
        if trivial >= gap:  # what follows is not negative
            return gap, point
        trivial += self._penalty_gap(b, np.zeros(self.n_features))
        if not trivial < gap:
            return gap, point
        rows = self.constraint_rows
        zero = DualPoint(np.zeros(self.n_samples), np.zeros(rows.c.size), np.zeros(rows.f.size))
        return max(trivial, 0.0), zero

    def remember_levels(self) -> None:
        """Work out what certificates need to know about the data, for problems made from this."""
        _ = self._reference, self._least_loss

    @cached_property
    def _least_loss(self) -> float:
        """Sum of the smallest values of the losses."""
        (least,) = self._per_row([(one.curve.minimum()[1],) for one in self.losses])
        return float(np.sum(self.weight * least))

    def _per_row(self, numbers: list[tuple[float, ...]]) -> tuple[Any, ...]:
        """Return numbers of each loss spread over its rows; plain numbers if there is one loss."""
        if self.loss_index is None:
            return numbers[0]
        return tuple(np.array(column)[self.loss_index] for column in zip(*numbers, strict=True))

    @property
    def _reference(self) -> float:
        """The yardstick of rounding."""
        return abs(self.loss_at_zero)

    @cached_property
    def dual_boxes(self) -> tuple[Vector, Vector]:
        """Range of slopes of each sample's weighted loss in its prediction."""
        low, high = self._per_row([one.curve.domain() for one in self.losses])
        weighted = self.weight > 0
        with np.errstate(invalid="ignore"):
            low_t = np.where(weighted, self.weight * low, 0.0)
            high_t = np.where(weighted, self.weight * high, 0.0)
        up = self.direction > 0
        return np.where(up, low_t, -high_t), np.where(up, high_t, -low_t)
