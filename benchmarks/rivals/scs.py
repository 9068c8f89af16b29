"""SCS (splitting conic) on the boxed dual."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse
from ._boxed_dual import boxed_dual


class SCS(Rival):
    package = "scs"
    tolerances = decades(1e-2, 1e-9, 1)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, constraints=True)

    def prepare(self, objective: Objective) -> None:
        import scs

        self.make = scs.SCS
        form = self.form = boxed_dual(objective)
        identity = sparse.eye(len(form.q), format="csr")
        above, below = np.isfinite(form.upper), np.isfinite(form.lower)
        zero = np.zeros(form.E.shape[0])
        self.data = {
            "P": sparse.diags(form.P, format="csc"),
            "A": sparse.vstack([form.E, identity[above], -identity[below]], format="csc"),
            "b": np.concatenate([zero, form.upper[above], -form.lower[below]]),
            "c": form.q,
        }
        self.cone = {"z": len(zero), "l": int(above.sum() + below.sum())}

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.make(
            self.data,
            self.cone,
            eps_abs=tol,
            eps_rel=tol,
            max_iters=2**30,
            time_limit_secs=time_limit,
            verbose=False,
        )
        return solver.solve()

    def answer(self, raw: Any) -> Answer:
        word = {"iterations": int(raw["info"]["iter"]), "status": str(raw["info"]["status"])}
        return self.form.answer(raw["x"], raw["y"][: self.form.E.shape[0]], word)
