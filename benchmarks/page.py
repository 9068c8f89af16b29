"""Tables and pictures of the results for the documentation, which makes them when it is built.

What we do not solve comes first, then what we lose, then the rest.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .plots import draw, exponents, save
from .regimes import HEADER as REGIME_HEADER
from .regimes import by_regime, picture, table
from .report import HEADER, cells
from .rows import Row, load, rows
from .store import RESULTS, read, read_table
from .verdict import FACTOR, shares, summary, verdict


@dataclass(frozen=True)
class Section:
    """A table; ``name`` is that of its CSV file."""

    name: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]


def write_page(folder: Path, clock: str = "cpu") -> int:
    """Write the tables and the plots of the documentation; count broken promises."""
    folder.mkdir(parents=True, exist_ok=True)
    results = load()
    found = sorted(rows(results, clock), key=lambda row: row.badness)
    if draw(results, folder, clock):  # there is matplotlib
        save(picture(by_regime(results), clock), folder / "regimes.png")
    for part in [*sections(results, found, clock), *_multitask()]:
        _csv(folder, part)
    print("\n".join([summary(found) + ".", *verdict(shares(results))]))
    return sum(row.kept is False for row in found)


def sections(results: list[dict[str, Any]], found: list[Row], clock: str) -> list[Section]:
    """The tables, worst first; every row is in exactly one of those that list cases."""
    failed = [row for row in found if row.ours is None]
    losing = [row for row in found if row.ours is not None and row.ratio < 1]
    broken = [row for row in found if row.ratio >= 1 and row.kept is False]
    rest = [row for row in found if row.ratio >= 1 and row.kept is not False]

    def listed(name: str, some: list[Row]) -> Section:
        return Section(name, HEADER, [cells(row) for row in some])

    return [
        _suites(results, found),
        listed("failed", failed),
        listed("losing", losing),
        listed("broken", broken),
        _exponents(results, clock),
        _measures(),
        _machine(results),
        *_regimes(results, clock),
        listed("rest", rest),
    ]


def _suites(results: list[dict[str, Any]], found: list[Row]) -> Section:
    header = ("suite", "cases", "solved", f"within {FACTOR:g}x", "fastest", "promises", "broken")
    lines = []
    for share in shares(results):
        kept = [row.kept for row in found if row.suite == share.suite and row.kept is not None]
        numbers = (share.cases, share.solved, share.near, share.fastest, len(kept))
        lines.append((share.suite, *map(str, numbers), str(kept.count(False))))
    return Section("suites", header, lines)


def _regimes(results: list[dict[str, Any]], clock: str) -> list[Section]:
    """One table for each kind of problem, one line for each rival."""
    return [
        Section(f"regime_{name}", REGIME_HEADER, table(cases, clock))
        for name, cases in by_regime(results).items()
    ]


def _exponents(results: list[dict[str, Any]], clock: str) -> Section:
    header = ("along", "loss", "solver", "exponent", "from", "to", "seconds there")
    lines = []
    for result in results:
        if result["suite"] != "scaling":
            continue
        for (tag, loss, solver), (points, slope) in sorted(exponents(result, clock).items()):
            (first, fast), (last, slow) = points[0], points[-1]
            ends = (f"{first:g}", f"{last:g}", f"{fast:.3g} .. {slow:.3g}")
            lines.append((tag.removeprefix("by-"), loss, solver, f"{slope:.2f}", *ends))
    return Section("exponents", header, lines)


def _measures() -> Section:
    """What ``measures.py`` found: promises that are not races."""
    header = ("promise", "what", "measured", "at most", "unit", "revision")
    lines = []
    for row in read_table("measures"):
        kept = float(row["measured"]) <= float(row["at_most"])
        known = (row["what"], row["measured"], row["at_most"], row["unit"], row["revision"])
        lines.append(("ok" if kept else "BROKEN", *known))
    lines.sort(key=lambda line: line[0] != "BROKEN")
    return Section("measures", header, lines)


def _multitask() -> list[Section]:
    """The tables about many tasks, as they were measured."""
    found = read(RESULTS / "multitask.json")
    return [
        Section(f"multitask_{name}", part["header"], part["lines"]) for name, part in found.items()
    ]


def _machine(results: list[dict[str, Any]]) -> Section:
    header = ("suite", "processor", "cores", "memory", "load", "system", "date", "revision", "of")
    lines = []
    for result in results:
        m = result["machine"]
        versions = {"Python": m["python"]}
        for record in result["cases"]:
            for name, entry in record["solvers"].items():
                if "version" in entry:
                    versions[name.split(":")[0].split("@")[0]] = entry["version"]
        loads = [record["load"][0] for record in result["cases"] if record.get("load")]
        load = f"{min(loads):.1f} to {max(loads):.1f}" if loads else ""
        revisions = sorted({str(record["revision"]) for record in result["cases"]})
        numbers = (m["cpu"], str(m["cores"]), f"{m['memory_gib']} GiB", load, m["system"])
        listed = ", ".join(f"{k} {v}" for k, v in sorted(versions.items()))
        lines.append((result["suite"], *numbers, m["date"], ", ".join(revisions), listed))
    return Section("machine", header, lines)


def _csv(folder: Path, part: Section) -> None:
    """A table for the documentation; an empty one says so."""
    nothing = ("none", *("" for _ in part.header[1:]))
    with open(folder / f"{part.name}.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([part.header, *(part.lines or [nothing])])
