"""Tasks that turn out to be independent get the same exact finish as a model of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rectiline.estimators._finish import finish
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.solvers import Solution, Status
from rectiline.solvers.multitask import MultiTaskSolution

__all__ = ["finish_tasks"]


def finish_tasks(problem: MultiTaskProblem, solution: MultiTaskSolution) -> MultiTaskSolution:
    """Return the solution with every task polished on its own; for `problem.is_decoupled` only."""
    coef, intercept, duals = [], [], []
    for t, task in enumerate(problem.tasks):
        step = task.step(
            problem.start_subspace(solution.coef), problem.penalty.eta, 2.0 * problem.penalty.scale
        )
        v, b = step.variable(solution.coef[:, t]), float(solution.intercept[t])
        proof, dual = step.problem.certify_repaired(v, b, solution.dual[t])
        found = finish(
            step.problem, Solution(v, b, Status.SOLVED, solution.solver, 0, 0.0, dual, proof)
        )
        coef.append(step.coef(found.coef))
        intercept.append(found.intercept)
        duals.append(found.dual)
    U, b0 = np.column_stack(coef), np.array(intercept)
    proof, dual_points = problem.certify_repaired(U, b0, duals)
    if proof.relative_gap > max(solution.certificate.relative_gap, 1e-12):
        return solution
    return replace(
        solution,
        coef=U,
        intercept=b0,
        dual=dual_points,
        certificate=proof,
        subspace=problem.subspace(U),
    )
