"""Snap ML's SupportVectorMachine: ``sum loss + regularizer/2 |b|^2``, float32 by its design."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse


class SnapML(Rival):
    package = "snapml"
    tolerances = decades(1e-2, 1e-9, 1)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, losses=("hinge",), ridge=True, l1=False, intercept=False)

    def prepare(self, objective: Objective) -> None:
        from snapml import SupportVectorMachine

        strength = objective.l2 / objective.uniform_weight
        self.X = objective.X.astype(np.float32)
        self.y = objective.y
        self.make = lambda tol: SupportVectorMachine(
            loss="hinge",
            regularizer=strength,
            max_iter=1_000_000,
            tol=tol,
            fit_intercept=False,
            n_jobs=1,
            use_gpu=False,
        )

    def solve(self, tol: float, time_limit: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make(tol).fit(self.X, self.y)

    def answer(self, raw: Any) -> Answer:
        return Answer(np.array(raw.coef_, dtype=float).ravel())
