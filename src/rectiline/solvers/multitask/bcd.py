"""`bcd`: block coordinate descent between the coefficients and the subspace.

Problem (paper: Eq. (8), appendix B.1 and Algorithm 2, with the corrections noted in the docs)

    min over U, b, M    sum_t loss_t(u_t, b_t) + c tr(U'(eta I + M)^-1 U),    tr M = h,  0 <= M <=
    I.

Update. M from the singular vectors of U (`rectiline.penalties.SharedSubspace.subspace`), then U
from one rectified program per task; least squares in closed form. Each pass cannot raise the
objective.

Beyond the paper: a pass is a fixed-point map of U, so Anderson acceleration applies; its point is
kept only if the objective does not rise, else the plain pass is. The programs of the tasks are
solved to a small share of the gap known so far, from their last answer. ``memory=0`` is the plain
method.

Stopping is the driver's business: the certificate of `MultiTaskProblem`.

Problems with a common part u_0 are minimised over u_0 as well (`joint_step`). For a fixed subspace
let ``phi_t(u_0)`` be the least cost of task t for ``u_t = u_0 + v_t``. The
sum over the tasks is convex and differentiable with gradient ``-strength S^-1 sum_t v_t``.
Alternating between u_0 and the tasks crawls when the tasks are held together tightly, so u_0 takes
(semismooth) Newton steps: rows on a kink hold their prediction, rows on a curved piece resist by
their curvature, the others do nothing. For least squares one step is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rectiline._typing import Matrix, Vector
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.multitask._blocks import Block, InnerAccuracy, Space, Steps, TaskSteps
from rectiline.solvers.multitask._held import Held
from rectiline.solvers.multitask._least_squares import LeastSquaresSteps

_MOST_PASSES = 8  # between two certificates, where a pass is a closed form
_FEW_COLUMNS = 64  # up to which the closed form is faster for any number of rows
_ROUNDING_GAP_SHARE = 1e-14  # relative to the objective: smaller gaps ask nothing more of the tasks
_LEAST_FALL_SHARE = 1e-12  # of the objective: smaller changes in a pass are rounding
_LEAST_GAP_LEFT = 0.9  # of the gap at the last progress: a pass that leaves less is progress
_PATIENCE = 30  # passes without progress; the tasks are solved exactly by then
_PATIENCE_IF_UNSOLVED = 3  # the same where the programs of the tasks could not be solved so well


@dataclass(frozen=True, slots=True, eq=False)
class MultiTaskForm:
    """A multi-task problem in its own terms; points are `Block` objects."""

    problem: MultiTaskProblem

    @classmethod
    def apply(cls, problem: MultiTaskProblem) -> MultiTaskForm:
        """Return the form of `problem`."""
        return cls(problem)

    def point_of(self, coef: Matrix, intercept: Vector, dual: list[DualPoint] | None) -> Block:
        """Return a pair as a block."""
        return Block.of(coef, intercept, dual)

    def invert(self, point: Block) -> tuple[Matrix, Vector, list[DualPoint] | None]:
        """Return a block as a pair."""
        return point.coef, point.intercept, point.dual


def make_steps(problem: MultiTaskProblem, seed: int, n_threads: int) -> Any:
    """Return what solves the programs of the tasks.

    Least squares in closed form, unless systems of the size of the rows are smaller.
    """
    rows = [task.design.n_samples for task in problem.tasks]
    if problem.is_quadratic and problem.n_features <= max(_FEW_COLUMNS, float(np.mean(rows))):
        return LeastSquaresSteps(problem, n_threads)
    return TaskSteps(problem, seed, n_threads)


def passes(problem: MultiTaskProblem, steps: Steps, budget: Budget) -> Iterator[float]:
    """Yield the certified gap once for each pass that the budget allows."""
    steps.clock = budget.clock
    size = abs(problem.loss_at_zero) if budget.objective is None else abs(budget.objective)
    gap = max(min(budget.gap, size), _ROUNDING_GAP_SHARE * size, math.ulp(0.0))
    for done in range(min(budget.iterations, _MOST_PASSES if problem.is_quadratic else 1)):
        if done and budget.is_over():
            return
        yield gap


# ---- the solver ----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class BCDState:
    """The point, the subspace that belongs to it, and the memory of the acceleration."""

    problem: MultiTaskProblem
    steps: Steps
    point: Block  # where the next pass starts
    space: Space
    value: float  # objective at the point
    answer: Block  # the last answer of the tasks, with its multipliers
    anderson: Anderson
    accuracy: InnerAccuracy = field(default_factory=InnerAccuracy)
    idle: int = 0  # passes without progress
    mark: float = np.inf  # gap at the last progress

    def note_progress(self, before: float, gap: float) -> None:
        """Note whether a pass has lowered the objective, which was `before`, or the gap."""
        falls = self.value < before - _LEAST_FALL_SHARE * abs(self.value)
        if falls or gap < _LEAST_GAP_LEFT * self.mark:
            self.idle, self.mark = 0, gap
        else:
            self.idle += 1

    @property
    def is_stuck(self) -> bool:
        """Whether further passes would not help."""
        is_exact = not self.steps.left_unsolved
        return self.idle >= (_PATIENCE if is_exact else _PATIENCE_IF_UNSOLVED)


@dataclass(frozen=True, slots=True)
class BCD:
    """Block coordinate descent, `solver="bcd"`; its fields are options.

    Parameters
    ----------
    memory : int, default=8
        Number of earlier passes that acceleration combines; 0 is Algorithm 2 of the paper.
    n_threads : int, default=1
        Threads that share the tasks.
    """

    memory: int = 8
    n_threads: int = 1

    name: ClassVar[str] = "bcd"
    form: ClassVar[type[MultiTaskForm]] = MultiTaskForm
    first_burst: ClassVar[int] = 1
    default_max_iter: ClassVar[int] = 2000

    @staticmethod
    def refuses(problem: MultiTaskProblem) -> str | None:
        """Return why the method does not apply, or None."""
        return None

    def start(self, form: MultiTaskForm, warm: Block | None, seed: int) -> BCDState:
        """Return the state at a given point."""
        problem = form.problem
        near = warm or Block.zeros(problem.n_features, problem.n_tasks)
        steps, space = make_steps(problem, seed, self.n_threads), problem.start_subspace(near.coef)
        # The intercepts follow the coefficients.
        anderson = Anderson(self.memory, near.flat.size - near.n_tasks)
        return BCDState(problem, steps, near, space, np.inf, near, anderson)

    def advance(self, state: BCDState, budget: Budget) -> Step:
        """Make some passes."""
        problem, done = state.problem, 0
        for gap in passes(problem, state.steps, budget):
            inner = state.accuracy.next(gap, abs(problem.loss_at_zero))
            if problem.center:
                answer = joint_step(problem, state.steps, state.answer, state.space, inner)
            else:
                held = Held.of(problem, state.space)
                answer = state.steps.step(state.answer, held, None, inner)
            before = state.value
            self._move(state, answer)
            state.note_progress(before, gap)
            state.answer = answer
            done += 1
        return Step(done, False, exhausted=state.is_stuck)

    def point(self, state: BCDState) -> Block:
        """Return the last answer of the tasks with its multipliers."""
        answer: Block = state.steps.with_dual(state.answer)
        return answer

    def _move(self, state: BCDState, answer: Block) -> None:
        """Choose where the next pass starts: the accelerated point or the plain one."""
        state.space = None  # not needed any more, and as large as the coefficients at worst
        combined = state.anderson.push(state.point.flat, answer.flat)
        if combined is not None:
            point = Block(combined, answer.n_tasks)
            value, space = _objective(state, point)
            if value <= state.value:
                state.point, state.space, state.value = point, space, value
                return
            state.anderson.reset()
        state.value, state.space = _objective(state, answer)
        state.point = Block(answer.flat, answer.n_tasks)


def _objective(state: BCDState, point: Block) -> tuple[float, Space]:
    charge, space = state.problem.charge(point.coef)
    return state.steps.loss(point.coef, point.intercept) + charge, space


# ---- the step of problems with a common part -----------------------------------------------------


_NEWTON_STEPS = 12
_MOST_COLUMNS_FOR_MATRIX = 3000  # up to which the d x d Newton matrix is formed
# Relative to the metric of the tasks: 1 is about the plain mean, 0 a full Newton step.
_DAMPING_SHARE = 1e-8


def joint_step(
    problem: MultiTaskProblem, steps: Steps, near: Block, space: Space, gap: float
) -> Block:
    """Return the answer of all tasks around the best common part for this subspace.

    What is left of u_0's own slope costs the bound more than the objective, because the multipliers
    have to be moved until it vanishes; so the steps go on well below `gap`.
    """
    held, enough = Held.of(problem, space), 0.1 * gap
    common = near.coef.mean(axis=1)
    block, value = _around(steps, near, held, common, enough)
    if problem.n_features > _MOST_COLUMNS_FOR_MATRIX:
        return block
    damping, matrix = _DAMPING_SHARE, None
    for _ in range(_NEWTON_STEPS):
        slope = held.metric @ np.sum(block.coef - common[:, None], axis=1)
        if matrix is None:
            matrix = steps.curvature(steps.with_dual(block), held)
        move = _solve(matrix + damping * problem.n_tasks * held.metric, slope)
        promised = 0.5 * float(slope @ move)
        if promised <= max(enough, 1e-15 * abs(value)):
            break
        trial, trial_value = _around(steps, block, held, common + move, enough)
        if trial_value <= value - 0.1 * promised + 0.1 * enough:
            common, block, value, matrix = common + move, trial, trial_value, None
            damping = max(_DAMPING_SHARE, 0.1 * damping)
        elif damping >= 1.0:
            break
        else:
            damping = min(1.0, 30.0 * damping) if damping > _DAMPING_SHARE else 1e-4
    return block


def _around(
    steps: Steps, near: Block, held: Held, common: Vector, gap: float
) -> tuple[Block, float]:
    """Return the answers of the tasks for a given common part, and their total cost."""
    start = np.broadcast_to(common[:, None], near.coef.shape)
    block = steps.step(near, held, start, gap)
    return block, steps.loss(block.coef, block.intercept) + held.charge(block.coef - start)


def _solve(matrix: Matrix, slope: Vector) -> Vector:
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled = matrix / scale[:, None] / scale
    scaled[np.diag_indices_from(scaled)] += 1e-11
    try:
        found: Vector = linalg.cho_solve(linalg.cho_factor(scaled, lower=True), slope / scale)
    except linalg.LinAlgError:
        found = np.asarray(linalg.lstsq(scaled, slope / scale, cond=1e-10)[0])
    return found / scale


# ---- Anderson acceleration of a fixed-point iteration --------------------------------------------


# Directions of the fit below this share of the largest eigenvalue are noise.
_NOISE_EIGENVALUE_SHARE = 1e-13
_ENTRIES_FOR_SHORT_MEMORY = 1 << 18  # from which on few differences are kept, in single precision
_SHORT_MEMORY = 2
_FIRST_DIFFERENCES = 3  # combinations of fewer mostly do not help


class Anderson:
    """Combine the last images so that the combined residual is smallest.

    With ``r_k = F(x_k) - x_k`` the next point is ``F_k - sum_j c_j (F_{j+1} - F_j)``, c the least
    squares fit of r_k by the differences of residuals. The caller decides whether to use it.
    Differences of a large point are stored in single precision, and only a few: memory is what then
    counts.

    Parameters
    ----------
    memory : int
        Number of differences to combine; 0 means that nothing is ever combined.
    n_fitted : int
        Entries that take part in the fit, the first ones; the others follow them.
    """

    def __init__(self, memory: int, n_fitted: int) -> None:
        is_large = n_fitted > _ENTRIES_FOR_SHORT_MEMORY
        self.memory = min(memory, _SHORT_MEMORY) if is_large else memory
        self.n_fitted = n_fitted
        self.kind = np.float32 if is_large else np.float64
        self.count = 0
        self.last: tuple[Vector, Any] | None = None  # image and residual
        self.images: NDArray[np.floating] = np.zeros((0, 0))  # differences, one per row
        self.residuals: NDArray[np.floating] = np.zeros((0, 0))  # the same

    def push(self, point: Vector, image: Vector) -> Vector | None:
        """Note one evaluation; return the combined point, or None while there are too few.

        The image is kept, not copied: it must not change afterwards.
        """
        if self.memory == 0:
            return None
        n, before = self.n_fitted, self.last
        residual: Any = (image[:n] - point[:n]).astype(self.kind, copy=False)
        self.last = image, residual
        if before is None:
            self.images = np.empty((self.memory, image.size), dtype=self.kind)
            self.residuals = np.empty((self.memory, n), dtype=self.kind)
            return None
        slot = self.count % self.memory
        self.count += 1
        np.subtract(image, before[0], out=self.images[slot], casting="same_kind")
        np.subtract(residual, before[1], out=self.residuals[slot])
        k = min(self.count, self.memory)
        if k < min(_FIRST_DIFFERENCES, self.memory):
            return None
        past = self.residuals[:k]
        shares = _fit(past @ past.T, past @ residual)
        if not np.isfinite(shares).all():
            return None
        return np.asarray(image - shares @ self.images[:k])

    def reset(self) -> None:
        """Start again after a point that was not used."""
        self.count = 0


def _fit(gram: Matrix, right: Vector) -> Vector:
    """Solve ``gram c = right`` with directions at the level of rounding left out."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > _NOISE_EIGENVALUE_SHARE * values[-1]
    inner = (vectors.T @ (right / scale))[kept] / values[kept]
    solution: Vector = (vectors[:, kept] @ inner) / scale
    return solution
