"""What ``measures.py`` asks for: each function returns a value and what else is worth keeping."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_REPEATS = 9  # of searches and of cold fits: other programs only ever add time


def _table(name: str) -> tuple[Any, Any, Any, Any]:
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


def first_call(name: str) -> dict[str, Any]:
    """Seconds of the first fit of a process; a warning or an uncertified answer is an error."""
    X, y, model, _ = _table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
    states = {model.status_} if isinstance(model.status_, str) else set(model.status_)
    if states != {"solved"}:
        raise RuntimeError(f"not solved: {states}")
    return {"value": seconds}


def overhead(name: str, repeats: int = 101) -> dict[str, Any]:
    """Milliseconds of CPU time of a fit beyond making and solving its problems."""
    import rectiline as rl

    X, y, model, make = _table(name)
    fits, solves = [], []
    for _ in range(repeats):
        fits.append(_cpu(lambda: model.fit(X, y)))
        solves.append(_cpu(lambda: [rl.solve(problem) for problem in make()]))
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
    seconds = _cpu(lambda: QuantileRegressor(alpha=0.01).fit(X, y))
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

    X, y = _data(kind, n, d)
    search, plain, labels = _searching(kind, loss, penalty)
    order = np.argsort(y, kind="stable")
    few = order[:: max(1, len(y) // 200)]
    few = np.unique(np.concatenate([order[:50], few, order[-50:]]))  # all classes, however rare
    search.fit(X[few], y[few])  # imports
    total = min(_cpu(lambda: search.fit(X, y)) for _ in range(_REPEATS))
    paths = search.path_ if isinstance(search.path_, tuple) else (search.path_,)
    grid = search.alphas_ if loss == "quantile" else search.Cs_
    cold, along = 0.0, []
    for train, _ in check_cv(5, y, classifier=labels).split(X, y):
        part, targets = X[train], y[train]
        for strength in [grid[-1], *(grid[::5] if not along else ())]:
            model = plain(strength)
            fit = lambda m=model, a=part, b=targets: m.fit(a, b)  # noqa: E731
            along.append(min(_cpu(fit) for _ in range(_REPEATS)))
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
        X, y = _data("residual", *arguments)
        return X, np.where(y > np.quantile(y, 0.75), 1, -1), rl.losses.Hinge()
    X, y = _data(arguments[0], 0, 0)
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
    made = min(_cpu(lambda: default_strengths(problem(1.0))) for _ in range(_REPEATS))
    fit = min(_cpu(lambda: rl.solve(problem(float(grid[-1])))) for _ in range(_REPEATS))
    return {"value": made / fit, "grid_cpu_seconds": made, "fit_cpu_seconds": fit}


def _searching(kind: str, loss: str, penalty: str) -> tuple[Any, Callable[[float], Any], bool]:
    """Return a CV estimator, the plain one at a strength, and whether they take labels."""
    from rectiline import estimators as face

    if loss == "quantile":
        ratio = {"l1": 1.0, "l2": 0.0}[penalty]
        search = face.QuantileRegressorCV(quantile=0.7, l1_ratios=[ratio])
        plain = lambda alpha: face.QuantileRegressor(  # noqa: E731
            quantile=0.7, alpha=alpha, l1_ratio=ratio
        )
        return search, plain, False
    labels = kind.split(":")[0] not in ("residual", "diabetes")
    one, many = (
        (face.PLQClassifier, face.PLQClassifierCV)
        if labels
        else (face.PLQRegressor, face.PLQRegressorCV)
    )
    return many(loss=loss, penalty=penalty), lambda C: one(loss, penalty=penalty, C=C), labels


def _data(kind: str, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    from .datasets._real import load
    from .datasets._synthetic import linear_model

    if kind in ("margin", "residual"):
        return linear_model("good", n, d, kind, seed=3)
    if kind in ("breast_cancer", "wine", "diabetes"):
        X, y, _, _ = _table(kind)
        return X, y
    kind, name = kind.split(":")  # a real table, raw
    X, y, _, _ = load(name, kind, "y", 3)
    return (X.toarray() if hasattr(X, "toarray") else X), y


def _cpu(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


if __name__ == "__main__":
    name, arguments = json.loads(sys.argv[1])
    print(json.dumps(globals()[name](*arguments)))
