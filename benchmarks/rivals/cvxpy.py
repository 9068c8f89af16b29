"""cvxpy with Clarabel, the program as its users write it; compiling it is part of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse


class Cvxpy(Rival):
    package = "cvxpy"
    tolerances = decades(1e-6, 1e-12, 1)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, losses=("hinge", "pinball", "huber"), constraints=True)

    def prepare(self, objective: Objective) -> None:
        import cvxpy

        self.cvxpy, self.objective = cvxpy, objective

    def solve(self, tol: float, time_limit: float) -> Any:
        cp, objective, case = self.cvxpy, self.objective, self.objective.case
        b, b0 = cp.Variable(objective.d), cp.Variable()
        z = objective.X @ b + (b0 if case.intercept else 0.0)
        y, parameter = objective.y, case.parameter
        if case.loss == "hinge":
            loss = cp.pos(1.0 - cp.multiply(y, z))
        elif case.loss == "huber":
            loss = cp.huber(y - z, parameter) / 2.0
        else:
            loss = cp.maximum(parameter * (y - z), (parameter - 1.0) * (y - z))
        total = objective.uniform_weight * cp.sum(loss)
        total += objective.l1 * cp.norm1(b) + 0.5 * objective.l2 * cp.sum_squares(b)
        rows = [] if objective.A is None else [objective.A @ b + objective.c >= 0]
        settings = {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol, "max_threads": 1}
        problem = cp.Problem(cp.Minimize(total), rows)
        problem.solve(solver=cp.CLARABEL, time_limit=time_limit, **settings)
        return b.value, 0.0 if b0.value is None else float(b0.value), problem.status

    def answer(self, raw: Any) -> Answer:
        coef, intercept, status = raw
        return Answer(np.asarray(coef, dtype=float), intercept, word={"status": status})
