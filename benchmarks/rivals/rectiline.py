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


class Rectiline(Rival):
    """``rl.solve(rl.Problem(...))``; building the problem is timed apart, as ``prepare``."""

    package = "rectiline"
    tight = 1e-12

    def __init__(self, name: str) -> None:
        self.name = name
        self.solver = name.partition(":")[2] or "auto"

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        return around(targets)  # the same steps around each target that ReHLine gets

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
            penalty=self._penalty(rl, objective),
            constraints=constraints,
            sample_weight=objective.weight,
            fit_intercept=case.intercept,
        )
        self.call = rl.solve

    def _penalty(self, rl: Any, objective: Objective) -> Any:
        if objective.groups is not None:
            return rl.penalties.GroupLinf(objective.l1, objective.groups)
        if objective.slope is not None:
            return rl.penalties.Slope(objective.slope)
        if objective.l1 and objective.l2:
            return rl.penalties.ElasticNet(objective.l1, objective.l2)
        if objective.l1:
            return rl.penalties.L1(objective.l1)
        return rl.penalties.Ridge(objective.l2) if objective.l2 else None

    def solve(self, tol: float, time_limit: float) -> Any:
        # Like the rivals, we are stopped by the clock and not by a count of iterations. Threads
        # come from the environment, which the parent process sets.
        return self.call(
            self.problem, solver=self.solver, tol=tol, max_iter=2**30, time_limit=time_limit
        )

    def answer(self, raw: Any) -> Answer:
        dual = raw.dual
        word = {
            "status": str(getattr(raw.status, "value", raw.status)),
            "iterations": int(raw.n_iter),
            "solver": str(raw.solver),
            "relative_gap": float(raw.certificate.relative_gap),
            "library_bound": float(raw.certificate.dual),
        }
        return Answer(
            np.asarray(raw.coef),
            float(raw.intercept),
            None if dual is None else np.asarray(dual.sample),
            None if dual is None else np.asarray(dual.inequality),
            word,
        )
