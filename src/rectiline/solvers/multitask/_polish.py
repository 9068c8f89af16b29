"""The polish of a multi-task solve whose tasks are independent: each one by itself."""

from __future__ import annotations

import numpy as np

from rectiline.problems import MultiTaskProblem
from rectiline.solvers._drive import polish_quietly
from rectiline.solvers._run import Run
from rectiline.solvers._solution import Solution
from rectiline.solvers._status import Status

__all__ = ["polish_tasks"]

_ROUNDING = 1e-12  # relative gap that the sum over exact tasks may have


def polish_tasks(run: Run) -> None:
    """Make every task of the best pair exact up to rounding, under the limits of the run."""
    problem: MultiTaskProblem = run.problem
    assert run.best.pair is not None
    coef, intercept, dual = run.best.pair
    space = problem.start_subspace(coef)
    columns, levels, duals = [], [], []
    for t, task in enumerate(problem.tasks):
        step = task.step(space, problem.penalty.eta, 2.0 * problem.penalty.scale)
        v, b = step.variable(coef[:, t]), float(intercept[t])
        proof, point = step.problem.prove(v, b, dual[t])
        rough = Solution(v, b, Status.SOLVED, run.best.author, 0, 0.0, point, proof)
        found = polish_quietly(step.problem, rough, run.limits.seed, run.clock)
        run.n_iter += found.n_iter
        columns.append(step.coef(found.coef))
        levels.append(found.intercept)
        duals.append(found.dual)
    allowed = max(run.best.certificate.relative_gap, _ROUNDING)
    run.best.replace(np.column_stack(columns), np.array(levels), duals, allowed)
    run.reasons.append("polish: every task by itself")
    run.report("polish")
