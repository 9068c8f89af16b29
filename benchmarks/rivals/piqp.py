"""PIQP (proximal interior point) on the boxed dual, bounds given natively."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse
from ._boxed_dual import boxed_dual


class PIQP(Rival):
    package = "piqp"
    tolerances = decades(1e-2, 1e-12, 1)
    tight = 1e-13

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, constraints=True)

    def prepare(self, objective: Objective) -> None:
        import piqp

        self.make = piqp.SparseSolver
        self.form = boxed_dual(objective)
        self.P = sparse.diags(self.form.P, format="csc")
        self.rhs = np.zeros(self.form.E.shape[0])

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.make()
        settings = solver.settings
        settings.verbose = False
        settings.max_iter = 500
        settings.eps_abs = settings.eps_rel = tol
        settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = tol
        form = self.form
        solver.setup(self.P, form.q, form.E, self.rhs, None, None, None, form.lower, form.upper)
        status = solver.solve()
        return solver, status

    def answer(self, raw: Any) -> Answer:
        solver, status = raw
        word = {"iterations": int(solver.result.info.iter), "status": str(status)}
        return self.form.answer(np.array(solver.result.x), np.array(solver.result.y), word)
