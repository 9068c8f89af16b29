"""CPU time of this checkout beside another version, row by row: suites, searches and grids.

    python -m benchmarks.against BASE                     all suites and searches, an hour
    python -m benchmarks.against BASE --quick             a few rows of each, some minutes
    python -m benchmarks.against BASE small searches --filter hinge

BASE is a wheel, a folder that holds the package ``rectiline``, or a commit or tag of this
repository, which is built into a wheel first. Both versions run in processes of their own, with one
thread, under the benchmark code of this checkout, and take turns; the smallest CPU time of each
counts, because other programs only ever add time. Rows go to ``results/against.csv``, those of
other runs stay; a summary of each suite is printed.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .process import ROOT, Process, serve
from .store import write_table

SECONDS_PER_ROW = 0.5  # that each version may spend, once it has had its fewest turns
SECONDS_PER_ROW_QUICK = 0.1
FEWEST_TURNS, MOST_TURNS = 3, 40
SECONDS_PER_TURN = 0.02  # a turn repeats what takes less
ENTRIES_IN_QUICK_ROWS = 3_000_000  # of X; larger rows are left to the full run
ROWS_PER_SUITE_IN_QUICK = 8
SEARCHES = "searches"


class Worker:
    """Prepares a row and times it, in a process that imports one version."""

    call: Callable[[], Any]
    prepare: Callable[[], Any] = staticmethod(lambda: None)  # before each call, not timed

    def search(self, function: str, arguments: list[Any]) -> dict[str, Any]:
        """Prepare a row of ``measures``: a search, or a default grid."""
        from . import measures

        self.prepare = lambda: None
        self.call = getattr(measures, f"{function}_call")(*arguments)
        return {}

    def suite(self, suite: str, case: str) -> dict[str, Any]:
        """Prepare a race of a suite: our solver alone, at its tightest target."""
        from . import suites
        from .objective import build
        from .rivals import get

        chosen = next(one for one in suites.cases(suite) if one.name == case)
        objective, _ = build(chosen)
        rival = get(chosen.ours)
        # A new problem for each call: a version may remember products with X.
        self.prepare = lambda: rival.prepare(objective)
        self.call = lambda: rival.solve(min(chosen.targets), chosen.time_limit)
        return {}

    def time(self) -> dict[str, float]:
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
            if after - began > SECONDS_PER_TURN:
                break
        gc.enable()
        return {"seconds": least}


class Version(Process):
    """A process with one version in it."""

    def __init__(self, path: str) -> None:
        super().__init__("benchmarks.against", sys.executable, path)

    def seconds(self, command: dict[str, Any] | None = None) -> float:
        """Return the CPU seconds of one call of the row, which a command prepares first."""
        reply = self.ask(**command) if command else {}
        reply = reply if "error" in reply else self.ask("time", 86_400.0)
        if "error" in reply:
            raise ArithmeticError(reply["error"])
        return float(reply["seconds"])


def unpacked(base: str, folder: str) -> str:
    """Return a path to import the other version from; a commit is built into a wheel."""
    if Path(base).is_dir():
        return str(Path(base).resolve())
    if not base.endswith(".whl"):
        source = Path(folder) / "source"
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "-q", "--detach", source, base], check=True)
        try:
            build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, source]
            subprocess.run(build, check=True)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", source], check=True)
        base = str(next(Path(folder).glob("rectiline-*.whl")))
    with zipfile.ZipFile(base) as wheel:
        wheel.extractall(Path(folder) / "package")
    return str(Path(folder) / "package")


def entries(data: Any) -> float:
    """Return the number of entries of a table, as far as it is known without loading it."""
    from .datasets import KNOWN

    if data.source != "real":
        return float(data.n * data.d)
    known = KNOWN.get(data.name)
    return float("inf") if known is None else known.n * known.d * known.density


def rows_of(what: str, text: str, quick: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return labels of rows and the commands that prepare them."""
    from . import suites
    from .measures import MEASURES

    if what == SEARCHES:
        kinds = {"search_cost": "", "grid_cost": "grid: "}
        found = [
            (
                kinds[one.function] + one.name.rpartition(": ")[2],
                {"do": "search", "function": one.function, "arguments": one.arguments},
            )
            for one in MEASURES
            if one.function in kinds and not (quick and "raw" in one.name)
        ]
    else:
        found = [
            (one.name, {"do": "suite", "suite": what, "case": one.name})
            for one in suites.cases(what)
            if not quick or entries(one.data) <= ENTRIES_IN_QUICK_ROWS
        ]
    found = [(label, command) for label, command in found if text in label]
    step = max(1, -(-len(found) // ROWS_PER_SUITE_IN_QUICK)) if quick else 1
    return found[::step]


def compare(
    versions: tuple[Version, Version], command: dict[str, Any], seconds: float
) -> tuple[float, float]:
    """Return the smallest CPU time of each version, taken in turn."""
    for one in versions:
        one.seconds(command)  # imports, caches
    least = [float("inf"), float("inf")]
    began = time.perf_counter()
    for turn in range(MOST_TURNS):
        for place, one in enumerate(versions):
            least[place] = min(least[place], one.seconds())
        if turn + 1 >= FEWEST_TURNS and time.perf_counter() - began > 2 * seconds:
            break
    return least[0], least[1]


def summary(name: str, ratios: list[float]) -> str:
    """Return the median, the 90 % and the worst of some ratios in words."""
    ordered = sorted(ratios)
    most = ordered[max(0, -(-9 * len(ordered) // 10) - 1)]
    return (
        f"{name}: {len(ordered)} rows, median {ordered[len(ordered) // 2]:.3f}, "
        f"90 % at most {most:.3f}, worst {ordered[-1]:.3f}"
    )


def main(arguments: list[str]) -> None:
    """Measure, keep and print."""
    from . import suites

    every = [*suites.NAMES, SEARCHES]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", help="a wheel, a folder with the package, a commit or a tag")
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(every)}; all by default")
    parser.add_argument("--filter", default="", help="only rows whose label contains this")
    parser.add_argument("--quick", action="store_true", help="a few small rows of each suite")
    parser.add_argument("--guard", type=float, help="fail if the median of all rows is above this")
    given = parser.parse_args(arguments)
    unknown = set(given.suites) - set(every)
    if unknown:
        parser.error(f"unknown suite {min(unknown)!r}; there are {', '.join(every)}")
    found: dict[str, list[float]] = {}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        versions = Version(unpacked(given.base, folder)), Version(str(ROOT / "src"))
        for suite in given.suites or every:
            for label, command in rows_of(suite, given.filter, given.quick):
                try:
                    seconds = SECONDS_PER_ROW_QUICK if given.quick else SECONDS_PER_ROW
                    before, after = compare(versions, command, seconds)
                except ArithmeticError as error:
                    print(f"   -    {suite} {label}: {error}", flush=True)
                    failed += 1
                    continue
                ratio = after / before
                found.setdefault(suite, []).append(ratio)
                times = f"{ratio:6.2f} {1e3 * before:10.2f} {1e3 * after:10.2f} ms"
                print(f"{times}  {suite} {label}", flush=True)
                row = {"before": f"{before:.6f}", "after": f"{after:.6f}", "ratio": f"{ratio:.3f}"}
                if not given.quick:
                    write_table(
                        "against", [{"suite": suite, "row": label, **row}], ("suite", "row")
                    )
    for suite, ratios in found.items():
        print(summary(suite, ratios))
    if failed:
        print(f"{failed} rows could not be measured")
    every_ratio = sorted(ratio for ratios in found.values() for ratio in ratios)
    if every_ratio:
        print(summary("all", every_ratio))
        if given.guard is not None and every_ratio[len(every_ratio) // 2] > given.guard:
            raise SystemExit(f"slower than {given.base}: the median is above {given.guard:g}")


if __name__ == "__main__":
    main(sys.argv[1:]) if len(sys.argv) > 1 else serve(Worker())
