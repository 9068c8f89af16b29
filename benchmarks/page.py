"""The page that shows the results: markdown and HTML, losing cases first, pictures, the machine."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from .plots import draw
from .report import HEADER, Row, cells, load, rows, shares, summary
from .runner import RESULTS


def write_page(clock: str = "cpu") -> int:
    """Write ``report.md``, ``index.html`` and the plots beside the results."""
    results = load()
    found = sorted(rows(results, clock), key=lambda row: row.badness)
    pictures = draw(results, RESULTS, clock)
    (RESULTS / "report.md").write_text(_markdown(results, found, pictures, clock))
    (RESULTS / "index.html").write_text(_html(results, found, pictures, clock))
    print(summary(found))
    print(f"wrote {RESULTS / 'report.md'}, index.html and {len(pictures)} pictures")
    return int(any(row.kept is False for row in found))


INTRODUCTION = (
    "Each ratio is the best rival's time over ours, at equal accuracy by our judge; above 1 we "
    "are faster. Losing cases and broken promises come first. Times are medians of {clock} "
    "seconds of the solve alone, one thread; spread is (max - min)/median of ours; 'b=0 off' is "
    "the relative error of zero coefficients."
)


def _facts(results: list[dict[str, Any]]) -> list[str]:
    facts = []
    for result in results:
        m = result["machine"]
        versions = {}
        for record in result["cases"]:
            for name, entry in record["solvers"].items():
                if "version" in entry:
                    versions[name.split(":")[0].split("@")[0]] = entry["version"]
        listed = ", ".join(f"{k} {v}" for k, v in sorted(versions.items()))
        facts.append(
            f"{result['suite']}: {m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, "
            f"load {m['load']}, {m['system']}, Python {m['python']}, {m['date']}, "
            f"revision {m['revision']}; {listed}"
        )
    return facts


def _markdown(
    results: list[dict[str, Any]], found: list[Row], pictures: list[Path], clock: str
) -> str:
    lines = ["# Benchmarks", "", summary(found) + ".", ""]
    lines += [f"- {line}" for line in shares(results)]
    lines += ["", INTRODUCTION.format(clock=clock), ""]
    lines += ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(c.replace("|", "/") for c in cells(row)) + " |" for row in found]
    lines += ["", *(f"![{p.stem}]({p.name})" for p in pictures), "", "## Measured on", ""]
    lines += [f"- {fact}" for fact in _facts(results)]
    return "\n".join(lines) + "\n"


def _html(results: list[dict[str, Any]], found: list[Row], pictures: list[Path], clock: str) -> str:
    style = (
        "body{font:15px/1.4 sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse}"
        "td,th{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left}"
        ".bad{background:#fbe3e0}.slow{background:#fdf3d8}img{max-width:100%}"
    )
    body = []
    for row in found:
        kind = "bad" if row.kept is False or row.ours is None else "slow" if row.ratio < 1 else ""
        tds = "".join(f"<td>{html.escape(text)}</td>" for text in cells(row))
        body.append(f'<tr class="{kind}">{tds}</tr>')
    head = "".join(f"<th>{html.escape(text)}</th>" for text in HEADER)
    images = "".join(f'<p><img src="{p.name}" alt="{p.stem}"></p>' for p in pictures)
    facts = "".join(f"<li>{html.escape(fact)}</li>" for fact in _facts(results))
    solved = "".join(f"<li>{html.escape(line)}</li>" for line in shares(results))
    return (
        f"<!doctype html><meta charset=utf-8><title>Benchmarks</title><style>{style}</style>"
        f"<h1>Benchmarks</h1><p><b>{summary(found)}.</b> {INTRODUCTION.format(clock=clock)}</p>"
        f"<ul>{solved}</ul>"
        f"<table><tr>{head}</tr>{''.join(body)}</table>{images}"
        f"<h2>Measured on</h2><ul>{facts}</ul>\n"
    )
