"""LIBLINEAR through scikit-learn's LinearSVC and LinearSVR: ``C sum loss + |b|^2/2``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, decades, refuse


class Liblinear(Rival):
    """Dual coordinate descent."""

    package = "scikit-learn"
    dual = True
    losses: tuple[str, ...] = (
        "hinge",
        "squared_hinge",
        "absolute",
        "pinball",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
        "squared_error",
    )
    tolerances = decades(1e-1, 1e-11)

    def skip(self, objective: Objective) -> str | None:
        if objective.case.loss == "pinball" and objective.case.parameter != 0.5:
            return "pinball only at the median"
        return refuse(objective, losses=self.losses, ridge=True, l1=False, intercept=False)

    def prepare(self, objective: Objective) -> None:
        from sklearn.svm import LinearSVC, LinearSVR

        case = objective.case
        C = objective.uniform_weight / objective.l2
        options: dict[str, Any] = {"fit_intercept": False, "dual": self.dual}
        if case.loss in ("hinge", "squared_hinge"):
            self.make = lambda tol: LinearSVC(loss=case.loss, C=C, tol=tol, **options)
        else:
            squared = case.loss.startswith("squared")
            loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
            halved = case.loss in ("pinball", "squared_error")
            width = case.parameter if case.loss.endswith("insensitive") else 0.0
            self.make = lambda tol: LinearSVR(
                epsilon=width, loss=loss, C=C / 2 if halved else C, tol=tol, **options
            )
        self.objective = objective

    def solve(self, tol: float, time_limit: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self.make(tol).set_params(max_iter=2**30)
            return model.fit(self.objective.X, self.objective.y)

    def answer(self, raw: Any) -> Answer:
        return Answer(raw.coef_.ravel(), word={"iterations": int(np.max(raw.n_iter_))})


class LiblinearPrimal(Liblinear):
    """Trust-region Newton on the primal, for the smooth losses."""

    dual = False
    losses = ("squared_hinge", "squared_epsilon_insensitive", "squared_error")
