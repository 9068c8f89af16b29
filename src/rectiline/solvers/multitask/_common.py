"""The step of `bcd` for problems with a common part u_0: minimise over u_0 as well.

For a fixed subspace let ``phi_t(u_0)`` be the least cost of task t for ``u_t = u_0 + v_t``. The
sum over the tasks is convex and differentiable with gradient ``-strength S^-1 sum_t v_t``.
Alternating between u_0 and the tasks crawls when the tasks are held together tightly, so u_0 takes
(semismooth) Newton steps: rows on a kink hold their prediction, rows on a curved piece resist by
their curvature, the others do nothing. For least squares one step is exact.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from rectiline._typing import Matrix, Vector
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask._blocks import Block, Space, Steps
from rectiline.solvers.multitask._held import Held

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
