"""CPU time of this checkout beside another one, row by row: searches, grids and the suites.

    python -m benchmarks.against PYTHONPATH_OF_THE_OTHER searches [TEXT]
    python -m benchmarks.against PYTHONPATH_OF_THE_OTHER SUITE [TEXT]      foundation, small, ...

Both versions run in processes of their own, with one thread, under the benchmark code of this
checkout, and take turns; the smallest CPU time of each counts, because other programs only ever
add time. Rows are written to ``results/searches.csv`` or ``results/against_0_1_0.csv``, those of
other runs stay; the summary is printed.
"""

from __future__ import annotations

import csv
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .process import ROOT, THREAD_VARIABLES
from .runner import RESULTS

_SECONDS = 0.5  # spent on a row by each version, as long as it has had
_FEWEST = 3  # turns; at most
_MOST = 40
_SHORT = 0.02  # a turn repeats what takes less than this many seconds


class Worker:
    """Prepares a row and times it, in a process that imports one version."""

    call: Callable[[], Any]
    prepare: Callable[[], Any] = staticmethod(lambda: None)  # before each call, not timed

    def search(self, function: str, arguments: list[Any]) -> None:
        """Prepare a row of ``measures``: a search, or a default grid."""
        from . import estimator_measures as measures

        self.prepare = lambda: None
        if function == "search_cost":
            kind, loss, penalty, n, d = arguments
            X, y = measures._data(kind, n, d)
            model, _, _ = measures._searching(kind, loss, penalty)
            self.call = lambda: model.fit(X, y)
            return
        import rectiline as rl
        from rectiline.paths import default_strengths

        X, y, loss = measures.grid_problem(*arguments)
        self.call = lambda: default_strengths(rl.Problem(X, y, loss, rl.penalties.L1(1.0)))

    def suite(self, suite: str, case: str) -> None:
        """Prepare a race of a suite: our solver alone, at its tightest target."""
        from . import suites
        from .build import build
        from .rivals import get

        chosen = next(one for one in suites.cases(suite) if one.name == case)
        objective, _ = build(chosen)
        rival = get(chosen.ours)
        rival.capped = False
        # A new problem for each call: 0.1.0 remembers products, so that it would certify the same
        # answer a second time without a look at X.
        self.prepare = lambda: rival.prepare(objective)
        self.call = lambda: rival.solve(min(chosen.targets), chosen.time_limit)

    def time(self) -> float:
        """Return the CPU seconds of one call, the least of several where it is short."""
        least, began = float("inf"), time.process_time()
        gc.collect()
        gc.disable()
        while True:
            self.prepare()
            before = time.process_time()
            self.call()
            after = time.process_time()
            least = min(least, after - before)
            if after - began > _SHORT:
                break
        gc.enable()
        return least


class _Version:
    """A process with one version in it."""

    def __init__(self, path: str) -> None:
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONPATH": path}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.against"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *command: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a worker has ended")
        reply = json.loads(line)
        if "error" in reply:
            raise ArithmeticError(reply["error"])
        return reply["value"]


def _work() -> None:
    """Answer commands until stdin closes."""
    protocol = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            reply = {"value": getattr(worker, name)(*arguments)}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        protocol.write(json.dumps(reply) + "\n")


def _rows(what: str, text: str) -> list[tuple[str, tuple[Any, ...]]]:
    """Return labels of rows and the commands that prepare them."""
    from . import suites
    from .measures import MEASURES

    if what != "searches":
        found = [(one.name, ("suite", what, one.name)) for one in suites.cases(what)]
    else:
        functions = {"search_cost": "", "grid_cost": "grid: "}
        found = [
            (
                functions[one.function] + one.name.rpartition(": ")[2],
                ("search", one.function, list(one.arguments)),
            )
            for one in MEASURES
            if one.function in functions
        ]
    return [(label, command) for label, command in found if text in label]


def _compare(versions: tuple[_Version, _Version], command: tuple[Any, ...]) -> tuple[float, float]:
    """Return the smallest CPU time of each version, taken in turn."""
    for one in versions:
        one.ask(*command)
        one.ask("time")  # imports, caches
    least = [float("inf"), float("inf")]
    began = time.perf_counter()
    for turn in range(_MOST):
        for place, one in enumerate(versions):
            least[place] = min(least[place], one.ask("time"))
        if turn + 1 >= _FEWEST and time.perf_counter() - began > 2 * _SECONDS:
            break
    return least[0], least[1]


def _keep(path: Path, suite: str, label: str, before: float, after: float) -> None:
    header = ["suite", "row", "seconds_0_1_0", "seconds", "ratio"]
    rows = {}
    if path.exists():
        with path.open(newline="") as file:
            rows = {(row[0], row[1]): row for row in list(csv.reader(file))[1:]}
    found = [suite, label, f"{before:.6f}", f"{after:.6f}", f"{after / before:.3f}"]
    rows[suite, label] = found
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows.values()])


def main(path: str, what: str, text: str = "") -> None:
    """Measure, keep and print."""
    versions = _Version(path), _Version(str(ROOT / "src"))
    kept = RESULTS / ("searches.csv" if what == "searches" else "against_0_1_0.csv")
    ratios = []
    for label, command in _rows(what, text):
        try:
            before, after = _compare(versions, command)
        except ArithmeticError as error:
            print(f"   -    {label}: {error}", flush=True)
            continue
        _keep(kept, what, label, before, after)
        ratios.append(after / before)
        print(
            f"{ratios[-1]:6.2f}  {1e3 * before:10.2f} {1e3 * after:10.2f} ms  {label}", flush=True
        )
    ratios.sort()
    if ratios:
        median = ratios[len(ratios) // 2]
        print(f"{len(ratios)} rows, median {median:.2f}, worst {ratios[-1]:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 else _work()
