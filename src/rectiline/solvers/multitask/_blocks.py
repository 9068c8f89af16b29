"""What the multi-task solvers move, and the program each task solves while the subspace is held."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import Certificate, DualPoint
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._task import Task
from rectiline.solvers._base import Progress, Solution, Status
from rectiline.solvers._drive import solve
from rectiline.solvers.multitask._curvature import task_curvature

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Space = Any  # rectiline.penalties.Subspace; solvers ask the problem, they do not import penalties

__all__ = [
    "Block",
    "InnerAccuracy",
    "Steps",
    "TaskSteps",
    "in_threads",
    "inner_gap",
    "thread_count",
]

_LOOSEST, _TIGHTEST = 1e-2, 1e-14  # relative gaps asked of the programs of the tasks


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Coefficients (n_features, n_tasks), intercepts and, once known, multipliers."""

    coef: Matrix
    intercept: Vector
    dual: list[DualPoint] | None = None

    def moved(self, coef: Matrix, intercept: Vector) -> Block:
        """Return other coefficients with these multipliers."""
        return replace(self, coef=coef, intercept=intercept)


class Steps(Protocol):
    """Minimise ``sum_t loss_t(u_t, b_t) + (strength/2) (u_t - start_t)' S^-1 (u_t - start_t)``."""

    def step(
        self, near: Block, space: Space, strength: float, start: Matrix | None, gap: float
    ) -> Block:
        """Return the minimiser to an absolute gap of about `gap`, starting from `near`."""

    def loss(self, coef: Matrix, intercept: Vector) -> float:
        """Return the sum over the tasks of their losses."""

    def with_dual(self, block: Block) -> Block:
        """Return the block with the multipliers that belong to it."""

    def curvature(self, block: Block, space: Space, strength: float) -> Matrix:
        """Return how all tasks together resist a common move (block with multipliers)."""


def inner_gap(gap: float, size: float) -> float:
    """Return what the programs of the tasks may leave of the objective when `gap` is known.

    The bound suffers from errors of the coefficients in the first order, the objective in the
    second: so the share of the gap falls with the gap itself.
    """
    return gap * min(1e-2, max(gap / max(abs(size), 1e-300), 1e-5))


@dataclass(slots=True, eq=False)
class InnerAccuracy:
    """Turn the known gap into the accuracy of the next programs; tighter while the gap stands."""

    factor: float = 1.0
    last: float = np.inf

    def next(self, gap: float, size: float) -> float:
        """Return the absolute gap that all tasks together may leave."""
        if gap >= 0.9 * self.last:
            self.factor = max(0.3 * self.factor, 1e-8)
        self.last = gap
        return self.factor * inner_gap(gap, size)


def in_threads(n_threads: int, work: Callable[[int], Any], items: Iterable[int]) -> list[Any]:
    """Return ``[work(k) for k in items]``, on several threads when that was asked for."""
    jobs = list(items)
    if n_threads <= 1 or len(jobs) <= 1:
        return [work(k) for k in jobs]
    with ThreadPoolExecutor(min(n_threads, len(jobs))) as pool:
        return list(pool.map(work, jobs))


def thread_count(n_threads: int | None) -> int:
    """Return the number of threads to use; None means one per processor."""
    if n_threads is None:
        return os.cpu_count() or 1
    return max(1, int(n_threads))


@dataclass(slots=True, eq=False)
class TaskSteps:
    """One rectified program per task, each solved by `rectiline.solve` from the last answer."""

    problem: MultiTaskProblem
    seed: int = 0
    n_threads: int = 1
    inner_iterations: int = field(default=0)

    def step(
        self, near: Block, space: Space, strength: float, start: Matrix | None, gap: float
    ) -> Block:
        """Solve every task; a task gets an equal share of the gap."""
        eta = self.problem.penalty.eta
        share = gap / self.problem.n_tasks

        def one(t: int) -> tuple[Vector, float, DualPoint, int]:
            task = self.problem.tasks[t]
            begin = None if start is None else np.ascontiguousarray(start[:, t])
            program = task.step(space, eta, strength, begin)
            warm = _warm(task, near, t, program.variable(near.coef[:, t]))
            size = abs(program.problem.objective(warm.coef, warm.intercept))
            tol = min(max(share / max(size, 1e-300), _TIGHTEST), _LOOSEST)
            found = solve(
                program.problem,
                tol=tol,
                warm_start=warm,
                callback=_Patience(),
                random_state=self.seed,
            )
            return program.coef(found.coef), found.intercept, found.dual, found.n_iter

        results = in_threads(self.n_threads, one, range(self.problem.n_tasks))
        self.inner_iterations += sum(r[3] for r in results)
        coef = np.column_stack([r[0] for r in results])
        intercept = np.array([r[1] for r in results])
        return Block(coef, intercept, [r[2] for r in results])

    def loss(self, coef: Matrix, intercept: Vector) -> float:
        """Return the sum of the losses by a pass over the data."""
        return self.problem.loss_value(coef, intercept)

    def with_dual(self, block: Block) -> Block:
        """Return the block itself, or with the slopes at its predictions."""
        if block.dual is not None:
            return block
        columns = np.ascontiguousarray(block.coef.T)
        duals = [
            DualPoint(task.base.rows.slopes(task.design.dot(u) + b))
            for task, u, b in zip(self.problem.tasks, columns, block.intercept)
        ]
        return replace(block, dual=duals)

    def curvature(self, block: Block, space: Space, strength: float) -> Matrix:
        """Return the sum over the tasks of how each resists a common move."""
        eta, d = self.problem.penalty.eta, self.problem.n_features
        metric = strength * space.times(np.eye(d), eta, -1.0)
        total = np.zeros((d, d))
        assert block.dual is not None
        for task, dual in zip(self.problem.tasks, block.dual):
            total += task_curvature(task, dual, space, eta, strength, metric)
        return total


@dataclass(slots=True, eq=False)
class _Patience:
    """Stop the program of a task that no longer gets anywhere: rounding is reached."""

    best: float = np.inf
    waited: int = 0

    def __call__(self, progress: Progress) -> bool:
        if progress.relative_gap < 0.5 * self.best:
            self.best, self.waited = progress.relative_gap, 0
        else:
            self.waited += 1
        return self.waited >= 12 and self.best < 1e-6


def _warm(task: Task, near: Block, t: int, variable: Vector) -> Solution:
    if near.dual is None:
        n = task.design.n_samples
        dual = DualPoint(np.zeros(n), np.zeros(task.rows.c.size), np.zeros(task.rows.f.size))
    else:
        dual = near.dual[t]
    nothing = Certificate(0.0, 0.0, 0.0)
    b = float(near.intercept[t])
    return Solution(variable, b, Status.STOPPED, "warm", 0, 0.0, dual, nothing)
