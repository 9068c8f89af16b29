"""From results to rows: our time, the best rival's, the promise. Worst first when sorted."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import judge, suites
from .runner import RESULTS, fastest, median


@dataclass(frozen=True)
class Row:
    """One case at one target: our time, the best rival's, and the promise if there is one."""

    suite: str
    case: str
    target: float
    ours: float | None
    spread: float
    rival: str
    theirs: float | None
    at_least: float | None
    rivals_reached: str
    ours_reached: str
    need: float | None
    limit: float | None
    zero: float
    origin: str
    honest: bool

    @property
    def ratio(self) -> float:
        """How many times faster we are; 0 when we fail, infinite when every rival fails.

        A rival that was stopped by the clock has proved only that it needs longer than that.
        """
        if self.ours is None:
            return 0.0
        theirs = self.at_least if self.theirs is None else self.theirs
        return math.inf if theirs is None else theirs / self.ours

    @property
    def kept(self) -> bool | None:
        """Whether the promise is kept; ``None`` without a promise."""
        if self.limit is not None and (self.ours is None or self.ours > self.limit):
            return False
        if self.need is None:
            return None if self.limit is None else True
        return self.ratio >= self.need

    @property
    def badness(self) -> tuple[int, float, float]:
        """Sort key, worst first: not solved, slower than a rival, broken promises, the rest."""
        group = 0 if self.ours is None else 1 if self.ratio < 1 else 2 if self.kept is False else 3
        return (group, self.ratio, -(self.need or 0.0))


def load(paths: list[Path] | None = None, only: set[str] | None = None) -> list[dict[str, Any]]:
    """Result files, by default those of all suites; ``only`` names the cases to keep."""
    if paths is None:
        every = (RESULTS / f"{name}.json" for name in suites.NAMES)
        paths = [path for path in every if path.exists()]
    results = [json.loads(path.read_text()) for path in paths]
    for result in results:
        result["cases"] = [c for c in result["cases"] if only is None or c["name"] in only]
    return results


def rows(results: list[dict[str, Any]], clock: str = "cpu") -> list[Row]:
    """Every case at every target against each promise, or against all rivals if it has none."""
    return [
        row
        for result in results
        for record in result["cases"]
        for row in _rows_of(result["suite"], record, clock)
    ]


def _rows_of(suite: str, record: dict[str, Any], clock: str) -> list[Row]:
    definition = record["definition"]
    ours = definition["solvers"][0]
    # Our own solvers beside "auto" are shown in the record, and only count where promised.
    rivals = [n for n in record["solvers"] if n != ours and ("@" in n or not _is_ours(n))]
    if any("@" in name for name in record["solvers"]):
        clock = "wall"  # threads are the subject
    promises = [(tuple(n["rivals"]), n["target"], n["factor"]) for n in definition["needs"]]
    promised = {(r, t) for r, t, _ in promises}
    others = [(tuple(rivals), t, None) for t in definition["targets"]]
    wanted = promises + [o for o in others if (o[0], o[1]) not in promised]
    found = []
    for names, target, factor in wanted:
        names = tuple(n for n in names if "skip" not in record["solvers"].get(n, {"skip": ""}))
        if factor is not None and not names:
            continue  # none of these rivals takes the problem: nothing was promised
        if target is None:
            target = _tightest(record, names)
        found.append(_row(suite, record, ours, names, target, factor, clock))
    unique: dict[tuple[Any, ...], Row] = {}
    for row in found:  # promises come first: drop a plain comparison that repeats one of them
        same = [r for r in unique.values() if (r.target, r.rival) == (row.target, row.rival)]
        if row.need is not None or not same:
            unique[row.target, row.rival, row.need] = row
    return list(unique.values())


def _is_ours(name: str) -> bool:
    return name.split(":")[0] == "rectiline"


def _tightest(record: dict[str, Any], names: tuple[str, ...]) -> float:
    """The smallest target that any of these solvers reached (the loosest if none did)."""
    targets = sorted(record["definition"]["targets"])
    for target in targets:
        if any(_time(record, name, target, "cpu") is not None for name in names):
            return float(target)
    return float(targets[-1])


def _time(record: dict[str, Any], solver: str, target: float, clock: str) -> float | None:
    entry = record["solvers"].get(solver)
    measure = record["definition"]["measure"]
    run = entry and fastest(entry, target, record["bound"], measure)
    return median(run[f"{clock}s"]) if run else None


def _row(
    suite: str,
    record: dict[str, Any],
    ours: str,
    names: tuple[str, ...],
    target: float,
    factor: float | None,
    clock: str,
) -> Row:
    times = {name: _time(record, name, target, clock) for name in names}
    reached = {name: time for name, time in times.items() if time is not None}
    best = min(reached, key=lambda name: reached[name], default=None)
    entry = record["solvers"][ours]
    run = fastest(entry, target, record["bound"], record["definition"]["measure"])
    spread = 0.0
    if run and len(run[f"{clock}s"]) > 1:
        values = run[f"{clock}s"]
        spread = (max(values) - min(values)) / median(values)
    every = [r for e in record["solvers"].values() for r in e["runs"]]
    return Row(
        suite=suite,
        case=record["name"],
        target=target,
        ours=_time(record, ours, target, clock),
        spread=spread,
        rival=best or "/".join(names) or "none",
        theirs=reached[best] if best else None,
        at_least=None if best else _stopped_at(record, names),
        rivals_reached=_reached(record, names) if best is None else "",
        ours_reached=_reached(record, (ours,)),
        need=factor,
        limit=record["definition"]["limit_seconds"],
        zero=judge.relative(record.get("zero"), record["bound"]),
        origin=record.get("origin", "unknown"),
        honest=not any(judge.contradicts(r, record["bound"], record["best"]) for r in every),
    )


def _stopped_at(record: dict[str, Any], names: tuple[str, ...]) -> float | None:
    """The time limit, if one of these solvers was stopped by it."""
    limits = []
    for name in names:
        entry = record["solvers"].get(name, {"runs": []})
        limit = entry.get("limit", record["definition"]["time_limit"])
        for run in entry["runs"]:
            # One with a clock of its own stops itself, and looks at the clock on the wall.
            spent = max(*run.get("cpus", [0.0]), *run.get("walls", [0.0]))
            if run.get("timeout") or run.get("capped") or spent > 0.95 * limit:
                limits.append(limit)
    return min(limits, default=None)


def _reached(record: dict[str, Any], names: tuple[str, ...]) -> str:
    """What solvers managed that did not reach the target: their best error, or what they said."""
    parts = []
    for name in names:
        entry = record["solvers"][name]
        if "skip" in entry:
            continue
        best = entry.get("reached")
        why = next((run["error"] for run in entry["runs"] if "error" in run), entry.get("error"))
        given = _stopped_at(record, (name,))
        within = "" if given is None else f" in {given:.3g} s"
        parts.append(f"{name} {why or 'failed' if best is None else f'gets to {best:.0e}{within}'}")
    return ", ".join(parts)


def solver_times(record: dict[str, Any], target: float, clock: str) -> dict[str, float]:
    """Time of each solver that reached the target; infinite for one that tried and did not."""
    measure, times = record["definition"]["measure"], {}
    for name, entry in record["solvers"].items():
        if "skip" in entry:
            continue
        run = fastest(entry, target, record["bound"], measure)
        times[name] = median(run[f"{clock}s"]) if run else math.inf
    return times
