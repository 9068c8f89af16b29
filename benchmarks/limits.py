"""How well time limits are kept: seconds taken under a limit, for every solver, path and search.

    python -m benchmarks.limits                        # all cases, some minutes
    python -m benchmarks.limits --words tall newton    # those with these words

A limit counts as kept if the call returns within 10 % or 50 ms of it, whichever is larger, or ends
earlier. Each case runs with one thread of linear algebra. Limits are counted in CPU time of this
process (the clock of Python is exchanged before anything is imported), because other processes of
a busy machine take wall time; ``--wall`` measures wall time instead, for an idle one.
"""

from __future__ import annotations

import sys
import time

if "--wall" not in sys.argv:
    time.perf_counter = time.process_time

import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse as sp
from threadpoolctl import threadpool_limits

import rectiline as rl
from rectiline.paths import path
from rectiline.problems import MultiTaskProblem
from rectiline.solvers import solve_multitask

from . import store

LIMIT = 1.0  # seconds, of one solve
MANY = 3.0  # times as long a limit for what solves several problems
SOLVERS = ["auto", "generation", "interior", "newton", "reduced_newton", "rehline"]
LOSSES = {
    "absolute": rl.losses.Absolute(),
    "huber": rl.losses.Huber(),
    "squared_error": rl.losses.SquaredError(),
    "squared_hinge": rl.losses.SquaredHinge(),
    "hinge": rl.losses.Hinge(),
}
MIXES = [
    ("absolute", "ridge"),
    ("absolute", "l1"),
    ("absolute", "slope"),
    ("absolute", "none"),
    ("huber", "elastic"),
    ("huber", "group"),
    ("huber", "none"),
    ("squared_error", "l1"),
    ("hinge", "ridge"),
    ("squared_hinge", "ridge"),
]


def allowed(limit: float) -> float:
    """Seconds beyond a limit that count as kept."""
    return max(0.1 * limit, 0.05)


class Table:
    """Numbers of one shape: a hard regression and a hard classification."""

    def __init__(self, name: str, n: int, d: int, density: float = 1.0) -> None:
        rng = np.random.default_rng(3)
        self.name = name
        self.X: Any
        if density < 1.0:
            self.X = sp.random_array((n, d), density=density, rng=rng, format="csr")
        else:
            self.X = rng.standard_normal((n, d))
            self.X += rng.standard_normal((n, 1))  # columns that are correlated
            self.X *= 10.0 ** rng.uniform(-1, 1, d)
        signal = self.X @ (rng.standard_normal(d) * (rng.random(d) < 0.2))
        signal /= signal.std() or 1.0
        self.y = signal + rng.standard_t(2, n)
        self.labels = np.where(signal + rng.standard_normal(n) > 0, 1.0, -1.0)

    def target(self, loss: str) -> np.ndarray:
        return self.labels if "hinge" in loss else self.y


