"""Kinds of problems: how we compare with each rival there."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from .results import Record, at_target, is_ours

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


def table(cases: list[Record]) -> list[tuple[str, ...]]:
    """Return one line for each rival, the one that beats us most first."""
    lines = []
    for name, values in ratios(cases).items():
        solved = sum(math.isfinite(value) for value in values)
        ours = sum(value > 0 for value in values)
        ends = (min(values), statistics.median(values), max(values))
        numbers = (str(len(values)), str(solved), str(ours), *map(_shown, ends))
        lines.append((ends[0], (name, *numbers)))
    return [line for _, line in sorted(lines)]


def _shown(ratio: float) -> str:
    return "not solved" if ratio == math.inf else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"
