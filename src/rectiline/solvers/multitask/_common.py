"""The step with a common part: minimise over u_0 as well.

For a fixed subspace let ``phi_t(u_0)`` be what task t pays at best for ``u_t = u_0 + v_t``. The sum over the
tasks is convex and differentiable with gradient ``-strength S^-1 sum_t v_t``. Alternating between u_0 and
the tasks crawls when the tasks are held together tightly, so u_0 takes (semismooth) Newton steps: rows
on a kink hold their prediction, rows on a curved piece resist by their curvature, the others do
nothing. For least squares one step is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rectiline.problems import DualPoint
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._task import Task
from rectiline.solvers.multitask._blocks import Block, Space, Steps

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["joint_step"]

_NEWTON_STEPS = 8
_HALVINGS = 6
_LARGEST = 3000  # columns up to which the d x d Newton matrix is formed


def joint_step(
    problem: MultiTaskProblem, steps: Steps, near: Block, space: Space, gap: float
) -> Block:
    """Return the answer of all tasks around the best common part for this subspace."""
    strength, eta = 2.0 * problem.penalty.scale, problem.penalty.eta
    common = near.coef.mean(axis=1)
    block, value = _around(problem, steps, near, space, common, gap)
    if problem.n_features > _LARGEST:
        return block
    for _ in range(_NEWTON_STEPS):
        slope = strength * space.times(np.sum(block.coef - common[:, None], axis=1), eta, -1.0)
        matrix = _curvature(problem, steps.with_dual(block), space, strength)
        move = _solve(matrix, slope)
        promised = 0.5 * float(slope @ move)
        if promised <= max(gap, 1e-15 * abs(value)):
            break
        size, accepted = 1.0, False
        for _ in range(_HALVINGS):
            trial, trial_value = _around(
                problem, steps, block, space, common + size * move, gap
            )
            if trial_value <= value - 0.05 * size * promised + gap:
                accepted = True
                break
            size *= 0.3
        if not accepted:
            break
        common, block, value = common + size * move, trial, trial_value
    return block


def _around(
    problem: MultiTaskProblem, steps: Steps, near: Block, space: Space, common: Vector, gap: float
) -> tuple[Block, float]:
    """Return the answers of the tasks for a given common part, and what they pay in all."""
    strength, eta = 2.0 * problem.penalty.scale, problem.penalty.eta
    start = np.repeat(common[:, None], problem.n_tasks, axis=1)
    block = steps.step(near, space, strength, start, gap)
    own = block.coef - start
    paid = 0.5 * strength * float(np.sum(own * space.times(own, eta, -1.0)))
    return block, steps.loss(block.coef, block.intercept) + paid


def _solve(matrix: Matrix, slope: Vector) -> Vector:
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled = matrix / scale[:, None] / scale
    scaled[np.diag_indices_from(scaled)] += 1e-11
    try:
        found: Vector = linalg.cho_solve(linalg.cho_factor(scaled, lower=True), slope / scale)
    except linalg.LinAlgError:
        found = np.linalg.lstsq(scaled, slope / scale, rcond=1e-10)[0]
    return found / scale


def _curvature(problem: MultiTaskProblem, block: Block, space: Space, strength: float) -> Matrix:
    """Return the second derivative of ``sum_t phi_t``."""
    d, eta = problem.n_features, problem.penalty.eta
    metric = strength * space.times(np.eye(d), eta, -1.0)
    total = np.zeros((d, d))
    assert block.dual is not None
    for task, dual in zip(problem.tasks, block.dual):
        total += _task_curvature(task, dual, space, eta, strength, metric)
    # Where no row resists, tasks would follow u_0 for free; a trace of their own metric keeps the
    # step finite.
    return total + 1e-9 * problem.n_tasks * metric


def _task_curvature(
    task: Task, dual: DualPoint, space: Space, eta: float, strength: float, metric: Matrix
) -> Matrix:
    rows, inverse = task.resisting_rows(dual)
    d = task.design.n_features
    if not rows.size:
        return np.zeros((d, d))
    X = task.design.X[rows]
    X = np.asarray(X.toarray() if task.design.is_sparse else X, dtype=np.float64)
    intercept = task.base.fit_intercept
    if rows.size <= d:
        kernel = X @ space.times(X.T, eta) / strength
        floor = 1e-9 * max(float(np.trace(kernel)) / rows.size, 1e-300)
        kernel[np.diag_indices(rows.size)] += np.maximum(inverse, floor)
        factor = linalg.cho_factor(kernel, lower=True)
        solved = linalg.cho_solve(factor, X)
        if intercept:
            ones = linalg.cho_solve(factor, np.ones(rows.size))
            solved = solved - np.outer(ones, ones @ X) / max(float(ones.sum()), 1e-300)
        return np.asarray(X.T @ solved)
    stiff = np.trace(metric) / max(float(np.sum(X * X)), 1e-300) * 1e8
    weight = 1.0 / np.maximum(inverse, 1.0 / stiff)
    if intercept:
        X = X - (weight @ X) / weight.sum()
    gram = (X * weight[:, None]).T @ X
    inner = linalg.cho_solve(linalg.cho_factor(gram + metric, lower=True), metric)
    return np.asarray(metric - metric @ inner)

