"""From result files to rows: our time and the best rival's, worst first; and kinds of problems."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from . import scoring, suites
from .runner import fastest
from .store import RESULTS

TARGET = 1e-6  # relative error at which suites are summarised
FACTOR = 1.5
HEADER = ("ratio", "case", "target", "ours s", "spread", "best rival", "its s", "b=0 off")
Record = dict[str, Any]


class Row:
    """One case at one target, against all rivals."""

    def __init__(self, record: Record, target: float) -> None:
        definition = record["definition"]
        self.record, self.target = record, target
        self.name = definition["solvers"][0]
        times = solver_times(record, target)
        self.ours = times.pop(self.name, math.inf)
        self.rivals = {name: time for name, time in times.items() if not is_ours(name)}
        self.rival = min(self.rivals, key=lambda name: self.rivals[name], default="none")
        self.theirs = self.rivals.get(self.rival, math.inf)

    @property
    def at_least(self) -> float | None:
        """Seconds after which rivals were stopped, where none of them reached the target."""
        return None if self.theirs < math.inf else _stopped_at(self.record, list(self.rivals))

    @property
    def ratio(self) -> float:
        """How many times faster we are; 0 when we fail, infinite when every rival fails.

        A rival that was stopped by the clock is only known to need longer than that.
        """
        theirs = self.at_least or self.theirs
        return 0.0 if self.ours == math.inf else theirs / self.ours

    def cells(self) -> tuple[str, ...]:
        """One line of a table as text."""
        record, bound = self.record, self.record["bound"]
        we_solve, they_solve = self.ours < math.inf, self.theirs < math.inf
        ratio = f"{self.ratio:.2f}x"
        if not we_solve:
            ratio = "not solved"
        elif not they_solve:
            ratio = "alone" if self.at_least is None else f">{self.ratio:.0f}x"
        case, origin = record["name"], record.get("origin", "unknown")
        runs = [run for entry in record["solvers"].values() for run in entry["runs"]]
        if any(scoring.contradicts(run, bound, record["best"]) for run in runs):
            case += " [bound contradicted]"
        if origin not in ("synthetic", "file", "scikit-learn"):
            case += f" [{origin}]"
        run = fastest(record["solvers"][self.name], self.target, bound, _measure(record))
        cpus = run["cpus"] if run else [1.0]
        others = ", ".join(_reached(record, name) for name in self.rivals)
        return (
            ratio,
            case,
            f"{self.target:.0e}",
            f"{self.ours:.4g}" if we_solve else _reached(record, self.name)[:60],
            f"{100 * (max(cpus) - min(cpus)) / median(cpus):.0f}%",
            self.rival if they_solve else others or "no rival can",
            f"{self.theirs:.4g}" if they_solve else "-",
            f"{scoring.relative(record.get('zero'), bound):.1e}",
        )


def load(paths: list[Path] | None = None, only: set[str] | None = None) -> list[Record]:
    """Result files, by default those of all suites; ``only`` names the cases to keep."""
    if paths is None:
        every = (RESULTS / f"{name}.json" for name in suites.NAMES)
        paths = [path for path in every if path.exists()]
    results = [json.loads(path.read_text()) for path in paths]
    for result in results:
        result["cases"] = [c for c in result["cases"] if only is None or c["name"] in only]
    return results


def rows(results: list[Record]) -> list[Row]:
    """Every case at every target, against all rivals; what we lose comes first."""
    found = [
        Row(record, target)
        for result in results
        for record in result["cases"]
        for target in record["definition"]["targets"]
    ]
    return sorted(found, key=lambda row: row.ratio)


def is_ours(name: str) -> bool:
    """Whether a solver is one of this library's."""
    return name.split(":")[0] == "rectiline"


def _measure(record: Record) -> str:
    return str(record["definition"]["measure"])


def solver_times(record: Record, target: float) -> dict[str, float]:
    """CPU seconds of each solver that reached the target; infinite for one that did not."""
    times = {}
    for name, entry in record["solvers"].items():
        if "skip" not in entry:
            run = fastest(entry, target, record["bound"], _measure(record))
            times[name] = median(run["cpus"]) if run else math.inf
    return times


def _stopped_at(record: Record, names: list[str]) -> float | None:
    """The time limit, if one of these solvers was stopped by it."""
    limits = []
    for name in names:
        entry = record["solvers"][name]
        limit = entry.get("limit", record["definition"]["time_limit"])
        for run in entry["runs"]:
            # One with a clock of its own stops itself, and looks at the clock on the wall.
            spent = max(*run.get("cpus", [0.0]), *run.get("walls", [0.0]))
            if run.get("timeout") or run.get("capped") or spent > 0.95 * limit:
                limits.append(limit)
    return min(limits, default=None)


