"""OSQP (operator splitting) on the boxed dual."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse
from ._boxed_dual import boxed_dual


class OSQP(Rival):
    package = "osqp"
    tolerances = decades(1e-2, 1e-10, 1)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, constraints=True)

    def prepare(self, objective: Objective) -> None:
        import osqp

        self.make = osqp.OSQP
        self.form = boxed_dual(objective)
        boxed = np.isfinite(self.form.lower) | np.isfinite(self.form.upper)
        identity = sparse.eye(len(boxed), format="csr")[boxed]
        zero = np.zeros(self.form.E.shape[0])
        self.P = sparse.diags(self.form.P, format="csc")
        self.A = sparse.vstack([self.form.E, identity], format="csc")
        self.lower = np.concatenate([zero, self.form.lower[boxed]])
        self.upper = np.concatenate([zero, self.form.upper[boxed]])

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.make()
        solver.setup(
            self.P,
            self.form.q,
            self.A,
            self.lower,
            self.upper,
            verbose=False,
            eps_abs=tol,
            eps_rel=tol,
            max_iter=10_000_000,
            time_limit=time_limit,
            polishing=True,
        )
        return solver.solve()

    def answer(self, raw: Any) -> Answer:
        word = {"iterations": int(raw.info.iter), "status": str(raw.info.status)}
        return self.form.answer(np.array(raw.x), np.array(raw.y)[: self.form.E.shape[0]], word)
