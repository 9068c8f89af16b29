"""Random problems of tasks that share a subspace, with their files and false ones."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import rectiline as rl
from certificates.make_vectors import flat
from rectiline import verify
from rectiline.estimators.multitask import MultiTaskRegressor
from rectiline.problems import MultiTaskProblem

LEAST_LIE = 1e-7  # share of the objective by which a false claim is wrong at least


@dataclass
class ProvedTasks:
    """Fitted tasks with their problem, their file in parts and the data for the checker."""

    model: Any
    problem: MultiTaskProblem
    header: dict[str, Any]
    arrays: dict[str, Any]
    blocks: list[Any]

    @classmethod
    def random(cls, rng: np.random.Generator) -> ProvedTasks:
        """Return the tasks of random data, stacked or on the same rows."""
        n, p, m = rng.integers(8, 40), rng.integers(1, 6), rng.integers(2, 5)
        X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-2, 2)
        Y = X @ rng.standard_normal((p, m)) + rng.standard_normal((n, m))
        params = {"loss": str(rng.choice(["huber", "absolute", "squared_error"]))}
        params |= {"alpha": 10.0 ** rng.uniform(-2, 1), "beta": 10.0 ** rng.uniform(-3, 0)}
        params |= {"shared_dim": int(rng.integers(1, p + 1)), "center": bool(rng.random() < 0.3)}
        params |= {"fit_intercept": bool(rng.random() < 0.7)}
        if rng.random() < 0.3:
            params["constraints"] = rl.constraints.Box(-0.5, 0.5)
        model, tasks, y = MultiTaskRegressor(**params, tol=1e-8), None, Y
        if rng.random() < 0.3:
            tasks, y = np.arange(n) % m, Y[:, 0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, tasks)
        file = io.BytesIO()
        model.save_certificate(file, X, y, tasks=tasks)
        problem = model.problem(X, y, tasks=tasks)
        return cls(model, problem, *flat(*verify.read(file)), [(X, y)])

    def forgeries(self, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Any]]:
        """Yield files that claim a smaller gap than coefficients away from the optimum have."""
        for k in range(6):
            arrays = {name: array.copy() for name, array in self.arrays.items()}
            size = np.abs(arrays["coef"]).max(initial=1e-3)
            m, p = self.model.coef_.shape
            coef = arrays["coef"] + size * 10.0 ** rng.uniform(-3, 1) * rng.normal(
                size=arrays["coef"].size
            )
            if "constraints" in self.model.get_params() and self.model.constraints:
                coef[: m * p] = np.clip(coef[: m * p], -0.5, 0.5)
            arrays["coef"] = coef
            U, own = coef[: m * p].reshape(m, p).T, self.problem.fit_intercept
            objective = self.problem.objective(U, coef[m * p :] if own else None)
            charged = self.problem.charged(U)
            turns = [np.linalg.eigh(charged.T @ charged)[1], arrays["turns"][1]]
            if k % 3 == 1:  # any other witnesses may only weaken the proof
                turns[1] = np.linalg.qr(rng.normal(size=(m, m)))[0] * (1.0 + 0.2 * (k == 4))
            if k % 3 == 2:
                turns[1] = turns[1] * 0.9
            arrays["turns"] = np.stack(turns)
            weights = np.sort(self.problem.subspace(U).weights)[::-1][:m]
            arrays["shares"] = np.zeros(m)
            arrays["shares"][: weights.size] = weights * (1.0 - 1e-15)
            lie = objective - self.model.certificate_.primal
            if lie > LEAST_LIE * objective:
                claim = {"objective": float(objective).hex(), "gap": float(0.9 * lie).hex()}
                yield {**self.header, "claim": claim}, arrays
