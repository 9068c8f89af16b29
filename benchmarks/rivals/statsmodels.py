"""statsmodels QuantReg: iteratively reweighted least squares, no penalty."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse


class StatsmodelsQuantReg(Rival):
    package = "statsmodels"
    tolerances = decades(1e-3, 1e-10, 1)

    def skip(self, objective: Objective) -> str | None:
        losses = ("pinball", "absolute")
        return refuse(objective, losses=losses, ridge=False, l1=False, sparse=False)

    def prepare(self, objective: Objective) -> None:
        from statsmodels.regression.quantile_regression import QuantReg

        self.intercept = objective.case.intercept
        ones = np.ones((objective.n, 1))
        design = np.hstack([objective.X, ones]) if self.intercept else objective.X
        self.model = QuantReg(objective.y, design)
        self.q = 0.5 if objective.case.loss == "absolute" else objective.case.parameter

    def solve(self, tol: float, time_limit: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model.fit(q=self.q, p_tol=tol, max_iter=100_000)

    def answer(self, raw: Any) -> Answer:
        parameters = np.asarray(raw.params)
        if self.intercept:
            return Answer(parameters[:-1], float(parameters[-1]))
        return Answer(parameters)
