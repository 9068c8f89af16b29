"""The convex program, its dual, and the proof of how good a pair of points is.

    minimise over b in R^d, b0     sum_i w_i L(y_i, x_i'b + b0) + Omega(b)
    subject to                     A b + c >= 0,  E b + f = 0,  lower <= b <= upper

With ``f_i(z) = w_i L(y_i, z)``, multipliers ``g_i`` in the range of slopes of ``f_i``, ``xi >= 0``
and ``nu``, and ``q = A'xi + E'nu - X'g``, weak duality reads

    P - D = sum_i [f_i(z_i) + f_i*(g_i) - g_i z_i]  +  [h(b) + h*(q) - q'b]
            + xi'(A b + c) + nu'(E b + f) + b0 sum_i g_i

where ``h`` is the penalty with the bounds. Every bracket is non-negative; a free intercept demands
``sum_i g_i = 0``. The certificate sums exactly these terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline import _core
from rectiline.backends import Design, as_design
from rectiline.constraints import Constraint, ConstraintRows, combine
from rectiline.losses import Loss
from rectiline.penalties import Penalty, Ridge
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._columns import Columns
from rectiline.problems._feasibility import Feasibility, check_feasibility
from rectiline.problems._inputs import (
    bounds_as_rows,
    checked_index,
    checked_losses,
    checked_weight,
    curve_arrays,
)
from rectiline.problems._natural_units import NaturalUnits
from rectiline.problems._repair import balance_free_columns, move_into_constraints

Vector = NDArray[np.float64]

__all__ = ["Problem"]

_FREE_TOLERANCE = 1e-13  # what may be left of q on a column without cost, relative to its terms


class Problem(NaturalUnits):
    """A penalised, constrained linear model with a piecewise linear-quadratic loss.

    Parameters
    ----------
    X : array-like or scipy sparse matrix of shape (n_samples, n_features)
        Used in place when it is float32 or float64 (any order) or CSR/CSC.
    y : array-like of shape (n_samples,)
        Targets; for margin losses any two labels, the larger one counts as +1.
    loss : Loss, or sequence of Loss with `loss_index`
        What one sample pays, see `rectiline.losses`.
    penalty : Penalty or None, default=Ridge(1.0)
        What the coefficients pay, see `rectiline.penalties`. The intercept never pays.
    constraints : sequence of Constraint, default=()
        Where the coefficients may live, see `rectiline.constraints`.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the losses.
    fit_intercept : bool, default=True
        Whether to add an unpenalised, unconstrained intercept.
    loss_index : array-like of int of shape (n_samples,), optional
        Row i pays ``loss[loss_index[i]]``; the losses are then of one kind (all of the residual,
        say) and at most 256.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> problem = rl.Problem(X, [0, 0, 1, 1], loss=rl.losses.Hinge())
    >>> float(problem.objective(np.array([2.0]), -3.0))
    2.0
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        loss: Loss | Sequence[Loss],
        penalty: Penalty | None = Ridge(1.0),  # noqa: B008  (penalties are immutable)
        constraints: Sequence[Constraint] | Constraint = (),
        sample_weight: ArrayLike | None = None,
        fit_intercept: bool = True,
        loss_index: ArrayLike | None = None,
    ) -> None:
        self.losses = checked_losses(loss, loss_index)
        if penalty is not None and not isinstance(penalty, Penalty):
            raise TypeError(
                f"penalty must be a Penalty such as rectiline.penalties.Ridge(1.0), or None; "
                f"got {penalty!r}."
            )
        self.design: Design = as_design(X)
        self.loss = loss
        self.fit_intercept = bool(fit_intercept)
        n = self.n_samples
        self.loss_index = checked_index(loss_index, len(self.losses), n)
        direction, offset = self.losses[0].encode(y)
        if direction.size != n:
            raise ValueError(f"y has {direction.size} entries but X has {n} rows.")
        self.weight = checked_weight(sample_weight, n)
        self.direction, self.offset = direction, offset
        self.rows = _core.RowFunctions(
            [curve_arrays(one) for one in self.losses],
            direction,
            offset,
            self.weight,
            self.loss_index,
        )
        self.constraints = (
            (constraints,) if isinstance(constraints, Constraint) else tuple(constraints)
        )
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise TypeError(
                    "constraints must hold Constraint objects such as "
                    f"rectiline.constraints.Nonnegative(); got {constraint!r}."
                )
        self._user_rows = combine(
            [one.rows(self.n_features, self.design) for one in self.constraints], self.n_features
        )
        self._set_penalty(penalty)

    def _set_penalty(self, penalty: Penalty | None) -> None:
        d = self.n_features
        self.penalty = penalty
        rows = self._user_rows
        separable = (np.zeros(d), np.zeros(d)) if penalty is None else penalty.separable(d)
        self.is_separable = separable is not None
        if separable is None:
            # The bounds cannot join the column functions of a penalty that couples columns.
            rows = bounds_as_rows(rows)
            separable = (np.zeros(d), np.zeros(d))
        rho, l1 = separable
        self.constraint_rows: ConstraintRows = rows
        self.columns = Columns(rho, l1, rows.lower, rows.upper)
        for cached in ("feasibility", "_free_columns"):
            self.__dict__.pop(cached, None)

    def with_penalty(self, penalty: Penalty | None) -> Problem:
        """Return the same problem under another penalty, sharing the data and its checks."""
        if penalty is not None and not isinstance(penalty, Penalty):
            raise TypeError(f"penalty must be a Penalty or None; got {penalty!r}.")
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__)
        other._set_penalty(penalty)
        return other

    def with_design(self, X: Any) -> Problem:
        """Return the same losses on another design with as many rows, under a plain ridge penalty.

        Constraints are left behind: they speak of columns that are no longer there.
        """
        design = as_design(X)
        if design.n_samples != self.n_samples:
            raise ValueError(f"X must have {self.n_samples} rows; got {design.n_samples}.")
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__)
        for name in (
            "column_means",
            "column_mean_squares",
            "coef_unit",
        ):  # remembered about the other design
            other.__dict__.pop(name, None)
        other.design, other.constraints = design, ()
        other._user_rows = ConstraintRows.empty(design.n_features)
        other._set_penalty(Ridge(float(self.columns.rho[0])))
        return other

    # ---- sizes ------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return self.design.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.design.n_features

    def __repr__(self) -> str:
        kind = "sparse" if self.design.is_sparse else "dense"
        return (
            f"Problem({self.n_samples} x {self.n_features} {kind}, loss={self.loss!r}, "
            f"penalty={self.penalty!r}, constraints={list(self.constraints)!r}, "
            f"fit_intercept={self.fit_intercept})"
        )

    # ---- values -----------------------------------------------------------------------------

    def penalty_value(self, coef: Vector) -> float:
        """Return Omega(coef)."""
        if self.penalty is None:
            return 0.0
        return self.columns.value(coef) if self.is_separable else self.penalty.value(coef)

    def objective(self, coef: ArrayLike, intercept: float = 0.0) -> float:
        """Return the primal objective (constraints are not charged; see `violation`)."""
        b, b0 = self._checked_point(coef, intercept)
        return self.rows.loss(self.design.dot(b) + b0) + self.penalty_value(b)

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

    def violation(self, coef: ArrayLike) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative to the terms of its row."""
        b, _ = self._checked_point(coef, 0.0)
        rows = self.constraint_rows
        below = np.maximum(rows.lower - b, 0.0)
        above = np.maximum(b - rows.upper, 0.0)
        outside = np.maximum(below, above)
        absolute = float(outside.max(initial=0.0))
        relative = 0.0
        if absolute == 0.0 and not self.has_constraint_rows:
            return 0.0, 0.0
        # Sizes are those of the coefficients, or of what would be small ones: a hair below a bound
        # at zero is a hair, also when all coefficients are zero.
        size_b = np.maximum(float(np.abs(b).max(initial=0.0)), 1e-3 * self.coef_unit)
        if absolute > 0:
            bound = np.abs(np.where(below > 0, rows.lower, rows.upper))
            size = np.maximum(bound, size_b)[outside > 0]
            relative = float(np.max(outside[outside > 0] / size))
        for matrix, constant, is_equality in ((rows.A, rows.c, False), (rows.E, rows.f, True)):
            if not constant.size:
                continue
            value = matrix @ b + constant
            miss = np.abs(value) if is_equality else np.maximum(-value, 0.0)
            worst = float(miss.max())
            if worst > 0:
                size = abs(matrix) @ size_b + np.abs(constant)
                absolute = max(absolute, worst)
                relative = max(relative, float(np.max(miss[miss > 0] / size[miss > 0])))
        return absolute, relative

    # ---- proofs -----------------------------------------------------------------------------

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
        absolute, relative = self.violation(b) if self._is_constrained else (0.0, 0.0)
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
        if left > _FREE_TOLERANCE:
            gap = np.inf
        gap, point = self._or_zero_dual(b, primal, gap, point)
        return Certificate(primal, float(gap), absolute, relative, self._reference), point

    @property
    def has_constraint_rows(self) -> bool:
        """Whether there are inequality or equality rows (bounds alone do not count)."""
        rows = self.constraint_rows
        return bool(rows.c.size or rows.f.size)

    @property
    def _is_constrained(self) -> bool:
        return self.has_constraint_rows or self.columns.has_bounds

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
        for _ in range(4):
            wrong = self._wrong_signs(q)
            if not wrong.size or not np.setdiff1d(wrong, free).size:
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
        target = np.broadcast_to(self._rows_part(point), (self.n_features,))[free]
        rows = self.constraint_rows
        size = abs(rows.A).T @ np.abs(point.inequality) + abs(rows.E).T @ np.abs(point.equality)
        size = size[free]
        if self.fit_intercept:
            target, size = np.append(target, 0.0), np.append(size, 0.0)
        sample, left = balance_free_columns(
            self.design, free, self.fit_intercept, point.sample, low, high, target, size
        )
        return replace(point, sample=sample), left

    def _wrong_signs(self, q: Vector) -> NDArray[np.intp]:
        """Return the columns bounded on one side only where q has the sign that costs infinity."""
        if not self.is_separable or self.columns.strongly_convex:
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
        with np.errstate(divide="ignore", invalid="ignore"):
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

    # ---- feasibility ------------------------------------------------------------------------

    @cached_property
    def feasibility(self) -> Feasibility:
        """A feasible point, or a proof that there is none."""
        rows = self.constraint_rows
        return check_feasibility(rows.A, rows.c, rows.E, rows.f, rows.lower, rows.upper)

    def clip_to_bounds(self, coef: Vector) -> Vector:
        """Return the nearest coefficients within the bounds."""
        rows = self.constraint_rows
        return np.clip(coef, rows.lower, rows.upper) if self.columns.has_bounds else coef

    def move_into_constraints(self, coef: Vector) -> Vector:
        """Return coefficients near `coef` that satisfy the constraints up to rounding."""
        rows = self.constraint_rows
        if not self._is_constrained:
            return coef
        moved = move_into_constraints(coef, rows.A, rows.c, rows.E, rows.f, rows.lower, rows.upper)
        if self.violation(moved)[1] <= 1e-12 or self.feasibility.point is None:
            return moved
        return self._blend_with_inner_point(moved, self.feasibility.point)

    def _blend_with_inner_point(self, coef: Vector, inner: Vector) -> Vector:
        """Move towards a point with slack in every inequality, just as far as needed."""
        rows = self.constraint_rows
        slack, inner_slack = rows.A @ coef + rows.c, rows.A @ inner + rows.c
        outside = slack < 0
        if not outside.any() or (inner_slack[outside] <= 0).any():
            return coef
        share = np.max(-slack[outside] / (inner_slack[outside] - slack[outside]))
        blended: Vector = coef + min(1.0, float(share) * (1 + 1e-12)) * (inner - coef)
        return blended

    # ---- checks -----------------------------------------------------------------------------

    def _checked_point(self, coef: ArrayLike, intercept: float) -> tuple[Vector, float]:
        b = np.ascontiguousarray(coef, dtype=np.float64)
        if b.shape != (self.n_features,):
            raise ValueError(
                f"coef must have shape ({self.n_features},), one entry per column of X; got "
                f"{b.shape}."
            )
        b0 = float(intercept)
        if not (np.isfinite(b0) and np.isfinite(b).all()):
            raise ValueError("coef and intercept must be finite numbers.")
        if b0 != 0.0 and not self.fit_intercept:
            raise ValueError(f"intercept={b0} but the problem has no intercept.")
        return b, b0
