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


def _table(name: str) -> tuple[Any, Any, Any, Any]:
    """Return X, y, the default estimator and the problem that it solves."""
    import sklearn.datasets

    import rectiline as rl
    from rectiline.estimators import PLQClassifier, PLQRegressor

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    if name == "diabetes":
        return X, y, PLQRegressor(), lambda: [rl.Problem(X, y, rl.losses.Huber())]
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
    """CPU time of the folds' paths over that of one cold fit per fold at the weakest strength.

    The search is timed as a user meets it, scoring included; the last path, on all the data, is
    taken off by its own clock. A cold fit is ``fit`` of the plain estimator on the training part.
    """
    from sklearn.model_selection import check_cv

    from rectiline.estimators import PLQClassifier, PLQClassifierCV, PLQRegressor, PLQRegressorCV

    X, y = _data(kind, n, d)
    margin = kind != "residual"
    plain, searching = (
        (PLQClassifier, PLQClassifierCV) if margin else (PLQRegressor, PLQRegressorCV)
    )
    search = searching(loss=loss, penalty=penalty)
    search.fit(X[:: max(1, len(y) // 200)], y[:: max(1, len(y) // 200)])  # imports
    total = _cpu(lambda: search.fit(X, y))
    folds_only = total - search.path_.seconds
    cold = 0.0
    for train, _ in check_cv(5, y, classifier=margin).split(X, y):
        part, targets = X[train], y[train]
        model = plain(loss, penalty=penalty, C=search.Cs_[-1])
        cold += min(_cpu(lambda m=model, a=part, b=targets: m.fit(a, b)) for _ in range(3))
    return {
        "value": folds_only / cold,
        "with_last_path": total / cold,
        "search_cpu_seconds": total,
        "cold_cpu_seconds": cold,
    }


def _data(kind: str, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    from .datasets._synthetic import linear_model

    if kind in ("margin", "residual"):
        return linear_model("good", n, d, kind, seed=3)
    X, y, _, _ = _table(kind)
    return X, y


def _cpu(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


if __name__ == "__main__":
    name, arguments = json.loads(sys.argv[1])
    print(json.dumps(globals()[name](*arguments)))
