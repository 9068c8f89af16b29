"""Tables and pictures of the results for the documentation, which makes them when it is built.

    python -m benchmarks.page [FOLDER]     write them, to build/benchmarks by default, and the
                                           picture of the README, docs/images/seconds.png

What we do not solve comes first, then what we lose, then the rest.
"""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

from .pictures import draw, exponents
from .results import (
    FACTOR,
    HEADER,
    REGIME_HEADER,
    Record,
    by_regime,
    load,
    regime_table,
    rows,
    shares,
)
from .store import RESULTS, read_table

Lines = list[tuple[str, ...]]


def write_page(folder: Path) -> None:
    """Write the tables and the plots of the documentation."""
    folder.mkdir(parents=True, exist_ok=True)
    results = load()
    regimes = by_regime(results)
    draw(results, regimes, folder)
    found = rows(results)
    lists = {
        "failed": [row for row in found if row.ratio == 0],
        "losing": [row for row in found if 0 < row.ratio < 1],
        "rest": [row for row in found if row.ratio >= 1],
    }
    header = ("suite", "cases", "solved", f"within {FACTOR:g}x", "fastest")
    tables: dict[str, tuple[tuple[str, ...], Lines]] = {
        "suites": (header, [tuple(map(str, share)) for share in shares(results)]),
        "exponents": _exponents(results),
        "measures": _measures(),
        "gpu": _gpu(),
        "processes": _processes(),
        "coverage": _coverage(),
        "machine": _machine(results),
        **{name: (HEADER, [row.cells() for row in some]) for name, some in lists.items()},
        **{f"regime_{name}": (REGIME_HEADER, regime_table(some)) for name, some in regimes.items()},
    }
    for part in ("tiny", "size", "school"):
        tables[f"multitask_{part}"] = _multitask(part)
    for name, (header, lines) in tables.items():
        nothing = ("none", *("" for _ in header[1:]))
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows([header, *(lines or [nothing])])


def _exponents(results: list[Record]) -> tuple[tuple[str, ...], Lines]:
    lines = []
    for result in results:
        if result["suite"] != "scaling":
            continue
        for (tag, loss, solver), (points, slope) in sorted(exponents(result).items()):
            (first, fast), (last, slow) = points[0], points[-1]
            ends = (f"{first:g}", f"{last:g}", f"{fast:.3g} .. {slow:.3g}")
            lines.append((tag.removeprefix("by-"), loss, solver, f"{slope:.2f}", *ends))
    return ("along", "loss", "solver", "exponent", "from", "to", "seconds there"), lines


def _measures() -> tuple[tuple[str, ...], Lines]:
    """What ``measures.py`` found, what is above its target first."""
    fields = ("what", "measured", "at_most", "unit", "revision")
    found = read_table("measures")
    found.sort(key=lambda row: float(row["measured"]) <= float(row["at_most"]))
    lines = [tuple(row[field] for field in fields) for row in found]
    return ("what", "measured", "target", "unit", "revision"), lines


def _gpu() -> tuple[tuple[str, ...], Lines]:
    """What rows on a GPU take."""
    lines = []
    for row in read_table("gpu"):
        size, kept = f"{int(row['rows']):,} x {row['columns']}", f"{100 * float(row['kept']):.2g} %"
        fields = (row["dtype"], row["loss"], row["seconds"], row["passes"], kept, row["gap"])
        lines.append((size, *fields))
    return ("rows x columns", "numbers", "loss", "seconds", "passes", "rows kept", "gap"), lines


def _processes() -> tuple[tuple[str, ...], Lines]:
    """What rows of Parquet take on pools of processes."""
    pools = [row for row in read_table("disk") if "process" in row["source"]]
    found = [row for row in pools if row["rows_per_second"]]
    found.sort(key=lambda row: (int(row["columns"]), -float(row["seconds"])))
    lines = []
    for row in found:
        size, many = f"{int(row['rows']):,} x {row['columns']}", row["source"].split()[-2]
        encoding = "default" if "as pyarrow writes it" in row["source"] else "plain"
        speed = f"{float(row['rows_per_second']) / 1e6:.1f} million"
        share = f"{100 * float(row['decoding_share']):.0f} %"
        lines.append((size, encoding, many, row["seconds"], speed, share, row["gigabytes"]))
    header = ("rows x columns", "encoding", "processes", "seconds", "rows a second", "decoding")
    return (*header, "driver GB"), lines


def _multitask(part: str) -> tuple[tuple[str, ...], Lines]:
    """What a part of ``multitask.py`` found, without the columns of the others."""
    found = [row for row in read_table("multitask") if row["part"] == part]
    about = ("part", "cpu", "date", "revision")
    fields = [name for name, value in found[0].items() if value and name not in about]
    return tuple(fields), [tuple(row[name] for name in fields) for row in found]


def _coverage() -> tuple[tuple[str, ...], Lines]:
    """What ``coverage.py`` found."""
    found = read_table("coverage")
    return tuple(found[0]), [tuple(row.values()) for row in found]


def _machine(results: list[Record]) -> tuple[tuple[str, ...], Lines]:
    header = ("suite", "processor", "cores", "memory", "load", "system", "date", "revision", "of")
    lines = []
    for result in results:
        m = result["machine"]
        versions = {"Python": m["python"]}
        for record in result["cases"]:
            for name, entry in record["solvers"].items():
                if "version" in entry:
                    versions[name.split(":")[0]] = entry["version"]
        loads = [record["load"][0] for record in result["cases"] if record.get("load")]
        load = f"{min(loads):.1f} to {max(loads):.1f}" if loads else ""
        revisions = sorted({str(record["revision"]) for record in result["cases"]})
        numbers = (m["cpu"], str(m["cores"]), f"{m['memory_gib']} GiB", load, m["system"])
        listed = ", ".join(f"{k} {v}" for k, v in sorted(versions.items()))
        lines.append((result["suite"], *numbers, m["date"], ", ".join(revisions), listed))
    return header, lines


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "build/benchmarks")
    write_page(place)
    shutil.copy(place / "seconds.png", RESULTS.parents[1] / "docs" / "images" / "seconds.png")
