"""Run the races of a suite and keep every measurement.

For each case: first a reference bound; then each solver climbs its own ladder of tolerances, loose
to tight, until the judge says that all targets are reached; then the chosen rungs are repeated,
solver by solver in turn, so that a noisy moment hits all of them alike.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import judge, machine, suites
from .cases import Case
from .process import Player

RESULTS = Path(__file__).parent / "results"
BOUNDS = RESULTS / "bounds.json"
REFERENCES = ("rectiline", "rehline", "highs", "piqp", "clarabel")
LONG = 15.0  # seconds; a run this long is not repeated


def run_suite(
    suite: str,
    cases: list[Case],
    *,
    say: Callable[[str], None] = print,
    extra: tuple[str, ...] = (),
) -> Path:
    """Race the cases; results are written after each one, replacing older ones of the same name."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{suite}.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    known = {case.name for case in suites.cases(suite)}
    kept = {r["name"]: r for r in results.get("cases", []) if r["name"] in known}
    for number, case in enumerate(cases, 1):
        began = time.perf_counter()
        say(f"[{number}/{len(cases)}] {case.name}")
        kept[case.name] = _race(suite, case, say, extra)
        say(f"    {time.perf_counter() - began:.0f} s in all")
        results = {"suite": suite, "machine": machine.describe(), "cases": list(kept.values())}
        path.write_text(json.dumps(results, indent=1) + "\n")
    return path


def _race(
    suite: str, case: Case, say: Callable[[str], None], extra: tuple[str, ...]
) -> dict[str, Any]:
    now = machine.describe()
    record: dict[str, Any] = {
        "name": case.name,
        "key": case.key,
        "definition": asdict(case),
        **{field: now[field] for field in ("load", "date", "revision")},
        "solvers": {},
    }
    reference = _reference(suite, case, say)
    record.update(reference)
    players: list[Player] = []
    for solver in (*case.solvers, *extra):
        player = Player(suite, case.name, solver)
        info = player.start()
        record["solvers"][solver] = entry = {"runs": [], **info}
        for field in ("origin", "n", "d", "zero", "fingerprint"):
            if field in entry:
                record[field] = entry.pop(field)
        if stopped := info.get("skip") or info.get("error"):
            say(f"    {solver}: {'skipped' if 'skip' in info else 'FAILED'}: {stopped}")
            player.stop()
            continue
        players.append(player)
        _climb(case, player, record, say)
    if "synthetic stand-in" in record.get("origin", ""):
        say(f"    data: {record['origin']}")
    _repeat(case, players, record, say)
    for player in players:
        player.stop()
    return record


def _reference(suite: str, case: Case, say: Callable[[str], None]) -> dict[str, Any]:
    """The best bound known for the case, from earlier runs or from new tight ones."""
    known = json.loads(BOUNDS.read_text()) if BOUNDS.exists() else {}
    best: dict[str, Any] = {"bound": None, "best": None, "bound_from": None}
    goal = 0.05 * min(case.targets)
    key = ""
    for solver in REFERENCES:
        if judge.relative(best["best"], best["bound"]) <= goal:
            break
        player = Player(suite, case.name, solver)
        info = player.start()
        if not key and "fingerprint" in info:
            key = f"{case.key}-{info['fingerprint']}"
            best = known.get(key, best)
        good = judge.relative(best["best"], best["bound"]) <= goal
        if good or "skip" in info or "error" in info:
            player.stop()
            continue
        tight = player.ask({"do": "tight"}, 10.0)["tolerance"]
        for tol in (0.01 * min(case.targets), tight):
            run = player.run(tol, 2.0 * case.time_limit)
            _improve(best, run, solver)
            if "error" in run or judge.relative(best["best"], best["bound"]) <= goal:
                break
        player.stop()
    width = judge.relative(best["best"], best["bound"])
    say(f"    bound {best['bound']} from {best['bound_from']}, known to {width:.1e}")
    BOUNDS.parent.mkdir(exist_ok=True)
    known[key] = best
    BOUNDS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    return dict(best)


def _improve(best: dict[str, Any], run: dict[str, Any], solver: str) -> None:
    """Keep the highest bound and the lowest feasible objective."""
    if run.get("bound") is not None and (best["bound"] is None or run["bound"] > best["bound"]):
        best["bound"], best["bound_from"] = run["bound"], solver
    if run.get("primal") is not None and (run.get("violation") or 0.0) <= judge.ROUNDING:
        best["best"] = min(run["primal"], math.inf if best["best"] is None else best["best"])


def _climb(case: Case, player: Player, record: dict[str, Any], say: Callable[[str], None]) -> None:
    """One run per rung (which also warms up) until every target is reached."""
    entry = record["solvers"][player.solver]
    size = abs(record["bound"] or record.get("zero") or 1.0)
    ladder = player.ask({"do": "ladder", "targets": list(case.targets), "size": size}, 10.0)
    reached = math.inf
    rungs = ladder.get("tolerances", [])
    # The first solve pays for imports, compilation and page faults; nobody is timed on it.
    first = player.run(rungs[0], case.time_limit) if rungs else {}
    for tol in rungs:
        run = first if "error" in first else player.run(tol, case.time_limit)
        if run.get("timeout") and entry.get("clockless"):
            say(f"    {player.solver}: tol {tol:.1e}: {run['error']}; how far does it get?")
            run = player.run(tol, case.time_limit, capped=True)
        if "error" in run:
            entry["runs"].append({"tol": tol, **run})
            say(f"    {player.solver}: tol {tol:.1e}: {run['error']}")
            break  # what fails at one tolerance fails at a tighter one
        _improve(record, run, player.solver)
        run["walls"], run["cpus"] = [run.pop("wall")], [run.pop("cpu")]
        entry["runs"].append(run)
        reached = min(reached, judge.error(run, record["bound"], case.measure))
        over = run["capped"] or run["walls"][0] > case.time_limit
        if over or reached <= min(case.targets):
            break
    entry["reached"] = None if math.isinf(reached) else reached


def fastest(entry: dict[str, Any], target: float, bound: float | None, measure: str) -> Any:
    """The run of a solver that reaches the target in the least time, or ``None``."""
    good = [
        run
        for run in entry["runs"]
        if "error" not in run and judge.error(run, bound, measure) <= target
    ]
    repeated = [run for run in good if len(run["cpus"]) > 1]  # a lucky single run does not count
    return min(repeated or good, key=lambda run: median(run["cpus"]), default=None)


def _repeat(
    case: Case, players: list[Player], record: dict[str, Any], say: Callable[[str], None]
) -> None:
    """Repeat the rungs that count, in turn over the solvers."""
    chosen: list[tuple[Player, dict[str, Any]]] = []
    for player in players:
        entry = record["solvers"][player.solver]
        runs = [fastest(entry, t, record["bound"], case.measure) for t in case.targets]
        chosen += [(player, run) for k, run in enumerate(runs) if run and run not in runs[:k]]
    for _ in range(case.repeats - 1):
        for player, run in chosen:
            if run["walls"][0] > LONG:
                continue
            again = player.run(run["tol"], case.time_limit, run["capped"])
            if "error" not in again:
                run["walls"].append(again["wall"])
                run["cpus"].append(again["cpu"])
    for solver, entry in record["solvers"].items():
        cells = []
        for target in case.targets:
            run = fastest(entry, target, record["bound"], case.measure)
            cells.append("-" if run is None else f"{median(run['cpus']):.4g} s")
        if entry["runs"]:
            say(f"    {solver:20s} " + "  ".join(cells))


def median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])
