"""Ours, through the public interface only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, around

_LOSSES = {
    "hinge": ("Hinge", None),
    "squared_hinge": ("SquaredHinge", None),
    "smoothed_hinge": ("SmoothedHinge", "width"),
    "modified_huber": ("ModifiedHuber", None),
    "absolute": ("Absolute", None),
    "epsilon_insensitive": ("EpsilonInsensitive", "epsilon"),
    "squared_epsilon_insensitive": ("SquaredEpsilonInsensitive", "epsilon"),
    "pinball": ("Pinball", "quantile"),
    "huber": ("Huber", "delta"),
    "squared_error": ("SquaredError", None),
    "expectile": ("Expectile", "quantile"),
}


class Ours(Rival):
    """What our solver and our estimator share: the steps around each target that ReHLine gets."""

    package = "rectiline"
    tight = 1e-12

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        return around(targets)


class Rectiline(Ours):
    """``rl.solve(rl.Problem(...))``; building the problem is timed apart, as ``prepare``."""

    def __init__(self, name: str) -> None:
        self.solver = name.partition(":")[2] or "auto"

    def skip(self, objective: Objective) -> str | None:
        return None  # what we cannot do is a failure of ours, never a skip

    def prepare(self, objective: Objective) -> None:
        import rectiline as rl

        case = objective.case
        loss, argument = _LOSSES[case.loss]
        options = {} if argument is None or case.parameter is None else {argument: case.parameter}
        constraints = ()
        if case.fairness is not None:
            constraints = (rl.constraints.Fairness(objective.sensitive, case.fairness),)
        self.problem = rl.Problem(
            objective.X,
            objective.y,
            loss=getattr(rl.losses, loss)(**options),
            penalty=_penalty(rl.penalties, objective),
            constraints=constraints,
            sample_weight=objective.weight,
            fit_intercept=case.intercept,
        )
        self.call = rl.solve

    def solve(self, tol: float, time_limit: float) -> Any:
        # Like the rivals, we are stopped by the clock and not by a count of iterations. Threads
        # come from the environment, which the parent process sets.
        limits = {"max_iter": 2**30, "time_limit": time_limit}
        return self.call(self.problem, solver=self.solver, tol=tol, **limits)

    def answer(self, raw: Any) -> Answer:
        sample = inequality = None
        if raw.dual is not None:
            sample, inequality = np.asarray(raw.dual.sample), np.asarray(raw.dual.inequality)
        word = _word(raw.status, raw.n_iter, raw.solver, raw.certificate)
        word["library_bound"] = float(raw.certificate.dual)
        return Answer(np.asarray(raw.coef), float(raw.intercept), sample, inequality, word)


def _word(status: Any, iterations: Any, solver: Any, proof: Any) -> dict[str, Any]:
    word = {"status": str(getattr(status, "value", status)), "iterations": int(iterations)}
    return word | {"solver": str(solver), "relative_gap": float(proof.relative_gap)}


def _penalty(penalties: Any, objective: Objective) -> Any:
    if objective.groups is not None:
        return penalties.GroupLinf(objective.l1, objective.groups)
    if objective.slope is not None:
        return penalties.Slope(objective.slope)
    if objective.l1 and objective.l2:
        return penalties.ElasticNet(objective.l1, objective.l2)
    if objective.l1:
        return penalties.L1(objective.l1)
    return penalties.Ridge(objective.l2) if objective.l2 else None


class RectilineClassifier(Ours):
    """``rectiline.PLQClassifier.fit``: checks of the data included."""

    takes = {"losses": ("hinge", "squared_hinge", "smoothed_hinge"), "ridge": True, "l1": False}

    def prepare(self, objective: Objective) -> None:
        from rectiline.estimators import PLQClassifier

        self.objective = objective
        C = objective.uniform_weight / objective.l2
        options = {"fit_intercept": objective.case.intercept, "max_iter": 2**30}
        self.model = PLQClassifier(objective.case.loss, C=C, **options)

    def solve(self, tol: float, time_limit: float) -> Any:
        self.model.set_params(tol=tol, time_limit=time_limit)
        return self.model.fit(self.objective.X, self.objective.y)

    def answer(self, raw: Any) -> Answer:
        word = _word(raw.status_, raw.n_iter_, raw.solver_, raw.certificate_)
        dual = np.asarray(raw.solution_.dual.sample) * self.objective.l2
        return Answer(np.ravel(raw.coef_), float(np.ravel(raw.intercept_)[0]), dual, None, word)


class RectilineQuantile(Ours):
    """``rectiline.QuantileRegressor.fit``: checks of the data and the final polish included."""

    takes = {"losses": ("pinball",)}

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
        word = _word(raw.status_, raw.n_iter_, raw.solver_, raw.certificate_)
        dual = np.asarray(raw.dual_coef_) * (self.total / self.objective.n)
        return Answer(np.asarray(raw.coef_), float(raw.intercept_), dual, None, word)
