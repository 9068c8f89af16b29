"""Round the soft subspace to h directions and bound the distance to the best such model.

The convex problem relaxes ASO, where M must be a projector. Rounding M to the projector on the h
leading directions and solving the tasks once more gives a model of ASO itself; since the lower
bound of the relaxation is one for ASO too, the difference of the two *proves* how far that model
can be from the best ASO model. If the spectrum is already 0 or 1 the difference is the gap: the
relaxation is tight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints
from rectiline._thread_count import checked_threads
from rectiline._typing import Matrix, Vector
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask._blocks import Block, Space
from rectiline.solvers.multitask._drive import MultiTaskSolution
from rectiline.solvers.multitask._held import Held
from rectiline.solvers.multitask.bcd import joint_step, make_steps


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """The shared directions and what they prove.

    Attributes
    ----------
    components : ndarray of shape (shared_dim, n_features)
        Orthonormal rows, the leading direction first.
    basis, weights : ndarray
        The soft projector ``M = basis @ diag(weights) @ basis.T`` with trace shared_dim.
    value : float
        Objective of the best model in that subspace (ASO's objective).
    bound : float
        ``value`` is within this share of the best value of ASO over all subspaces.
    """

    components: Matrix
    basis: Matrix
    weights: Vector
    value: float
    bound: float


def shared_directions(coef: Matrix, shared_dim: int) -> Matrix:
    """Return `shared_dim` orthonormal rows: leading left singular vectors, completed if too few.

    The entry of largest size in each row is positive, so that the answer is unique.
    """
    left, sizes, _ = np.linalg.svd(coef, full_matrices=False)
    found = left[:, sizes > 1e-12 * max(float(sizes.max(initial=0.0)), 1e-300)][:, :shared_dim]
    missing = shared_dim - found.shape[1]
    if missing > 0:
        # Complete by the axes that the found directions use least.
        used = np.sum(found**2, axis=1)
        axes = np.argsort(used, kind="stable")[: missing + found.shape[1]]
        extra = np.zeros((coef.shape[0], axes.size))
        extra[axes, np.arange(axes.size)] = 1.0
        for _ in range(2):  # twice is enough for orthogonality to rounding
            extra -= found @ (found.T @ extra)
        vectors, _, _ = np.linalg.svd(extra, full_matrices=False)
        found = np.column_stack([found, vectors[:, :missing]])
    peaks = np.argmax(np.abs(found), axis=0)
    signs = np.where(found[peaks, np.arange(found.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray((found * signs).T)


def round_solution(
    problem: MultiTaskProblem,
    solution: MultiTaskSolution,
    *,
    tol: float = 1e-6,
    time_limit: float | None = None,
    random_state: int = 0,
    n_threads: int | None = 1,
) -> Rounded:
    """Round the subspace of a solution and prove how good the rounded model is.

    Parameters
    ----------
    problem : MultiTaskProblem
    solution : MultiTaskSolution
    tol : float, default=1e-6
        Relative accuracy of the one further step over all tasks.
    time_limit : float, optional
        Most seconds; a step that is cut short makes the bound larger, never wrong.
    random_state, n_threads
        As in `solve_multitask`.

    Returns
    -------
    Rounded
    """
    own = problem.charged(solution.coef)
    components = shared_directions(own, problem.penalty.shared_dim)
    basis, weights = _soft_projector(solution.subspace, components)
    hard = problem.projector(components)
    block = Block.of(solution.coef, solution.intercept, solution.dual)
    gap = tol * abs(solution.certificate.primal)
    held = Held.of(problem, hard)
    try:
        with asked_at_checkpoints(Clock.with_grace(time_limit)):
            steps = make_steps(
                problem, random_state, checked_threads(-1 if n_threads is None else n_threads)
            )
            steps.clock = Clock(time_limit)
            if problem.center:
                block = joint_step(problem, steps, block, hard, gap)
            else:
                block = steps.step(block, held, None, gap)
            value = problem.loss_value(block.coef, block.intercept)
    except OutOfTime:  # the given coefficients are a model in that subspace too
        block = Block.of(solution.coef, solution.intercept)
        value = solution.certificate.primal - problem.penalty_value(solution.coef)
    value += held.charge(problem.charged(block.coef))
    distance = max(value - solution.certificate.dual, 0.0)
    return Rounded(components, basis, weights, value, distance / max(abs(value), 1e-300))


def _soft_projector(space: Space, components: Matrix) -> tuple[Matrix, Vector]:
    """Return M with its whole trace: directions that complete the components have weight 1."""
    missing = components.shape[0] - space.weights.size
    if missing <= 0:
        return space.basis, space.weights
    extra = components.T - space.basis @ (space.basis.T @ components.T)
    vectors = np.linalg.svd(extra, full_matrices=False)[0][:, :missing]
    basis = np.column_stack([space.basis, vectors])
    return basis, np.concatenate([space.weights, np.ones(missing)])
