"""Microseconds of `Problem`, `solve` and `fit` on tiny data: what the calls themselves cost.

    python -m benchmarks.tiny [PYTHONPATH_OF_ANOTHER_VERSION]

The smallest CPU time of many calls on fresh problems counts. With another version both are measured
in processes of their own, one after the other, row by row.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .process import ROOT, THREAD_VARIABLES

_SECONDS = 0.3  # spent on each number
_SIZES = ((235, 1), (50, 3), (200, 4), (100, 9))
_MODELS = ("pinball none", "pinball l2", "hinge l2", "huber l2", "squared_error l2", "pinball l1")
_COLUMNS = ("Problem", "solve", "polished", "fit")


def _least(prepare: Callable[[], Any], call: Callable[[Any], Any]) -> float:
    """Return the microseconds of the quickest call, each on what `prepare` returns."""
    least, ends = float("inf"), time.perf_counter() + _SECONDS
    while time.perf_counter() < ends:
        given = prepare()
        before = time.process_time_ns()
        call(given)
        least = min(least, (time.process_time_ns() - before) / 1e3)
    return least


def measure(n: int, d: int, model: str) -> list[float]:
    """Return the microseconds of the calls that `_COLUMNS` names."""
    import rectiline as rl

    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d)) if d > 1 else rng.lognormal(6.8, 0.5, (n, 1))
    z = X @ np.ones(d)
    y = z + 0.2 * z.std() * rng.standard_normal(n)
    loss, penalty = model.split()
    y = np.where(y > np.median(y), 1.0, -1.0) if loss == "hinge" else y
    charged = None if penalty == "none" else penalty
    kind = rl.PLQClassifier if loss == "hinge" else rl.PLQRegressor
    estimator = kind(loss=loss, penalty=charged)

    def problem(_: Any = None) -> Any:
        return rl.Problem(X, y, loss, penalty=charged)

    gc.disable()
    return [
        _least(lambda: None, problem),
        _least(problem, rl.solve),
        _least(problem, lambda one: rl.solve(one, polish=True)),
        _least(lambda: None, lambda _: estimator.fit(X, y)),
    ]


def _asked(path: str, *arguments: Any) -> list[float]:
    """Return what `measure` says in a process that imports the version at `path`."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.tiny", "measure"]
    command.append(json.dumps(arguments))
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return list(json.loads(ran.stdout.splitlines()[-1]))


def main(other: str | None = None) -> None:
    """Print the table, with the other version's microseconds before each of ours."""
    width = 13 if other else 9
    print(f"{'':26}" + "".join(f"{name:>{width}}" for name in _COLUMNS))
    for n, d in _SIZES:
        for model in _MODELS:
            versions = [str(ROOT / "src")] if other is None else [other, str(ROOT / "src")]
            found = zip(*(_asked(path, n, d, model) for path in versions), strict=True)
            shown = [" ".join(f"{one:5.0f}" for one in pair) for pair in found]
            print(f"{n} x {d} {model:18}" + "".join(f"{one:>{width}}" for one in shown), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(*json.loads(sys.argv[2]))))
    else:
        main(*sys.argv[1:])
