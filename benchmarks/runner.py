"""Run the races of a suite and keep every measurement.

For each case: first a reference bound; then each solver climbs its own ladder of tolerances, loose
to tight, until all targets are reached; then the chosen rungs are repeated,
solver by solver in turn, so that a noisy moment hits all of them alike.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from . import machine, scoring, store, suites
from .cases import Case
from .player import Player

REFERENCES = ("rectiline", "rehline", "highs", "piqp", "clarabel")
LONG = 15.0  # seconds; a run this long is not repeated
SHORT = 0.05  # seconds; a run this short is repeated at least five times
WARM = 2.0  # seconds; a first run this long is as good as any
LEAST = 1.0  # seconds that a rival is given, however fast we are
Players = dict[str, Player]


def run_suite(suite: str, cases: list[Case]) -> Path:
    """Race the cases; results are written after each one, replacing older ones of the same name."""
    path = store.RESULTS / f"{suite}.json"
    first = {case.data: k for k, case in reversed(list(enumerate(cases)))}
    names = [*REFERENCES, *(solver for case in cases for solver in case.solvers)]
    players = {solver: Player(solver) for solver in names}  # started when first asked
    try:
        # Cases on the same table in a row: it is loaded once.
        for number, case in enumerate(sorted(cases, key=lambda case: first[case.data]), 1):
            began = time.perf_counter()
            print(f"[{number}/{len(cases)}] {case.name}", flush=True)
            record = _race(suite, case, players)
            print(f"    {time.perf_counter() - began:.0f} s in all", flush=True)
            _keep(path, suite, record)
    finally:
        for player in players.values():
            player.stop()
    return path


def _keep(path: Path, suite: str, record: dict[str, Any]) -> None:
    order = {case.name: k for k, case in enumerate(suites.cases(suite))}

    def change(old: dict[str, Any]) -> dict[str, Any]:
        kept = {r["name"]: r for r in old.get("cases", []) if r["name"] in order}
        kept[record["name"]] = record
        cases = sorted(kept.values(), key=lambda r: order[r["name"]])
        return {"suite": suite, "machine": machine.describe(), "cases": cases}

    store.update(path, change)


def _race(suite: str, case: Case, players: Players) -> dict[str, Any]:
    now = machine.describe()
    record: dict[str, Any] = {
        "name": case.name,
        "key": case.key,
        "definition": asdict(case),
        **{field: now[field] for field in ("load", "date", "revision")},
        "solvers": {},
    }
    record.update(_reference(suite, case, players))
    racing: list[Player] = []
    for solver in case.solvers:
        player = players[solver]
        info = player.load(suite, case.name)
        record["solvers"][solver] = entry = {"runs": [], **info}
        for field in ("origin", "n", "d", "zero", "fingerprint"):
            if field in entry:
                record[field] = entry.pop(field)
        if stopped := info.get("skip") or info.get("error"):
            print(f"    {solver}: {'skipped' if 'skip' in info else 'FAILED'}: {stopped}")
            continue
        racing.append(player)
        entry["limit"] = _limit(case, record, solver)
        _climb(case, player, record)
    if record.get("origin", "") not in ("synthetic", "file", "scikit-learn"):
        print(f"    data: {record.get('origin', 'unknown')}")
    _repeat(case, racing, record)
    return record


def _limit(case: Case, record: dict[str, Any], solver: str) -> float:
    """Seconds for one run: of a rival, at most ``patience`` times what we needed for everything."""
    ours = record["solvers"].get(case.ours, {})
    if solver == case.ours or not (ours.get("reached") or math.inf) <= min(case.targets):
        return case.time_limit
    slowest = max(run["cpus"][0] for run in ours["runs"] if "error" not in run)
    return min(case.time_limit, max(LEAST, case.patience * slowest))


def _reference(suite: str, case: Case, players: Players) -> dict[str, Any]:
    """The best bound known for the case, from earlier runs or from new tight ones."""
    best: dict[str, Any] = {"bound": None, "best": None, "bound_from": None}
    bounds, goal, key = store.RESULTS / "bounds.json", 0.05 * min(case.targets), ""
    for solver in REFERENCES:
        if scoring.relative(best["best"], best["bound"]) <= goal:
            break
        player = players[solver]
        info = player.load(suite, case.name)
        if not key and "fingerprint" in info:
            key = f"{case.key}-{info['fingerprint']}"
            best = store.read(bounds).get(key, best)
        good = scoring.relative(best["best"], best["bound"]) <= goal
        if good or "skip" in info or "error" in info:
            continue
        tight = player.ask("ladder", 10.0, targets=list(case.targets), size=1.0)["tight"]
        for tol in (0.01 * min(case.targets), tight):
            run = player.run(tol, case.time_limit)
            _improve(best, run, solver)
            if "error" in run or scoring.relative(best["best"], best["bound"]) <= goal:
                break
    width = scoring.relative(best["best"], best["bound"])
    print(f"    bound {best['bound']} from {best['bound_from']}, known to {width:.1e}")
    store.update(bounds, lambda known: {**known, key: best})
    return dict(best)


def _improve(best: dict[str, Any], run: dict[str, Any], solver: str) -> None:
    """Keep the highest bound and the lowest feasible objective."""
    if run.get("bound") is not None and (best["bound"] is None or run["bound"] > best["bound"]):
        best["bound"], best["bound_from"] = run["bound"], solver
    if run.get("primal") is not None and (run.get("violation") or 0.0) <= scoring.ROUNDING:
        best["best"] = min(run["primal"], math.inf if best["best"] is None else best["best"])


def _climb(case: Case, player: Player, record: dict[str, Any]) -> None:
    """One run per rung (which also warms up) until every target is reached."""
    entry = record["solvers"][player.solver]
    limit = entry["limit"]
    size = abs(record["bound"] or record.get("zero") or 1.0)
    ladder = player.ask("ladder", 10.0, targets=list(case.targets), size=size)
    reached = math.inf
    rungs = ladder.get("tolerances", [])
    # The first solve pays for imports, compilation and page faults; nobody is timed on it unless
    # it is so long that this does not matter.
    compiles = entry.get("compiles", False)
    first = player.run(rungs[0], max(limit, 30.0) if compiles else limit) if rungs else {}
    counts = "error" in first or (first.get("cpu", 0.0) > WARM and not compiles)
    for tol in rungs:
        run = first if counts else player.run(tol, limit)
        counts = False
        if "error" in run:
            entry["runs"].append({"tol": tol, **run})
            print(f"    {player.solver}: tol {tol:.1e}: {run['error']}")
            break  # what fails at one tolerance fails at a tighter one
        _improve(record, run, player.solver)
        run["walls"], run["cpus"] = [run.pop("wall")], [run.pop("cpu")]
        entry["runs"].append(run)
        reached = min(reached, scoring.error(run, record["bound"], case.measure))
        if run["cpus"][0] > limit or reached <= min(case.targets):
            break
    entry["reached"] = None if math.isinf(reached) else reached


def fastest(entry: dict[str, Any], target: float, bound: float | None, measure: str) -> Any:
    """The run of a solver that reaches the target in the least time, or ``None``."""
    good = [
        run
        for run in entry["runs"]
        if "error" not in run and scoring.error(run, bound, measure) <= target
    ]
    repeated = [run for run in good if len(run["cpus"]) > 1]  # a lucky single run does not count
    return min(repeated or good, key=lambda run: median(run["cpus"]), default=None)


def _repeat(case: Case, players: list[Player], record: dict[str, Any]) -> None:
    """Repeat the rungs that count, in turn over the solvers."""
    chosen: list[tuple[Player, dict[str, Any]]] = []
    for player in players:
        entry = record["solvers"][player.solver]
        runs = [fastest(entry, t, record["bound"], case.measure) for t in case.targets]
        chosen += [(player, run) for k, run in enumerate(runs) if run and run not in runs[:k]]
    for turn in range(1, max(case.repeats, 5 if case.repeats > 1 else 1)):
        for player, run in chosen:
            if run["cpus"][0] > (LONG if turn < case.repeats else SHORT):
                continue
            if player.is_cold:  # it had to be killed at a tighter tolerance
                player.run(run["tol"], case.time_limit)
            again = player.run(run["tol"], case.time_limit)
            if "error" not in again:
                run["walls"].append(again["wall"])
                run["cpus"].append(again["cpu"])
    for solver, entry in record["solvers"].items():
        found = [fastest(entry, t, record["bound"], case.measure) for t in case.targets]
        cells = ["-" if run is None else f"{median(run['cpus']):.4g} s" for run in found]
        if entry["runs"]:
            print(f"    {solver:20s} " + "  ".join(cells))
