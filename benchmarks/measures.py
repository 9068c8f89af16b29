"""What is not a race: one number each, measured in a process of its own.

    python -m benchmarks.measures [--filter TEXT]

Rows go to ``results/measures.csv``: searches and default grids over single fits, the overhead of an
estimator, the memory of a fit.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import machine, tables
from .process import ROOT, THREAD_VARIABLES, interpreter

REPEATS = 9  # of searches and of cold fits: other programs only ever add time


@dataclass(frozen=True)
class Measure:
    """A function of this module with its arguments, and the most it should return."""

    name: str
    function: str
    arguments: tuple[Any, ...]
    unit: str
    at_most: float


OVER = "fit above rl.solve, CPU time"
COST = "CV of 5 folds x 30 strengths over one cold fit per fold at the weakest strength"
GRID = "default grid of hinge L1, a quarter of the labels positive, over a fit at its weakest"
REAL_GRID = "default grid under L1, raw columns, over a fit at its weakest"
TABLES = ("breast_cancer", "diabetes", "wine")
GRIDS = (
    ("margin", "spf"),
    ("margin", "creditcard_subset14240"),
    ("margin", "connect4"),
    ("residual", "pol"),
    ("residual", "winequality_white"),
)
SEARCHED = (
    ("margin", "colon", "hinge", "l2"),
    ("margin", "glioma", "squared_hinge", "l2"),
    ("margin", "leukemia_allaml", "hinge", "l2"),
    ("margin", "leukemia_allaml", "hinge", "l1"),
    ("margin", "spf", "hinge", "l2"),
    ("margin", "spf", "hinge", "l1"),
    ("margin", "creditcard_subset14240", "hinge", "l2"),
    ("margin", "jasmine", "squared_hinge", "l2"),
    ("residual", "abalone", "absolute", "l1"),
    ("residual", "bike_sharing", "absolute", "l2"),
    ("residual", "cal_housing", "huber", "l2"),
    ("residual", "house_8L", "absolute", "l2"),
    ("residual", "communities_crime", "huber", "l2"),
    ("residual", "diamonds", "absolute", "l2"),
)
MEASURES = (
    *(Measure(f"{OVER}: {table}", "overhead", (table,), "ms", 2.0) for table in TABLES),
    Measure(
        "QuantileRegressor 1,000,000 x 20: memory beyond X, in sizes of X",
        "memory",
        (1_000_000, 20),
        "X",
        3.0,
    ),
    *(
        Measure(f"{COST}: {label}", "search_cost", arguments, "cold fits", 3.0)
        for label, arguments in {
            "breast_cancer hinge l2": ("breast_cancer", "hinge", "l2", 0, 0),
            "breast_cancer hinge l1": ("breast_cancer", "hinge", "l1", 0, 0),
            "wine hinge l2, three classes": ("wine", "hinge", "l2", 0, 0),
            "diabetes huber l2": ("diabetes", "huber", "l2", 0, 0),
            "diabetes quantile l1": ("diabetes", "quantile", "l1", 0, 0),
            "20000x50 hinge l2": ("margin", "hinge", "l2", 20_000, 50),
            "20000x50 pinball l2": ("residual", "pinball", "l2", 20_000, 50),
            "20000x50 huber l2": ("residual", "huber", "l2", 20_000, 50),
            "2000x200 hinge l1": ("margin", "hinge", "l1", 2_000, 200),
            "2000x50 quantile l1": ("residual", "quantile", "l1", 2_000, 50),
            "5000x50 quantile l2": ("residual", "quantile", "l2", 5_000, 50),
            "5000x100 pinball elasticnet": ("residual", "pinball", "elasticnet", 5_000, 100),
            "3000x200 hinge l2": ("margin", "hinge", "l2", 3_000, 200),
            # Cold fits look at few of these rows.
            "50000x10 hinge l2": ("margin", "hinge", "l2", 50_000, 10),
            "50000x10 huber l2": ("residual", "huber", "l2", 50_000, 10),
            "200000x20 hinge l2": ("margin", "hinge", "l2", 200_000, 20),
            "200000x20 huber l2": ("residual", "huber", "l2", 200_000, 20),
            **{
                f"{name} raw, {loss} {penalty}": (f"{kind}:{name}", loss, penalty, 0, 0)
                for kind, name, loss, penalty in SEARCHED
            },
        }.items()
    ),
    *(
        Measure(f"{GRID}: {n}x{d}", "grid_cost", (n, d), "fits", 10.0)
        for n, d in ((20_000, 50), (3_000, 200), (50_000, 10))
    ),
    *(
        Measure(
            f"{REAL_GRID}: {'hinge' if kind == 'margin' else 'absolute'}, {name}",
            "grid_cost",
            (f"{kind}:{name}",),
            "fits",
            10.0,
        )
        for kind, name in GRIDS
    ),
)


def table(name: str) -> tuple[Any, Any, Any, Any]:
    """Return X, y, the default estimator and the problem that it solves."""
    import sklearn.datasets

    import rectiline as rl
    from rectiline.estimators import PLQClassifier, PLQRegressor

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    if name == "diabetes":
        return (
            X,
            y,
            PLQRegressor(rl.losses.Huber(), C=1.0),
            lambda: [rl.Problem(X, y, rl.losses.Huber())],
        )
    targets = [y] if np.unique(y).size == 2 else [y == label for label in np.unique(y)]
    make = lambda: [rl.Problem(X, one, rl.losses.Hinge()) for one in targets]  # noqa: E731
    return X, y, PLQClassifier(), make


def overhead(name: str, repeats: int = 101) -> dict[str, Any]:
    """Milliseconds of CPU time of a fit beyond making and solving its problems."""
    import rectiline as rl

    X, y, model, make = table(name)
    fits, solves = [], []
    for _ in range(repeats):
        fits.append(cpu_seconds(lambda: model.fit(X, y)))
        solves.append(cpu_seconds(lambda: [rl.solve(problem) for problem in make()]))
    fit, solve = min(fits), min(solves)  # other programs only ever add time
    return {"value": 1e3 * (fit - solve), "fit_ms": 1e3 * fit, "solve_ms": 1e3 * solve}


def memory(n: int, d: int) -> dict[str, Any]:
    """Peak memory of a fit beyond what was there before, in sizes of X."""
    from rectiline.estimators import QuantileRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + rng.standard_t(3, n)
    QuantileRegressor(alpha=0.01).fit(X[:1000], y[:1000])  # imports
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * resource.getpagesize()
    seconds = cpu_seconds(lambda: QuantileRegressor(alpha=0.01).fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"value": max(peak - before, 0) / X.nbytes, "cpu_seconds": seconds}


def search_cost(kind: str, loss: str, penalty: str, n: int, d: int) -> dict[str, Any]:
    """CPU time of a search over that of one cold fit per fold at the weakest strength.

    The search is ``fit`` of a CV estimator with 30 strengths and 5 folds as a user meets it: grid,
    folds, scores, the path on all the data and the fit with the chosen strength. A cold fit is
    ``fit`` of the plain estimator on the training part of a fold. Kept besides: the same over the
    median of cold fits along the grid, and without the path on all the data.
    """
    from sklearn.model_selection import check_cv

    X, y = data(kind, n, d)
    search, plain, labels = searching(kind, loss, penalty)
    order = np.argsort(y, kind="stable")
    few = order[:: max(1, len(y) // 200)]
    few = np.unique(np.concatenate([order[:50], few, order[-50:]]))  # all classes, however rare
    search.fit(X[few], y[few])  # imports
    total = min(cpu_seconds(lambda: search.fit(X, y)) for _ in range(REPEATS))
    paths = search.path_ if isinstance(search.path_, tuple) else (search.path_,)
    grid = search.alphas_ if loss == "quantile" else search.Cs_
    cold, along = 0.0, []
    for train, _ in check_cv(5, y, classifier=labels).split(X, y):
        part, targets = X[train], y[train]
        for strength in [grid[-1], *(grid[::5] if not along else ())]:
            model = plain(strength)
            fit = lambda m=model, a=part, b=targets: m.fit(a, b)  # noqa: E731
            along.append(min(cpu_seconds(fit) for _ in range(REPEATS)))
            cold += along[-1] if strength == grid[-1] else 0.0
    return {
        "value": total / cold,
        "over_median_fit": total / (5 * float(np.median(along[1:7]))),
        "without_path_on_all": (total - sum(one.seconds for one in paths)) / cold,
        "search_cpu_seconds": total,
        "cold_cpu_seconds": cold,
    }


def grid_problem(*arguments: Any) -> tuple[Any, Any, Any]:
    """Return X, y and the loss of a row about default grids: its size, or its table."""
    import rectiline as rl

    if len(arguments) == 2:
        X, y = data("residual", *arguments)
        return X, np.where(y > np.quantile(y, 0.75), 1, -1), rl.losses.Hinge()
    X, y = data(arguments[0], 0, 0)
    is_margin = arguments[0].startswith("margin")
    return X, y, rl.losses.Hinge() if is_margin else rl.losses.Absolute()


def grid_cost(*arguments: Any) -> dict[str, Any]:
    """CPU time of the default grid, largest strength included, over that of one fit."""
    import rectiline as rl
    from rectiline.paths import default_strengths

    X, y, loss = grid_problem(*arguments)

    def problem(strength: float) -> Any:
        return rl.Problem(X, y, loss, rl.penalties.L1(strength))

    grid = default_strengths(problem(1.0))
    made = min(cpu_seconds(lambda: default_strengths(problem(1.0))) for _ in range(REPEATS))
    fit = min(cpu_seconds(lambda: rl.solve(problem(float(grid[-1])))) for _ in range(REPEATS))
    return {"value": made / fit, "grid_cpu_seconds": made, "fit_cpu_seconds": fit}


def searching(kind: str, loss: str, penalty: str) -> tuple[Any, Callable[[float], Any], bool]:
    """Return a CV estimator, the plain one at a strength, and whether they take labels."""
    from rectiline import estimators as face
    from rectiline.losses import Pinball

    if loss == "quantile":
        ratio = {"l1": 1.0, "l2": 0.0}[penalty]
        search = face.QuantileRegressorCV(quantile=0.7, l1_ratios=[ratio])
        plain = lambda alpha: face.QuantileRegressor(  # noqa: E731
            quantile=0.7, alpha=alpha, l1_ratio=ratio
        )
        return search, plain, False
    named = Pinball(0.5) if loss == "pinball" else loss
    labels = kind.split(":")[0] not in ("residual", "diabetes")
    one, many = (
        (face.PLQClassifier, face.PLQClassifierCV)
        if labels
        else (face.PLQRegressor, face.PLQRegressorCV)
    )
    return many(loss=named, penalty=penalty), lambda C: one(named, penalty=penalty, C=C), labels


def data(kind: str, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    from .datasets._real import load
    from .datasets._synthetic import linear_model

    if kind in ("margin", "residual"):
        return linear_model("good", n, d, kind, seed=3)
    if kind in ("breast_cancer", "wine", "diabetes"):
        X, y, _, _ = table(kind)
        return X, y
    kind, name = kind.split(":")  # a real table, raw
    X, y, _, _ = load(name, kind, "y", 3)
    return (X.toarray() if hasattr(X, "toarray") else X), y


def cpu_seconds(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def run(measure: Measure) -> dict[str, Any]:
    """Measure in a fresh process with one thread."""
    call = json.dumps([measure.function, list(measure.arguments)])
    done = subprocess.run(
        [interpreter(), "-m", "benchmarks.measures", "--one", call],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{measure.name}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows(filter: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each measure whose name contains the text."""
    about = machine.describe()
    for measure in MEASURES:
        if filter in measure.name:
            shown = f"{run(measure)['value']:.3g}"
            row = {"what": measure.name, "measured": shown, "at_most": measure.at_most}
            yield row | {"unit": measure.unit, "cpu": about["cpu"], "revision": about["revision"]}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        name, arguments = json.loads(sys.argv[2])
        print(json.dumps(globals()[name](*arguments)))
    else:
        tables.run(rows, ("what",), filter="")