def penalties(d: int) -> dict[str, Any]:
    return {
        "ridge": rl.penalties.Ridge(1e-3),
        "l1": rl.penalties.L1(2.0),
        "elastic": rl.penalties.ElasticNet(1.0, 0.5),
        "group": rl.penalties.GroupLinf(1.0, np.arange(d) // 5),
        "slope": rl.penalties.Slope(np.linspace(2.0, 1.0, d)),
        "none": None,
    }


Case = tuple[str, Callable[[float], Any]]


def solver_cases(table: Table) -> Iterator[Case]:
    """Yield one solve per loss, penalty and solver that takes them, and under monotone rows."""
    known = penalties(table.X.shape[1])
    problems = {
        f"{loss} {penalty}": rl.Problem(table.X, table.target(loss), LOSSES[loss], known[penalty])
        for loss, penalty in MIXES
    }
    rows = rl.constraints.Monotone()
    ridge = rl.penalties.Ridge(1.0)
    problems["absolute monotone"] = rl.Problem(table.X, table.y, "absolute", ridge, rows)
    for name, problem in problems.items():
        for solver in SOLVERS:
            yield (
                f"{table.name} {name} {solver}",
                lambda limit, problem=problem, solver=solver: rl.solve(
                    problem, solver, tol=1e-12, time_limit=limit
                ),
            )


def many_cases(table: Table) -> Iterator[Case]:
    """Yield paths, searches, estimators, passes over rows and multi-task fits."""
    X, y, labels = table.X, table.y, table.labels
    n, d = X.shape
    for loss, penalty in (("huber", "ridge"), ("absolute", "l1"), ("hinge", "ridge")):
        problem = rl.Problem(X, table.target(loss), LOSSES[loss], penalties(d)[penalty])
        yield f"{table.name} {loss} {penalty} path", lambda t, p=problem: path(p, time_limit=t)
    three = {"quantile": [0.1, 0.5, 0.9]}
    models = {
        "PLQRegressor": rl.PLQRegressor(),
        "PLQRegressor epsilon": rl.PLQRegressor("epsilon_insensitive"),
        "PLQClassifier": rl.PLQClassifier(),
        "QuantileRegressor": rl.QuantileRegressor(**three),
        "QuantileRegressor joint": rl.QuantileRegressor(**three, non_crossing=True),
        "PLQRegressorCV": rl.PLQRegressorCV("huber"),
        "PLQClassifierCV": rl.PLQClassifierCV("hinge"),
        "PLQClassifierCV l1": rl.PLQClassifierCV("hinge", penalty="l1"),
        "QuantileRegressorCV": rl.QuantileRegressorCV(),
    }
    for name, model in models.items():
        target = labels if "Classifier" in name else y
        yield (
            f"{table.name} {name}",
            lambda t, model=model, target=target: model.set_params(time_limit=t).fit(X, target),
        )
    hinge = rl.Problem(X, labels, rl.losses.Hinge(), rl.penalties.Ridge(1.0))
    yield (
        f"{table.name} passes",
        lambda t: rl.solve(hinge, "passes", tol=1e-12, time_limit=t),
    )
    tasks = np.arange(n) % 4
    for solver in ("auto", "bcd"):
        parts = [np.flatnonzero(tasks == task) for task in range(4)]
        made = MultiTaskProblem(
            [X[part] for part in parts], [y[part] for part in parts], rl.losses.Huber()
        )
        yield (
            f"{table.name} multitask {solver}",
            lambda t, made=made, solver=solver: solve_multitask(
                made, solver, tol=1e-12, time_limit=t
            ),
        )
    yield (
        f"{table.name} MultiTaskRegressorCV",
        lambda t: rl.MultiTaskRegressorCV(time_limit=t).fit(X, y, tasks=tasks),
    )


SHAPES = {
    "small": (2_000, 50),
    "middle": (20_000, 500),
    "wide": (2_000, 20_000),
    "sparse": (50_000, 50_000, 1e-3),
    "tall": (1_000_000, 50),
}


def measure(call: Callable[[float], Any], limit: float) -> tuple[float, str] | None:
    """Return the least seconds of two calls and how the last one ended; None if refused."""
    least, ended = np.inf, ""
    for _ in range(2):
        began = time.perf_counter()
        try:
            found = call(limit)
        except rl.UnsupportedProblemError:
            return None
        except rl.NoAnswerError:
            found = None
        least = min(least, time.perf_counter() - began)
        ended = str(getattr(found, "status", getattr(found, "status_", "no answer")))[:40]
        if least <= limit + allowed(limit):
            break
    return least, ended


def rows(words: list[str], wall: bool) -> Iterator[dict[str, str]]:
    """Yield a row for each case whose name contains all of the words."""
    warnings.simplefilter("ignore")
    wanted = [word for word in words if word]
    with threadpool_limits(1):
        for shape in [name for name in SHAPES if name in wanted] or list(SHAPES):
            table = Table(shape, *SHAPES[shape])
            single = ((name, call, LIMIT) for name, call in solver_cases(table))
            several = ((name, call, MANY * LIMIT) for name, call in many_cases(table))
            for name, call, limit in chain(single, several):
                if not all(word in name.split() for word in wanted):
                    continue
                if (found := measure(call, limit)) is None:
                    continue
                seconds, ended = found
                over = max(seconds - limit, 0.0)
                row = {"case": name, "limit": f"{limit:g}", "seconds": f"{seconds:.2f}"}
                row |= {"over": f"{over:.2f}", "kept": "yes" if over <= allowed(limit) else "no"}
                yield row | {"ended": ended}


if __name__ == "__main__":
    store.run(rows, ("case",), words=[""], wall=False)
