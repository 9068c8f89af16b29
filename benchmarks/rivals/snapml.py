"""Snap ML's SupportVectorMachine: ``sum loss + regularizer/2 |b|^2``, float32 by its design."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse, sweeps


class SnapML(Rival):
    package = "snapml"
    clockless = True
    tolerances = decades(1e-2, 1e-9, 1)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, losses=("hinge",), ridge=True, l1=False, intercept=False)

    def prepare(self, objective: Objective) -> None:
        from snapml import SupportVectorMachine

        strength = objective.l2 / objective.uniform_weight
        self.X = objective.X.astype(np.float32)
        self.y = objective.y
        self.make = lambda tol, count: SupportVectorMachine(
            loss="hinge",
            regularizer=strength,
            max_iter=count,
            tol=tol,
            fit_intercept=False,
            n_jobs=1,
            use_gpu=False,
        )

    def _fit(self, tol: float, count: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make(tol, max(count, 1)).fit(self.X, self.y)

    def solve(self, tol: float, time_limit: float) -> Any:
        if not self.capped:
            return self._fit(tol, 1_000_000)
        return self._fit(tol, int(time_limit * sweeps(lambda count: self._fit(1e-12, count))))

    def answer(self, raw: Any) -> Answer:
        return Answer(np.array(raw.coef_, dtype=float).ravel())
