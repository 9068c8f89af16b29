"""scikit-learn's own linear models: QuantileRegressor and SGD."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, refuse


class SklearnQuantile(Rival):
    """``mean(pinball) + alpha |b|_1`` by HiGHS; it has no tolerance of its own."""

    package = "scikit-learn"
    tolerances = (0.0,)

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, losses=("pinball", "absolute"), ridge=False)

    def prepare(self, objective: Objective) -> None:
        from sklearn.linear_model import QuantileRegressor

        case = objective.case
        doubled = case.loss == "absolute"
        total = objective.uniform_weight * objective.n * (2.0 if doubled else 1.0)
        self.model = QuantileRegressor(
            quantile=0.5 if doubled else case.parameter,
            alpha=objective.l1 / total,
            fit_intercept=case.intercept,
            solver="highs",
        )
        self.objective = objective

    def solve(self, tol: float, time_limit: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model.fit(self.objective.X, self.objective.y)

    def answer(self, raw: Any) -> Answer:
        return Answer(np.array(raw.coef_), float(raw.intercept_), word={"iterations": raw.n_iter_})


class SklearnSGD(Rival):
    """Averaged stochastic gradient; its "tolerance" is one over the number of epochs."""

    package = "scikit-learn"
    tolerances = (1.0, 0.2, 0.05, 0.01, 0.002)

    def skip(self, objective: Objective) -> str | None:
        losses = (
            "hinge",
            "squared_hinge",
            "modified_huber",
            "huber",
            "squared_error",
            "epsilon_insensitive",
            "squared_epsilon_insensitive",
        )
        if reason := refuse(objective, losses=losses):
            return reason
        return "needs a penalty" if objective.penalty_is_zero else None

    def prepare(self, objective: Objective) -> None:
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        case = objective.case
        # Its mean loss times this is ours.
        total = objective.uniform_weight * objective.n
        loss = case.loss
        options: dict[str, Any] = {
            "penalty": "elasticnet",
            "alpha": (objective.l1 + objective.l2) / total,
            "l1_ratio": objective.l1 / (objective.l1 + objective.l2),
            "fit_intercept": case.intercept,
            # After the first epoch; averaging is broken in combination with an L1 term.
            "average": objective.n if objective.l1 == 0 else False,
            "tol": None,
            "random_state": 0,
        }
        if case.parameter is not None:
            options["epsilon"] = case.parameter
        margin = case.data.task == "margin"
        make = SGDClassifier if margin else SGDRegressor
        self.make = lambda epochs: make(loss=loss, max_iter=epochs, **options)
        self.objective = objective

    def solve(self, tol: float, time_limit: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make(round(1.0 / tol)).fit(self.objective.X, self.objective.y)

    def answer(self, raw: Any) -> Answer:
        return Answer(np.asarray(raw.coef_).ravel(), float(np.ravel(raw.intercept_)[0]))
