"""Blocks of coefficients, and the program that each task solves while the subspace is held.

Used by all multi-task solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rectiline._polling import Clock, asked_at_checkpoints, who_is_asked
from rectiline._thread_count import using_threads
from rectiline._typing import Matrix, Vector
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.solvers._base import Pair
from rectiline.solvers._drive import solve_quietly
from rectiline.solvers.multitask._held import Answer, Held, settle, task_curvature

Space = Any  # rectiline.penalties.Subspace; solvers ask the problem, they do not import penalties
Steps = Any  # `TaskSteps`, or `LeastSquaresSteps` with the same methods

_LOOSEST, _TIGHTEST = 1e-2, 1e-14  # relative gaps asked of the programs of the tasks


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Coefficients, intercepts and, once known, multipliers.

    One vector holds the coefficients task by task, then the intercepts; `coef` (n_features,
    n_tasks) and `intercept` are views of it.
    """

    flat: Vector
    n_tasks: int
    dual: list[DualPoint] | None = None

    @classmethod
    def zeros(cls, n_features: int, n_tasks: int) -> Block:
        """Return all zeros, to be filled in."""
        return cls(np.zeros((n_features + 1) * n_tasks), n_tasks)

    @classmethod
    def of(cls, coef: Matrix, intercept: Vector, dual: list[DualPoint] | None = None) -> Block:
        """Return a copy of the given coefficients and intercepts."""
        block = cls.zeros(*coef.shape)
        block.coef[:], block.intercept[:] = coef, intercept
        return replace(block, dual=dual)

    @property
    def coef(self) -> Matrix:
        """Coefficients, one contiguous column per task."""
        return self.flat[: -self.n_tasks].reshape(self.n_tasks, -1).T

    @property
    def intercept(self) -> Vector:
        """Intercepts."""
        return self.flat[-self.n_tasks :]

    def of_task(self, t: int) -> Answer:
        """Return coefficients, intercept and multipliers of one task, once all are known."""
        assert self.dual is not None
        return np.ascontiguousarray(self.coef[:, t]), float(self.intercept[t]), self.dual[t]


@dataclass(slots=True, eq=False)
class InnerAccuracy:
    """Turn the known gap into the accuracy of the next programs; tighter while the gap stands."""

    factor: float = 1.0
    last: float = np.inf

    def next(self, gap: float, size: float) -> float:
        """Return the absolute gap that all tasks together may leave.

        The bound suffers from errors of the coefficients in the first order, the objective in the
        second: so the share of the gap falls with the gap itself.
        """
        if gap >= 0.9 * self.last:
            self.factor = max(0.3 * self.factor, 1e-8)
        self.last = gap
        share = gap / max(abs(size), 1e-300)
        return self.factor * gap * min(1e-2, max(share, 1e-5))


def in_threads(n_threads: int, work: Callable[[int], Any], items: Iterable[int]) -> list[Any]:
    """Return ``[work(k) for k in items]``, on several threads when that was asked for."""
    jobs = list(items)
    if n_threads <= 1 or len(jobs) <= 1:
        return [work(k) for k in jobs]
    keepers = who_is_asked()

    def asking(job: int) -> Any:
        with asked_at_checkpoints(*keepers), using_threads(1):
            return work(job)

    with ThreadPoolExecutor(min(n_threads, len(jobs))) as pool:
        try:
            return list(pool.map(asking, jobs))
        except BaseException:
            # Ctrl-C arrives here: the tasks that have not begun are not worth waiting for.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@dataclass(slots=True, eq=False)
class TaskSteps:
    """Minimise ``sum_t loss_t(u_t, b_t) + (strength/2) (u_t - start_t)' S^-1 (u_t - start_t)``.

    One rectified program per task, from its last answer: linear equations if the rows keep their
    places (`settle`), else `rectiline.solve`. `clock` is that of the whole solve. `left_unsolved`:
    whether a program of the last step could not be solved as well as asked.
    """

    problem: MultiTaskProblem
    seed: int = 0
    n_threads: int = 1
    clock: Clock | None = None
    left_unsolved: bool = False

    def step(self, near: Block, held: Held, start: Matrix | None, gap: float) -> Block:
        """Return the minimiser to an absolute gap of about `gap`, starting from `near`."""
        self.left_unsolved = False
        share = gap / self.problem.n_tasks
        block = Block.zeros(self.problem.n_features, self.problem.n_tasks)
        coef, intercept = block.coef, block.intercept

        def fill(t: int) -> DualPoint:
            begin = None if start is None else np.ascontiguousarray(start[:, t])
            found = None
            if near.dual is not None:
                found = settle(self.problem.tasks[t], near.of_task(t), held, begin, share)
            found = found or self._solve(t, near, held, begin, share)
            coef[:, t], intercept[t], dual = found
            return dual

        duals = in_threads(self.n_threads, fill, range(self.problem.n_tasks))
        return replace(block, dual=duals)

    def _solve(self, t: int, near: Block, held: Held, start: Vector | None, gap: float) -> Answer:
        """Solve one task whatever its rows do."""
        task = self.problem.tasks[t]
        program = task.step(held.space, held.eta, held.strength, start)
        n, duals = task.design.n_samples, near.dual
        dual = task.terms.region.zero_dual(n) if duals is None else duals[t]
        warm = Pair(program.variable(near.coef[:, t]), float(near.intercept[t]), dual)
        size = abs(program.problem.objective(warm.coef, warm.intercept))
        tol = min(max(gap / max(size, 1e-300), _TIGHTEST), _LOOSEST)
        found = solve_quietly(program.problem, tol, warm=warm, seed=self.seed, clock=self.clock)
        self.left_unsolved |= not found.certificate.holds(tol)
        return program.coef(found.coef), found.intercept, found.dual

    def loss(self, coef: Matrix, intercept: Vector) -> float:
        """Return the sum of the losses by a pass over the data."""
        return self.problem.loss_value(coef, intercept)

    def with_dual(self, block: Block) -> Block:
        """Return the block itself: a step finds multipliers along with the coefficients."""
        return block

    def curvature(self, block: Block, held: Held) -> Matrix:
        """Return the sum over the tasks of how each resists a common move."""
        assert block.dual is not None
        total = np.zeros_like(held.metric)
        for t, task in enumerate(self.problem.tasks):
            total += task_curvature(task, block.of_task(t), held)
        return total
