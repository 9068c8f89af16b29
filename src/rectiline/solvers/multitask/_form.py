"""The form of multi-task problems for the common driver, and passes over their tasks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rectiline._typing import Matrix, Vector
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.solvers._base import Budget
from rectiline.solvers.multitask._blocks import Block, Steps, TaskSteps
from rectiline.solvers.multitask._least_squares import LeastSquaresSteps

_MOST_PASSES = 8  # between two certificates, where a pass is a closed form
_ROUNDING_GAP_SHARE = 1e-14  # relative to the objective: smaller gaps ask nothing more of the tasks


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

    def start(self, warm: Block | None) -> Block:
        """Return where to start: the given block, or zeros."""
        return warm or Block.zeros(self.problem.n_features, self.problem.n_tasks)


def make_steps(problem: MultiTaskProblem, seed: int, n_threads: int) -> Any:
    """Return what solves the programs of the tasks: in closed form for least squares."""
    if problem.is_quadratic:
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
