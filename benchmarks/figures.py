"""Numbers that the README and the documentation state, each computed from one result file.

    python -m benchmarks.figures      print them

The documentation puts them in place of ``|name|`` when it is built; a test compares the README.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from .pictures import PROFILED
from .results import at_target, is_ours, load
from .rivals import get
from .store import RESULTS, read_table


def figures() -> dict[str, str]:
    """Return every figure by name, as text."""
    parts = (races, door, gpu, disk, regret, programs, install, structure)
    return {name: value for part in parts for name, value in part().items()}


def door() -> dict[str, str]:
    """Return the seconds of the picture of the README; "none" for a program that was stopped."""
    found = {}
    for record in at_target(load([RESULTS / "door.json"])):
        table = record["definition"]["data"]["name"]
        for name, seconds in record["times"].items():
            shown = f"{seconds:.2g}" if math.isfinite(seconds) else "none"
            found[f"door_{table}_{name.replace('-', '_')}"] = shown
    return found


def races() -> dict[str, str]:
    """Compare with the best rival that reaches a relative error of 1e-6."""
    results = load()
    found = at_target(results)
    entries = [item for one in results for case in one["cases"] for item in case["solvers"].items()]
    names = {name for name, entry in entries if entry.get("runs")}
    ratios = []
    for record in found:
        own = record["times"].pop(record["definition"]["solvers"][0], math.inf)
        rivals = [time for name, time in record["times"].items() if not is_ours(name)]
        best = min(rivals, default=math.inf)
        if math.isfinite(best):
            ratios.append(best / own)
    return {
        "races": str(len(ratios)),
        "races_mean": f"{math.exp(statistics.fmean(map(math.log, ratios))):.1f}",
        "races_near": f"{100 * sum(ratio >= 0.8 for ratio in ratios) / len(ratios):.0f}",
        "races_lost_by_half": str(sum(ratio < 0.5 for ratio in ratios)),
        "rival_packages": str(len({get(name).package for name in names} - {"rectiline"})),
        "races_profiled": str(sum(record["suite"] in PROFILED for record in found)),
    }


def gpu() -> dict[str, str]:
    """Return what a billion rows take on the card."""
    seconds = [float(row["seconds"]) for row in read_table("gpu") if row["rows"] == "1000000000"]
    return {"gpu_billion_rows": between(seconds, 2)}


def disk() -> dict[str, str]:
    """Return what Parquet files take, over decoding them twice, and how much memory."""
    rows = [row for row in read_table("disk") if row["source"] == "Parquet"]
    return {
        "disk_ratio": between([float(row["ratio"]) for row in rows], 1),
        "disk_gigabytes": f"{max(float(row['gigabytes']) for row in rows):.1f}",
    }


def regret() -> dict[str, str]:
    """Return how much longer "auto" takes than the best solver that can be named."""
    found = sorted(float(row["regret"]) for row in read_table("regret"))
    return {
        "regret_mixes": str(len(found)),
        "regret_median": f"{statistics.median(found):.2f}",
        "regret_most": f"{found[math.ceil(0.9 * len(found)) - 1]:.1f}",
    }


def programs() -> dict[str, str]:
    """Count the quadratic programs of Maros and Meszaros that are solved."""
    rows = read_table("maros_meszaros")
    solved = sum(row["status"] == "solved" for row in rows)
    return {"maros_meszaros": str(len(rows)), "maros_meszaros_solved": str(solved)}


def install() -> dict[str, str]:
    """Return the megabytes of the wheel, and of what is installed with each extra."""
    found = {}
    for row in read_table("install"):
        found["wheel_megabytes"] = row["wheel_megabytes"]
        found[f"install_{row['extra']}"] = row["megabytes"]
    return found


def structure() -> dict[str, str]:
    """Compare with the best method of HiGHS on the problems with sparse structure."""
    ratios = [float(row["of_highs"]) for row in read_table("structure") if row["of_highs"]]
    return {
        "structure_cases": str(len(ratios)),
        "structure_median": f"{statistics.median(ratios):.2f}",
        "structure_worst": f"{max(ratios):.2f}",
    }


def between(values: Iterable[float], digits: int) -> str:
    """Return the range of some values in words."""
    low, high = min(values), max(values)
    return f"{low:.{digits}f} to {high:.{digits}f}"


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:24s} {value}")
