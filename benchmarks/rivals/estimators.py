"""Ours through the scikit-learn face: what a user of ``QuantileRegressor`` waits for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, around, refuse


class RectilineQuantile(Rival):
    """``rectiline.QuantileRegressor.fit``: checks of the data and the final polish included."""

    package = "rectiline"
    tight = 1e-12

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        return around(targets)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, losses=("pinball",))

    def prepare(self, objective: Objective) -> None:
        from rectiline.estimators import QuantileRegressor

        case = objective.case
        self.objective = objective
        # Its loss is a mean; ours is a sum of weighted losses.
        self.total = objective.uniform_weight * objective.n
        strength = objective.l1 + objective.l2
        self.model = QuantileRegressor(
            quantile=case.parameter,
            alpha=strength / self.total,
            l1_ratio=objective.l1 / strength if strength else 1.0,
            fit_intercept=case.intercept,
            max_iter=2**30,
        )

    def solve(self, tol: float, time_limit: float) -> Any:
        self.model.set_params(tol=tol, time_limit=time_limit)
        return self.model.fit(self.objective.X, self.objective.y)

    def answer(self, raw: Any) -> Answer:
        word = {
            "status": raw.status_,
            "iterations": int(raw.n_iter_),
            "solver": raw.solver_,
            "relative_gap": float(raw.certificate_.relative_gap),
        }
        dual = np.asarray(raw.dual_coef_) * (self.total / self.objective.n)
        return Answer(np.asarray(raw.coef_), float(raw.intercept_), dual, None, word)
