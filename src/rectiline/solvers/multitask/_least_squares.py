"""The step in closed form when the loss is least squares.

Centred by the weighted means, task t costs ``a/2 (u'G u - 2 r'u + s)`` with its best intercept, so

    (a G + strength S^-1) (u - start) = a (r - G start),         S = eta I + M.

Tasks that share their rows share G and one factorisation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rectiline._polling import Clock
from rectiline._typing import Matrix, Vector
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.solvers.multitask._blocks import Block, in_threads
from rectiline.solvers.multitask._held import Held


class LeastSquaresSteps:
    """Exact steps for ``a/2 (z - y)^2``."""

    left_unsolved = False

    def __init__(self, problem: MultiTaskProblem, n_threads: int = 1) -> None:
        self.problem, self.n_threads = problem, n_threads
        self.clock: Clock | None = None
        known = problem.cache.get("least_squares")
        if known is not None:  # the same data under another penalty
            self.__dict__.update(known)
            return
        before = set(self.__dict__)
        self._collect()
        problem.cache["least_squares"] = {
            name: value for name, value in self.__dict__.items() if name not in before
        }

    def _collect(self) -> None:
        """Gather what does not depend on the penalty."""
        problem, n_threads = self.problem, self.n_threads
        found = [task.quadratic_target for task in problem.tasks]
        self.targets = [one for one in found if one is not None]
        self.curvature_of_loss = self.targets[0][0]
        self.ends = np.cumsum([y.size for _, y in self.targets])
        self.all_targets = np.concatenate([y for _, y in self.targets])
        weights = [a * task.weight for task, (a, _) in zip(problem.tasks, self.targets)]
        self.all_weights = np.concatenate(weights)
        groups: dict[tuple[int, bytes], list[int]] = {}
        for t, task in enumerate(problem.tasks):
            groups.setdefault((id(task.design), task.weight.tobytes()), []).append(t)
        self.members = list(groups.values())
        gathered = in_threads(n_threads, self._gather, range(len(self.members)))
        self.gram = np.stack([g for g, _ in gathered])
        # All groups are solved at once: those with fewer tasks repeat their first one.
        widest = max(map(len, self.members))
        padded = [tasks + tasks[:1] * (widest - len(tasks)) for tasks in self.members]
        self.order = np.array(padded, dtype=np.intp)
        sizes = np.array([len(tasks) for tasks in self.members])
        self.is_own = np.arange(widest) < sizes[:, None, None]
        shape = problem.n_features, problem.n_tasks
        self.means, right = np.zeros(shape), np.zeros(shape)
        self.level = np.zeros(problem.n_tasks)
        self.spread = 0.0
        for tasks, (_, parts) in zip(self.members, gathered):
            for t, (mean, pull, level, spread) in zip(tasks, parts):
                self.means[:, t], right[:, t], self.level[t] = mean, pull, level
                self.spread += spread
        self.right = self._by_group(right)

    def _by_group(self, coef: Matrix) -> Any:
        """Return one column for each task as one matrix for each group."""
        return coef[:, self.order].swapaxes(0, 1)

    def _gather(self, k: int) -> tuple[Matrix, list[tuple[Vector, Vector, float, float]]]:
        """Return the centred Gram matrix of a group, and what its tasks add to it."""
        tasks = self.members[k]
        first = self.problem.tasks[tasks[0]]
        design, w, d = first.design, first.weight, first.design.n_features
        intercept = self.problem.fit_intercept
        mean = design.tdot(w) if intercept else np.zeros(d)
        if design.is_sparse:
            gram = design.weighted_gram(w, np.arange(d), False) - np.outer(mean, mean)
        else:
            gram = design.weighted_gram(w, np.arange(d), False, mean)
        parts = []
        for t in tasks:
            y = self.targets[t][1]
            level = float(w @ y) if intercept else 0.0
            gap = w * (y - level)
            right = design.tdot(gap) - mean * gap.sum()
            parts.append((mean, right, level, float(gap @ (y - level))))
        return gram, parts

    # ---- the step -----------------------------------------------------------------------------

    def step(self, near: Block, held: Held, start: Matrix | None, gap: float) -> Block:
        """Return the exact minimiser; `near` and `gap` are not needed."""
        block, goal = Block.zeros(*self.means.shape), self.right
        if start is not None:
            goal = goal - self.gram @ self._by_group(start)
        a = self.curvature_of_loss
        found = np.linalg.solve(a * self.gram + held.metric, a * goal)
        if start is not None:
            found = self._by_group(start) + found
        block.coef[:, self.order] = found.swapaxes(0, 1)
        if self.problem.fit_intercept:
            moved = np.einsum("dt,dt->t", self.means, block.coef, optimize=False)
            block.intercept[:] = self.level - moved
        return block

    # ---- values and multipliers ---------------------------------------------------------------

    def loss(self, coef: Matrix, intercept: Vector) -> float:
        """Return the sum of the losses, for the best intercepts."""
        U = self._by_group(coef)
        total = float(np.sum(self.is_own * U * (self.gram @ U - 2.0 * self.right)))
        return 0.5 * self.curvature_of_loss * (total + self.spread)

    def with_dual(self, block: Block) -> Block:
        """Return the block with the slopes of the loss at its predictions, exact for this loss."""
        columns, tasks = np.ascontiguousarray(block.coef.T), self.problem.tasks
        slopes = np.concatenate([task.design.dot(u) for task, u in zip(tasks, columns)])
        slopes += np.repeat(block.intercept, np.diff(self.ends, prepend=0))
        slopes -= self.all_targets
        slopes *= self.all_weights
        ends = self.ends.tolist()
        parts = [slopes[first:end] for first, end in zip([0, *ends], ends)]
        return replace(block, dual=[DualPoint(part) for part in parts])

    def curvature(self, block: Block, held: Held) -> Matrix:
        """Return how all tasks together resist a common move: ``G - G (G + R)^-1 G`` each."""
        scaled = self.curvature_of_loss * self.gram
        shrunk = scaled - scaled @ np.linalg.solve(scaled + held.metric, scaled)
        counts = [float(len(tasks)) for tasks in self.members]
        return np.asarray(np.einsum("k,kde->de", counts, shrunk))
