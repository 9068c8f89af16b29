"""`MultiTaskProblem`: several tasks that share a subspace, the dual, and its certificate.

    minimise over U = [u_1 .. u_m], b     sum_t sum_i w_ti L(y_ti, x_ti'u_t + b_t)  +  Omega(U)
    subject to                            constraints on each u_t

The weights of each task sum to one, so a task counts the same whatever its size. Omega is
`rectiline.penalties.SharedSubspace`. With ``center`` the penalty is on ``U - u_0 1'`` for the
best common part u_0, which is the mean of the columns whatever the subspace: Omega(U C), C = I -
11'/m.

Dual. One multiplier g_ti per row, xi_t >= 0 and nu_t per constraint row (bounds are rows here,
since Omega couples the columns), ``q_t = A'xi_t + E'nu_t - X_t'g_t`` and ``Q = [q_1 .. q_m]``. Weak
duality:

    P - D = sum_ti [f_ti(z_ti) + f_ti*(g_ti) - g_ti z_ti]  +  [Omega(U) + Omega*(Q) - <Q, U>]
            + sum_t xi_t'(A u_t + c) + nu_t'(E u_t + f) + b_t sum_i g_ti

with every bracket >= 0. An intercept demands ``sum_i g_ti = 0``, `center` demands ``sum_t q_t =
0``; both are repaired before anything is claimed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rectiline._lazy import FieldsAlone, cached_property
from rectiline._typing import Matrix, Vector
from rectiline.losses import Loss
from rectiline.penalties import SharedSubspace, Subspace
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._task import Task, make_tasks, normalized_weights
from rectiline.problems._terms import PenaltyTerms
from rectiline.problems.proof._measure import gamma, norm_of
from rectiline.problems.proof._prove import Proof, unpacked
from rectiline.problems.proof._subspace import subspace_terms
from rectiline.problems.proof._tasks import prove_tasks


@dataclass(frozen=True, init=False, repr=False, eq=False)
class MultiTaskProblem(FieldsAlone):
    """Linear models of several tasks whose coefficients share a subspace.

    Parameters
    ----------
    X : sequence of array-like or sparse matrices of shape (n_t, n_features), or one of them
        Rows of each task. One matrix stands for all tasks.
    y : sequence of array-like of shape (n_t,)
        Targets of each task. Margin losses take two labels over all tasks; a single task may hold
        one of them only.
    loss : Loss
        The loss of one row, see `rectiline.losses`.
    penalty : SharedSubspace, default=SharedSubspace()
        The penalty on the coefficients.
    constraints : Constraint, sequence of Constraint, or one sequence per task, default=()
        Restrictions of the coefficients of each task; a flat sequence holds for every task.
    sample_weight : sequence of array-like of shape (n_t,), optional
        Non-negative weights inside the average of each task.
    fit_intercept : bool, default=True
        Whether each task has an unpenalised intercept of its own.
    center : bool, default=False
        Whether an unpenalised common part is subtracted before the penalty is computed.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.problems import MultiTaskProblem
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.standard_normal((20, 3)) for _ in range(4)]
    >>> y = [rows @ [1.0, 0.0, -1.0] for rows in X]
    >>> problem = MultiTaskProblem(X, y, loss=rl.losses.SquaredError())
    >>> problem.n_tasks, problem.n_features
    (4, 3)
    """

    loss: Loss
    tasks: tuple[Task, ...]
    penalty: SharedSubspace
    fit_intercept: bool
    center: bool
    cache: dict[str, Any]  # what solvers derive from the tasks alone

    def __init__(
        self,
        X: Any,
        y: Sequence[ArrayLike],
        loss: Loss,
        penalty: SharedSubspace | None = None,
        constraints: Any = (),
        sample_weight: Sequence[ArrayLike] | None = None,
        fit_intercept: bool = True,
        center: bool = False,
    ) -> None:
        intercepts, centred = bool(fit_intercept), bool(center)
        tasks = make_tasks(X, y, loss, constraints, sample_weight, intercepts)
        if centred and len(tasks) < 2:
            raise ValueError("center=True needs at least two tasks; got one.")
        asked = SharedSubspace() if penalty is None else penalty
        self._set(loss=loss, tasks=tasks, penalty=asked, cache={})
        self._set(fit_intercept=intercepts, center=centred)

    def _set(self, **values: Any) -> Self:
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.penalty, SharedSubspace) or self.penalty.is_zero:
            raise TypeError(
                "penalty must be a rectiline.penalties.SharedSubspace with positive strengths; "
                f"got {self.penalty!r}."
            )
        self.penalty.check(self.n_features)
        return self

    def with_penalty(self, penalty: SharedSubspace) -> MultiTaskProblem:
        """Return this problem under another penalty; the tasks are shared."""
        return copy.copy(self)._set(penalty=penalty)

    def with_sample_weight(self, sample_weight: Sequence[ArrayLike]) -> MultiTaskProblem:
        """Return this problem under other weights, one vector per task; X is shared."""
        weights = normalized_weights(sample_weight, [task.design for task in self.tasks])
        tasks = tuple(task.with_sample_weight(w) for task, w in zip(self.tasks, weights))
        return copy.copy(self)._set(tasks=tasks, cache={})

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return len(self.tasks)

    @property
    def n_samples(self) -> int:
        """Number of rows of all tasks together."""
        return sum(task.n_samples for task in self.tasks)

    @property
    def n_features(self) -> int:
        """Number of columns of every X."""
        return self.tasks[0].design.n_features

    @property
    def is_constrained(self) -> bool:
        """Whether any task has constraints."""
        return any(task.is_constrained for task in self.tasks)

    @cached_property
    def is_quadratic(self) -> bool:
        """Whether every task is least squares without constraints: steps have a closed form."""
        return not self.is_constrained and self.tasks[0].quadratic_target is not None

    def __repr__(self) -> str:
        return (
            f"MultiTaskProblem({self.n_tasks} tasks, {self.n_samples} rows x {self.n_features}, "
            f"loss={self.loss!r}, penalty={self.penalty!r}, center={self.center})"
        )

    # ---- values -----------------------------------------------------------------------------

    def charged(self, coef: Matrix) -> Matrix:
        """Return the coefficients that are penalised: less their common part if centred."""
        return coef - coef.mean(axis=1, keepdims=True) if self.center else coef

    def subspace(self, coef: Matrix) -> Subspace:
        """Return the best soft projector for these coefficients."""
        return self.penalty.subspace(self.charged(coef))

    def charge(self, coef: Matrix) -> tuple[float, Subspace]:
        """Return the value of the penalty and a subspace to step with, from one decomposition.

        Where the shared dimension covers every rank the coefficients can have, all directions
        count as shared: the tasks are then independent and one step is exact.
        """
        value, space = self.penalty.charge(self.charged(coef))
        return value, self.even_subspace(1.0) if self._covers_all_ranks else space

    @property
    def is_decoupled(self) -> bool:
        """Whether the shared dimension is so large that the tasks are independent."""
        return self._covers_all_ranks and not self.center

    @property
    def _covers_all_ranks(self) -> bool:
        return self.penalty.shared_dim >= min(self.n_features, self.n_tasks - self.center)

    def even_subspace(self, weight: float) -> Subspace:
        """Return the M that gives every direction the same weight."""
        return Subspace(np.zeros((self.n_features, 0)), np.zeros(0), weight)

    def start_subspace(self, coef: Matrix) -> Subspace:
        """Return the subspace to start from: that of the coefficients, or none preferred."""
        if self._covers_all_ranks:
            return self.even_subspace(1.0)
        if self.charged(coef).any():
            return self.subspace(coef)
        return self.even_subspace(min(1.0, self.penalty.shared_dim / self.n_features))

    def projector(self, components: Matrix) -> Subspace:
        """Return the projector on the rows of `components`."""
        return Subspace(np.ascontiguousarray(components.T), np.ones(components.shape[0]))

    def penalty_value(self, coef: Matrix) -> float:
        """Return the value of the penalty."""
        return self.penalty.value(self.charged(coef))

    def loss_value(self, coef: Matrix, intercept: Vector) -> float:
        """Return the sum over tasks of the average loss."""
        triples = zip(self.tasks, np.ascontiguousarray(coef.T), intercept)
        return float(sum(task.rows.loss(task.design.dot(u) + b) for task, u, b in triples))

    def objective(self, coef: ArrayLike, intercept: ArrayLike | None = None) -> float:
        """Return the primal objective; `coef` is (n_features, n_tasks)."""
        U, b = self.checked_point(coef, intercept)
        return self.loss_value(U, b) + self.penalty_value(U)

    @cached_property
    def loss_at_zero(self) -> float:
        """Sum of the losses at zero, with which gaps are compared at first."""
        return sum(task.loss_at_zero for task in self.tasks)

    @cached_property
    def least_loss(self) -> float:
        """Sum of the smallest values of the losses."""
        return sum(task.least_loss for task in self.tasks)

    def violation(self, coef: Matrix, roughly: bool = False) -> tuple[float, float]:
        """Return the worst constraint violation over the tasks, absolute and relative."""
        pairs = [task.violation(u, roughly) for task, u in zip(self.tasks, coef.T)]
        return max((p[0] for p in pairs), default=0.0), max((p[1] for p in pairs), default=0.0)

    def zero_pair(self) -> tuple[Matrix, Vector, None]:
        """Return zero coefficients without multipliers, a pair to fall back on."""
        return np.zeros((self.n_features, self.n_tasks)), np.zeros(self.n_tasks), None

    def clip_to_bounds(self, coef: Matrix) -> Matrix:
        """Return the coefficients as they are: bounds of tasks are constraint rows."""
        return coef

    def move_into_constraints(self, coef: Matrix) -> Matrix:
        """Return coefficients near `coef` that satisfy the constraints up to rounding."""
        columns = [task.move_into_constraints(u) for task, u in zip(self.tasks, coef.T)]
        return np.column_stack(columns)

    # ---- proofs -----------------------------------------------------------------------------

    def certify(
        self,
        coef: ArrayLike | Any,
        intercept: ArrayLike | None = None,
        dual: Sequence[DualPoint | ArrayLike] | None = None,
    ) -> Certificate:
        """Certify how close to optimal any coefficients are.

        Parameters
        ----------
        coef : array-like of shape (n_features, n_tasks), or MultiTaskSolution
            Coefficients; or an object with `coef`, `intercept` and `dual`, given alone.
        intercept : array-like of shape (n_tasks,), optional
        dual : sequence of DualPoint or array-like, one per task, optional
            Multipliers; they are repaired to be feasible first. Without them the slopes of the
            losses at the predictions are tried.
        """
        return prove_tasks(self, *unpacked(coef, intercept, dual), 0.0).certificate

    def prove(
        self,
        coef: ArrayLike,
        intercept: ArrayLike | None = None,
        dual: Sequence[DualPoint | ArrayLike] | None = None,
        tol: float | None = None,
    ) -> Proof[list[DualPoint]]:
        """Return the certificate of a pair and the repaired multipliers behind it, for solvers.

        The bound on its rounding is as sharp as a decision about `tol` needs it.
        """
        return prove_tasks(self, coef, intercept, dual, tol)

    def penalty_terms(self, coef: Matrix, q: Matrix, error: Matrix) -> PenaltyTerms:
        """Return Omega(U), and ``Omega(U) + Omega*(Q) - <Q, U>``."""
        lost, known = 2 * gamma(self.n_tasks), self.center and coef.any()
        coef_error = lost * norm_of(coef.ravel("K")) if known else 0.0
        q_error = norm_of(error.ravel("K")) if error.any() else 0.0
        return subspace_terms(self.penalty, self.charged(coef), q, coef_error, q_error)

    def checked_point(self, coef: ArrayLike, intercept: ArrayLike | None) -> tuple[Matrix, Vector]:
        """Return coefficients and intercepts as float64, or raise where they do not fit."""
        U = np.asarray(coef, dtype=np.float64)
        b = np.zeros(self.n_tasks) if intercept is None else np.asarray(intercept, dtype=np.float64)
        if U.shape != (self.n_features, self.n_tasks) or b.shape != (self.n_tasks,):
            raise ValueError(
                f"coef and intercept must have shapes ({self.n_features}, {self.n_tasks}) and "
                f"({self.n_tasks},); got {U.shape} and {b.shape}."
            )
        if not (np.isfinite(U).all() and np.isfinite(b).all()):
            raise ValueError("coef and intercept must be finite numbers.")
        if not self.fit_intercept and b.any():
            raise ValueError("intercept is not zero but the problem has no intercepts.")
        return U, b
