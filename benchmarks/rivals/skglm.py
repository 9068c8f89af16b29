"""skglm: Anderson-accelerated coordinate descent, ``mean(loss) + penalty``, columns contiguous."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse


class Skglm(Rival):
    package = "skglm"
    compiles = True
    tolerances = decades(1e-2, 1e-12, 1)

    def skip(self, objective: Objective) -> str | None:
        losses = ("huber", "squared_error")
        if reason := refuse(objective, losses=losses):
            return reason
        return "needs a penalty" if objective.penalty_is_zero else None

    def prepare(self, objective: Objective) -> None:
        from skglm.datafits import Huber, Quadratic
        from skglm.penalties import L1_plus_L2
        from skglm.solvers import AndersonCD
        from skglm.utils.jit_compilation import compiled_clone

        case = objective.case
        total = objective.uniform_weight * objective.n  # its mean loss times this is ours
        alpha = (objective.l1 + objective.l2) / total
        share = objective.l1 / (objective.l1 + objective.l2)
        X = objective.X
        self.X = X.tocsc() if hasattr(X, "indptr") else np.asfortranarray(X)
        self.y = objective.y
        self.intercept = case.intercept
        datafit = Huber(case.parameter) if case.loss == "huber" else Quadratic()
        self.datafit = compiled_clone(datafit)
        self.penalty = compiled_clone(L1_plus_L2(alpha, share))
        self.make = lambda tol: AndersonCD(
            max_iter=10_000, max_epochs=1_000_000, tol=tol, fit_intercept=case.intercept
        )

    def solve(self, tol: float, time_limit: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make(tol).solve(self.X, self.y, self.datafit, self.penalty)

    def answer(self, raw: Any) -> Answer:
        weights, _, stop = raw
        intercept = float(weights[-1]) if self.intercept else 0.0
        coef = np.array(weights[: self.X.shape[1]])
        return Answer(coef, intercept, word={"stop_crit": float(stop)})
