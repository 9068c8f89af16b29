"""Accelerated projected gradients on (U, M) together, as the paper has it.

Appendix A, Algorithm 1, on ``f(U, M) = c tr(U'(eta I + M)^-1 U)`` with ``g`` the losses and the
set of M: the step solves Eq. (36) (one program per task; a projection of the eigenvalues of M),
and Eq. (37) doubles the constant until the model lies above f. An oracle for tests: f has no
Lipschitz constant on the feasible set, so the method depends on the unit of y and is slow. The
search point may leave the set; where ``eta I + M`` is no longer positive definite the momentum is
dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import checkpoint
from rectiline.problems import MultiTaskProblem
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.multitask._blocks import Block, InnerAccuracy, Steps
from rectiline.solvers.multitask._held import Held
from rectiline.solvers.multitask.bcd import BCD, MultiTaskForm, make_steps, passes

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["JointAPG", "project_onto_capped_simplex"]

_DECOMPOSITIONS = 12.0  # times n_features^3: products of a step


def project_onto_capped_simplex(values: Vector, total: float) -> Vector:
    """Return the nearest point with entries in [0, 1] and the given sum (by bisection)."""
    low, high = float(values.min()) - 1.0, float(values.max())
    for _ in range(200):
        shift = 0.5 * (low + high)
        if np.clip(values - shift, 0.0, 1.0).sum() > total:
            low = shift
        else:
            high = shift
    return np.clip(values - 0.5 * (low + high), 0.0, 1.0)


@dataclass(slots=True, eq=False)
class JointState:
    """The last two points (U, M), the momentum and the constant of the line search."""

    problem: MultiTaskProblem
    steps: Steps
    answer: Block
    M: Matrix
    before: tuple[Matrix, Matrix]
    momentum: tuple[float, float]
    constant: float
    accuracy: InnerAccuracy = field(default_factory=InnerAccuracy)


@dataclass(frozen=True, slots=True)
class JointAPG:
    """Options of the solver.

    Parameters
    ----------
    constant : float, default=1.0
        First guess of the constant of the line search.
    n_threads : int, default=1
        Threads that share the tasks.
    """

    constant: float = 1.0
    n_threads: int = 1

    name: ClassVar[str] = "joint"
    form: ClassVar[type] = MultiTaskForm
    first_burst: ClassVar[int] = 1
    default_max_iter: ClassVar[int] = 20_000

    refuses = staticmethod(BCD.refuses)
    point = BCD.point

    def start(self, form: MultiTaskForm, warm: Block | None, seed: int) -> JointState:
        """Return the state at a given point."""
        problem, near = (
            form.problem,
            warm or Block.zeros(form.problem.n_features, form.problem.n_tasks),
        )
        steps, space = make_steps(problem, seed, self.n_threads), problem.start_subspace(near.coef)
        M = space.times(np.eye(problem.n_features), 0.0)
        return JointState(problem, steps, near, M, (near.coef, M), (0.0, 1.0), self.constant)

    def advance(self, state: JointState, budget: Budget) -> Step:
        """Make some steps."""
        problem, eta, c = state.problem, state.problem.penalty.eta, state.problem.penalty.scale
        flat, done = problem.even_subspace(0.0), 0
        for gap in passes(problem, state.steps, budget):
            older, old = state.momentum
            push = (older - 1.0) / old
            checkpoint(products=_DECOMPOSITIONS * float(problem.n_features) ** 3)
            U = state.answer.coef + push * (state.answer.coef - state.before[0])
            M = state.M + push * (state.M - state.before[1])
            if eta + np.linalg.eigvalsh(M)[0] <= 1e-3 * eta:
                U, M, older, old = state.answer.coef, state.M, 0.0, 1.0
            value, slope_u, slope_m = _penalty(U, M, eta, c)
            inner = state.accuracy.next(gap, abs(problem.loss_at_zero))
            while True:
                L = state.constant
                answer = state.steps.step(
                    state.answer, Held(flat, eta, eta * L), U - slope_u / L, inner
                )
                eigenvalues, vectors = np.linalg.eigh(M - slope_m / L)
                eigenvalues = project_onto_capped_simplex(eigenvalues, problem.penalty.shared_dim)
                new = (vectors * eigenvalues) @ vectors.T
                du, dm = answer.coef - U, new - M
                model = value + float(np.sum(slope_u * du) + np.sum(slope_m * dm))
                model += 0.5 * L * float(np.sum(du * du) + np.sum(dm * dm))
                if _penalty(answer.coef, new, eta, c)[0] <= model * (1.0 + 1e-12):
                    break
                state.constant *= 2.0
                if budget.is_over():
                    return Step(done, False)
            state.before = (state.answer.coef, state.M)
            state.answer, state.M = answer, new
            state.momentum = (old, 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * old * old)))
            done += 1
        return Step(done, False)


def _penalty(U: Matrix, M: Matrix, eta: float, c: float) -> tuple[float, Matrix, Matrix]:
    """Return ``c tr(U'(eta I + M)^-1 U)`` and its derivatives in U and M."""
    inner: Matrix = np.asarray(np.linalg.solve(eta * np.eye(M.shape[0]) + M, U), dtype=np.float64)
    return c * float(np.sum(U * inner)), 2.0 * c * inner, -c * (inner @ inner.T)
