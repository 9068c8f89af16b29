"""pyfixest's Frisch-Newton interior point for quantile regression, called below its formulas.

The formula parser, the variance estimate and the collinearity check of ``quantreg`` are not its
solver and are left out; the factorisation that its solver takes as input is timed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective
from ._base import Answer, Rival, around, refuse


class PyfixestFrischNewton(Rival):
    package = "pyfixest"
    compiles = True

    def skip(self, objective: Objective) -> str | None:
        losses = ("pinball", "absolute")
        return refuse(objective, losses=losses, ridge=False, l1=False, sparse=False)

    def prepare(self, objective: Objective) -> None:
        from pyfixest.estimation.quantreg.frisch_newton_ip import frisch_newton_solver

        case = objective.case
        self.call = frisch_newton_solver
        self.intercept = case.intercept
        ones = np.ones((objective.n, 1))
        self.X = np.hstack([objective.X, ones]) if case.intercept else objective.X
        self.y = objective.y
        self.q = 0.5 if case.loss == "absolute" else case.parameter
        # Its gap is that of sum loss; ours has the weights in it.
        self.unit = objective.uniform_weight * (2.0 if case.loss == "absolute" else 1.0)

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        return around(targets, size / self.unit)

    def solve(self, tol: float, time_limit: float) -> Any:
        from scipy.linalg import cho_factor, solve_triangular

        X, n = self.X, len(self.y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            factor, _ = cho_factor(X.T @ X, lower=True, check_finite=False)
            return self.call(
                A=X.T,
                b=(1.0 - self.q) * X.T @ np.ones(n),
                c=-self.y,
                u=np.ones(n),
                q=self.q,
                tol=tol,
                max_iter=500,
                chol=factor,
                P=solve_triangular(factor, X.T, lower=True, check_finite=False),
            )

    def answer(self, raw: Any) -> Answer:
        parameters = np.asarray(raw[0]).ravel()
        # Its dual x lies in [0, 1] with X'x = (1-q) X'1; the slope of our row is w (1 - q - x).
        dual = self.unit * (1.0 - self.q - np.asarray(raw[3]))
        word = {"iterations": int(raw[2]), "converged": bool(raw[1])}
        if self.intercept:
            return Answer(parameters[:-1], float(parameters[-1]), dual, word=word)
        return Answer(parameters, 0.0, dual, word=word)