def _reached(record: Record, name: str) -> str:
    """What a solver managed that did not reach the target: its best error, or what it said."""
    entry = record["solvers"][name]
    best, given = entry.get("reached"), _stopped_at(record, [name])
    if best is not None:
        return f"{name} gets to {best:.0e}" + ("" if given is None else f" in {given:.3g} s")
    errors = (run["error"] for run in entry["runs"] if "error" in run)
    return f"{name} {next(errors, entry.get('error', 'failed'))}"


def at_target(results: list[Record]) -> list[Record]:
    """The cases that are raced at `TARGET`, each with its suite and the times of its solvers."""
    return [
        {**record, "suite": result["suite"], "times": solver_times(record, TARGET)}
        for result in results
        for record in result["cases"]
        if TARGET in record["definition"]["targets"]
    ]


def shares(results: list[Record]) -> list[tuple[str, int, int, int, int]]:
    """Of each suite: its cases, and those we solve, within `FACTOR` of the fastest, as fastest."""
    counts: dict[str, list[int]] = {}
    for record in at_target(results):
        own = record["times"].get(record["definition"]["solvers"][0], math.inf)
        best, solved = min(record["times"].values()), math.isfinite(own)
        count = counts.setdefault(record["suite"], [0, 0, 0, 0])
        for place, holds in enumerate((True, solved, own <= FACTOR * best, own <= best)):
            count[place] += holds and (place == 0 or solved)
    return [(suite, *count) for suite, count in counts.items()]  # type: ignore[misc]


def print_table(results: list[Record], worst_last: bool = False) -> None:
    """Print the ratios, those we lose first (or last), then a line for each suite."""
    found = rows(results)
    table = [HEADER, *(row.cells() for row in (found[::-1] if worst_last else found))]
    widths = [max(len(line[k]) for line in table) for k in range(len(HEADER))]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    print()
    for suite, cases, solved, near, _ in shares(results):
        print(
            f"{suite} at {TARGET:.0e}: {solved} of {cases} cases solved, "
            f"{near} ({100 * near / cases:.1f} %) within {FACTOR:g}x of the fastest"
        )


# ---- kinds of problems: how we compare with each rival there

REGIME_HEADER = (
    "rival",
    "cases",
    "it solves",
    "we solve",
    "smallest ratio",
    "median ratio",
    "largest",
)
_MARGIN = ("hinge", "squared_hinge", "smoothed_hinge")
_SMALL = 20_000  # entries of X


def _plain(record: Record) -> bool:
    definition = record["definition"]
    return bool(definition["l1"] == 0 and definition["fairness"] is None)


def _sparse(record: Record) -> bool:
    data = record["definition"]["data"]
    return record["suite"] == "sparse_data" or data["form"] == "csr" or "tfidf" in data["name"]


# The first that fits counts.
REGIMES: dict[str, tuple[str, Callable[[Record], bool]]] = {
    "sparsity": (
        "L1, group and Slope penalties",
        lambda r: bool(r["definition"]["l1"] > 0 and r["definition"]["l2"] == 0),
    ),
    "constraints": ("Fairness constraints", lambda r: r["definition"]["fairness"] is not None),
    "small": (
        "Small problems (up to 20,000 entries)",
        lambda r: _plain(r) and r["n"] * r["d"] <= _SMALL,
    ),
    "sparse": ("Sparse data", lambda r: _plain(r) and _sparse(r)),
    "classification": (
        "Support vector machines, dense",
        lambda r: r["definition"]["loss"] in _MARGIN,
    ),
    "quantiles": ("Quantile regression", lambda r: r["definition"]["loss"] == "pinball"),
    "robust": ("Huber and epsilon-insensitive regression", lambda r: True),
}


def by_regime(results: list[Record]) -> dict[str, list[Record]]:
    """Return the cases of each regime that are raced at the common target."""
    found: dict[str, list[Record]] = {name: [] for name in REGIMES}
    for record in at_target(results):
        found[next(name for name, (_, fits) in REGIMES.items() if fits(record))].append(record)
    return {name: cases for name, cases in found.items() if cases}


def ratios(cases: list[Record]) -> dict[str, list[float]]:
    """Return each rival's time over ours, one for each case it takes; infinite where it fails.

    Zero where we fail and it does not. Cases that neither solves are left out.
    """
    found: dict[str, list[float]] = {}
    for record in cases:
        ours = record["times"].get(record["definition"]["solvers"][0], math.inf)
        for name, time in record["times"].items():
            if not is_ours(name) and math.isfinite(min(time, ours)):
                found.setdefault(name, []).append(time / ours)
    return found


def regime_table(cases: list[Record]) -> list[tuple[str, ...]]:
    """Return one line for each rival, the one that beats us most first."""
    lines = []
    for name, values in ratios(cases).items():
        solved = sum(math.isfinite(value) for value in values)
        ours = sum(value > 0 for value in values)
        ends = (min(values), median(values), max(values))
        numbers = (str(len(values)), str(solved), str(ours), *map(_shown, ends))
        lines.append((ends[0], (name, *numbers)))
    return [line for _, line in sorted(lines)]


def _shown(ratio: float) -> str:
    return "not solved" if ratio == math.inf else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"
