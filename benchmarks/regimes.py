"""One table and one picture for each kind of problem: how we compare with each rival there.

`page` writes them beside the other results; the documentation shows them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

from .rows import solver_times
from .verdict import TARGET

Record = dict[str, Any]

HEADER = ("rival", "cases", "it solves", "we solve", "smallest ratio", "median ratio", "largest")
_MARGIN = ("hinge", "squared_hinge", "smoothed_hinge")
_SMALL = 20_000  # entries of X


def _plain(record: Record) -> bool:
    definition = record["definition"]
    return bool(definition["l1"] == 0 and definition["fairness"] is None)


def _sparse(record: Record) -> bool:
    return record["suite"] == "sparse_data" or "tfidf" in str(record["definition"]["data"]["name"])


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


def by_regime(results: list[dict[str, Any]]) -> dict[str, list[Record]]:
    """Return the cases of each regime that are raced at the common target."""
    found: dict[str, list[Record]] = {name: [] for name in REGIMES}
    for result in results:
        for record in result["cases"]:
            definition = record["definition"]
            if TARGET not in definition["targets"] or "@" in definition["solvers"][0]:
                continue
            case = {**record, "suite": result["suite"]}
            found[next(name for name, (_, fits) in REGIMES.items() if fits(case))].append(case)
    return {name: cases for name, cases in found.items() if cases}


def ratios(cases: list[Record], clock: str) -> dict[str, list[float]]:
    """Return each rival's time over ours, one for each case it takes; infinite where it fails.

    Zero where we fail and it does not. Cases that neither solves are left out.
    """
    found: dict[str, list[float]] = {}
    for record in cases:
        times = solver_times(record, TARGET, clock)
        ours = times.pop(record["definition"]["solvers"][0], math.inf)
        for name, time in times.items():
            if name.split(":")[0] == "rectiline" or (time == ours == math.inf):
                continue
            found.setdefault(name, []).append(time / ours)
    return found


def table(cases: list[Record], clock: str) -> list[tuple[str, ...]]:
    """Return one line for each rival, the one that beats us most first."""
    lines = []
    for name, values in ratios(cases, clock).items():
        solved = sum(math.isfinite(value) for value in values)
        ours = sum(value > 0 for value in values)
        ends = (min(values), statistics.median(values), max(values))
        numbers = (str(len(values)), str(solved), str(ours), *map(_shown, ends))
        lines.append((ends[0], (name, *numbers)))
    return [line for _, line in sorted(lines)]


def _shown(ratio: float) -> str:
    return "not solved" if ratio == math.inf else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def picture(found: dict[str, list[Record]], clock: str) -> Any:
    """Return a figure: one panel for each regime, one dot for each case and rival."""
    import matplotlib.pyplot as plt

    counts = {name: ratios(cases, clock) for name, cases in found.items()}
    heights = [len(rivals) + 1.5 for rivals in counts.values()]
    figure, panels = plt.subplots(
        len(counts), sharex=True, figsize=(8, 0.24 * sum(heights)), height_ratios=heights
    )
    for ax, (name, rivals) in zip(panels, counts.items(), strict=True):
        order = sorted(rivals, key=lambda rival: statistics.median(rivals[rival]))
        for k, rival in enumerate(order):
            shown = [min(max(value, 0.1), 1e3) for value in rivals[rival]]
            colours = ["C3" if value < 1 else "C0" for value in rivals[rival]]
            ax.scatter(shown, [k] * len(shown), s=10, c=colours, alpha=0.5, linewidths=0)
        ax.axvline(1.0, color="k", linewidth=0.8)
        ax.set_xscale("log")
        ax.set_xlim(0.09, 1.3e3)
        ax.set_yticks(range(len(order)), order, fontsize=7)
        ax.set_ylim(-0.7, len(order) - 0.3)
        ax.set_title(REGIMES[name][0], fontsize=9, loc="left")
    panels[-1].set_xlabel("the rival's time over ours (red: it is faster; right edge: not solved)")
    figure.tight_layout()
    return figure
