"""Clarabel (interior point) on the boxed dual."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse
from ._boxed_dual import boxed_dual


class Clarabel(Rival):
    package = "clarabel"
    tolerances = decades(1e-2, 1e-10, 1)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, constraints=True)

    def prepare(self, objective: Objective) -> None:
        import clarabel

        self.clarabel, self.form = clarabel, boxed_dual(objective)
        form = self.form
        size = len(form.q)
        identity = sparse.eye(size, format="csr")
        above, below = np.isfinite(form.upper), np.isfinite(form.lower)
        self.A = sparse.vstack([form.E, identity[above], -identity[below]], format="csc")
        self.b = np.concatenate([np.zeros(form.E.shape[0]), form.upper[above], -form.lower[below]])
        self.P = sparse.diags(form.P, format="csc")
        self.cones = [
            clarabel.ZeroConeT(form.E.shape[0]),
            clarabel.NonnegativeConeT(int(above.sum() + below.sum())),
        ]

    def solve(self, tol: float, time_limit: float) -> Any:
        settings = self.clarabel.DefaultSettings()
        settings.verbose = False
        settings.time_limit = time_limit
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        solver = self.clarabel.DefaultSolver(
            self.P, self.form.q, self.A, self.b, self.cones, settings
        )
        return solver.solve()

    def answer(self, raw: Any) -> Answer:
        word = {"iterations": int(raw.iterations), "status": str(raw.status)}
        multipliers = np.array(raw.z)[: self.form.E.shape[0]]
        return self.form.answer(np.array(raw.x), multipliers, word)
