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
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.backends import Design, as_design
from rectiline.constraints import Constraint, ConstraintRows, combine
from rectiline.losses import Loss
from rectiline.penalties import Penalty, Ridge
from rectiline.problems._columns import Columns
from rectiline.problems._feasibility import Feasibility, check_feasibility
from rectiline.problems._inputs import (
    bounds_as_rows,
    checked_index,
    checked_losses,
    checked_weight,
    row_functions,
)
from rectiline.problems._proofs import Proofs
from rectiline.problems._repair import move_into_constraints

Vector = NDArray[np.float64]

__all__ = ["Problem"]

_GIVEN = (  # attributes that do not depend on the weights
    "losses",
    "loss",
    "loss_index",
    "design",
    "direction",
    "offset",
    "fit_intercept",
    "constraints",
    "_user_rows",
    "penalty",
    "is_separable",
    "constraint_rows",
    "columns",
)


class Problem(Proofs):
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
        self.rows = row_functions(self.losses, self.loss_index, direction, offset, self.weight)
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

    def with_sample_weight(self, sample_weight: ArrayLike) -> Problem:
        """Return the same problem under other weights; constraints stay as they were made."""
        other = object.__new__(Problem)
        # What else there is has been worked out from the weights.
        other.__dict__.update({name: getattr(self, name) for name in _GIVEN})
        other.weight = checked_weight(sample_weight, self.n_samples)
        other.rows = row_functions(
            self.losses, self.loss_index, self.direction, self.offset, other.weight
        )
        return other

    def with_samples(self, chosen: NDArray[np.intp], sample_weight: ArrayLike) -> Problem:
        """Return the same problem on some of the samples, under other weights.

        Constraints stay as they were made.
        """
        other = object.__new__(Problem)
        other.__dict__.update({name: getattr(self, name) for name in _GIVEN})
        other.design = as_design(self.design.X[chosen])
        other.direction, other.offset = self.direction[chosen], self.offset[chosen]
        if self.loss_index is not None:
            other.loss_index = self.loss_index[chosen]
        other.weight = checked_weight(sample_weight, other.n_samples)
        other.rows = row_functions(
            other.losses, other.loss_index, other.direction, other.offset, other.weight
        )
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

    def __repr__(self) -> str:
        kind = "sparse" if self.design.is_sparse else "dense"
        return (
            f"Problem({self.n_samples} x {self.n_features} {kind}, loss={self.loss!r}, "
            f"penalty={self.penalty!r}, constraints={list(self.constraints)!r}, "
            f"fit_intercept={self.fit_intercept})"
        )

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
        if not self.is_constrained:
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
