"""The page that shows the results: what we do not solve first, then what we lose, then the rest.

Markdown and HTML for readers of the repository, CSV tables and pictures for the documentation.
"""

from __future__ import annotations

import csv
import html
import math
from dataclasses import dataclass
from typing import Any

from . import store
from .plots import draw, exponents, save
from .regimes import HEADER as REGIME_HEADER
from .regimes import REGIMES, by_regime, picture, table
from .report import HEADER, cells
from .rows import Row, load, rows
from .runner import RESULTS
from .verdict import FACTOR, TARGET, shares, summary, verdict

INTRODUCTION = (
    "Each ratio is the best rival's time over ours, at equal accuracy by our judge; above 1 we "
    "are faster, and '>20x' means that the rival was stopped at 20 times our time. Times are "
    "medians of {clock} seconds of the solve alone, one thread; spread is (max - min)/median of "
    "ours; 'b=0 off' is the relative error of zero coefficients."
)
PICTURES = {
    "regimes": "Each rival's time over ours at 1e-6, one dot for each case, by kind of problem",
    "profile": "Share of all cases (at each target accuracy) that a solver solves within a factor "
    "of the fastest one",
    "profile_promised": "The same for the suites rehline and quantile at 1e-6",
    "accuracy": "Time to accuracy: every dot is a run at a tolerance of its own",
    "scaling": "Time against n, d and C",
}


@dataclass(frozen=True)
class Section:
    """A titled table; ``name`` is that of its CSV file."""

    name: str
    title: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]


def write_page(clock: str = "cpu") -> int:
    """Write the report, its tables and the plots beside the results; count broken promises."""
    results = load()
    found = sorted(rows(results, clock), key=lambda row: row.badness)
    pictures = draw(results, RESULTS, clock)
    if pictures:  # there is matplotlib
        save(picture(by_regime(results), clock), RESULTS / "regimes.png")
        pictures.insert(0, "regimes")
    parts = sections(results, found, clock)
    words = [summary(found) + ".", *verdict(shares(results))]
    (RESULTS / "report.md").write_text(_markdown(parts, words, pictures, clock))
    (RESULTS / "index.html").write_text(_html(parts, words, pictures, clock))
    for part in parts:
        _csv(part)
    print("\n".join(words))
    print(
        f"wrote {RESULTS / 'report.md'}, index.html, {len(parts)} tables, {len(pictures)} pictures"
    )
    return sum(row.kept is False for row in found)


def sections(results: list[dict[str, Any]], found: list[Row], clock: str) -> list[Section]:
    """The tables, worst first; every row is in exactly one of those that list cases."""
    failed = [row for row in found if row.ours is None]
    losing = [row for row in found if row.ours is not None and row.ratio < 1]
    broken = [row for row in found if row.ratio >= 1 and row.kept is False]
    rest = [row for row in found if row.ratio >= 1 and row.kept is not False]

    def listed(name: str, title: str, some: list[Row]) -> Section:
        return Section(name, f"{title} ({len(some)})", HEADER, [cells(row) for row in some])

    return [
        _suites(results, found),
        listed("failed", "Not solved by us", failed),
        listed("losing", "Slower than a rival", losing),
        listed("broken", "Faster than every rival, but less than promised", broken),
        _exponents(results, clock),
        _measures(),
        _machine(results),
        *_regimes(results, clock),
        listed("rest", "All other comparisons", rest),
    ]


def _suites(results: list[dict[str, Any]], found: list[Row]) -> Section:
    header = ("suite", "cases", "solved", f"within {FACTOR:g}x", "fastest", "promises", "broken")
    lines = []
    for share in shares(results):
        kept = [row.kept for row in found if row.suite == share.suite and row.kept is not None]
        numbers = (share.cases, share.solved, share.near, share.fastest, len(kept))
        lines.append((share.suite, *map(str, numbers), str(kept.count(False))))
    return Section("suites", f"Suites at {TARGET:.0e}", header, lines)


def _regimes(results: list[dict[str, Any]], clock: str) -> list[Section]:
    """One table for each kind of problem, one line for each rival."""
    return [
        Section(
            f"regime_{name}",
            f"{REGIMES[name][0]}: {len(cases)} cases at {TARGET:.0e}",
            REGIME_HEADER,
            table(cases, clock),
        )
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
    return Section("exponents", "Fitted exponents of the time", header, lines)


def _measures() -> Section:
    """What ``measures.py`` found: promises that are not races."""
    header = ("promise", "what", "measured", "at most", "unit", "revision")
    lines = []
    for name, found in store.read(RESULTS / "measures.json").items():
        value = found.get("value", math.inf)
        shown = f"{value:.3g}" if "value" in found else str(found.get("error", "failed"))[:80]
        verdict = "ok" if value <= found["at_most"] else "BROKEN"
        limit, unit, revision = f"{found['at_most']:g}", found["unit"], str(found["revision"])
        lines.append((verdict, name, shown, limit, unit, revision))
    lines.sort(key=lambda line: line[0] != "BROKEN")
    return Section("measures", "Measured, but not raced", header, lines)


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
    return Section("machine", "Measured on", header, lines)


def _markdown(parts: list[Section], words: list[str], pictures: list[str], clock: str) -> str:
    lines = ["# Benchmarks", "", words[0], "", *(f"- {line}" for line in words[1:])]
    lines += ["", INTRODUCTION.format(clock=clock)]
    for part in parts:
        lines += ["", f"## {part.title}", ""]
        lines += ["| " + " | ".join(part.header) + " |", "|" + "---|" * len(part.header)]
        lines += ["| " + " | ".join(c.replace("|", "/") for c in row) + " |" for row in part.lines]
    lines += ["", "## Pictures"]
    for name in pictures:
        lines += ["", PICTURES[name] + ":", "", f"![{name}]({name}.png)"]
    return "\n".join(lines) + "\n"


def _html(parts: list[Section], words: list[str], pictures: list[str], clock: str) -> str:
    style = (
        "body{font:15px/1.4 sans-serif;margin:2em;max-width:90em}table{border-collapse:collapse}"
        "td,th{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left}"
        "#failed,#losing,#broken{background:#fbe3e0}img{max-width:100%}"
    )

    def items(lines: list[str]) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>"

    def line(tag: str, texts: tuple[str, ...]) -> str:
        inner = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)
        return f"<tr>{inner}</tr>\n"

    body = [f"<p><b>{html.escape(words[0])}</b></p>{items(words[1:])}"]
    body.append(f"<p>{html.escape(INTRODUCTION.format(clock=clock))}</p>")
    for part in parts:
        inner = line("th", part.header) + "".join(line("td", row) for row in part.lines)
        body.append(f"<h2>{html.escape(part.title)}</h2><table id={part.name}>{inner}</table>")
    for name in pictures:
        caption = html.escape(PICTURES[name])
        body.append(f'<h2>{caption}</h2><p><img src="{name}.png" alt="{name}"></p>')
    head = f"<!doctype html><meta charset=utf-8><title>Benchmarks</title><style>{style}</style>"
    return head + "<h1>Benchmarks</h1>\n" + "\n".join(body) + "\n"


def _csv(part: Section) -> None:
    """A table for the documentation; an empty one says so."""
    nothing = ("none", *("" for _ in part.header[1:]))
    with open(RESULTS / f"{part.name}.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([part.header, *(part.lines or [nothing])])
