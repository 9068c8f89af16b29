"""What each mechanism of paths and searches is worth: CPU time of searches with it switched off.

    python -m benchmarks.ablation          print the record, ``results/ablation.csv``
    python -m benchmarks.ablation TEXT     measure the rows of ``measures`` whose name contains TEXT

The record compares mechanisms of version 0.1.0, most of which were removed because of it: one
stayed if its absence made at least three rows 1.5 times slower; lines that begin with 0.2 are about
mechanisms that came later. Measuring knows what is left.

``results/ablation_interior.csv`` records what further starts of `interior` are worth on the first
problems of `make fuzz-solve` with seed 5. Under "auto" `twofold` finishes what they would; alone
`interior` leaves 8 of 150 problems unsolved instead of 2. Problems that are too large for
`twofold` were not measured, so the starts stay.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

from .estimator_measures import _cpu, _data, _searching
from .measures import MEASURES
from .runner import RESULTS

_REPEATS = 3


def _mechanisms() -> dict[str, Callable[[], AbstractContextManager[Any]]]:
    """Return how to switch each mechanism off."""
    from rectiline.paths import _follow
    from rectiline.solvers import NewtonFollower, Session

    return {
        "nothing": nullcontext,
        "newton path": lambda: patch.object(_follow, "_FOLLOWERS", ()),
        "predicted working sets": lambda: patch.object(_follow, "_FOLLOWERS", (NewtonFollower,)),
        "batches of certificates": lambda: patch.object(_follow, "_BATCH_ENTRIES", 1),
        "restarts from a basis": lambda: patch.object(Session, "take", lambda *_: None),
    }


def measure(text: str) -> None:
    """Print CPU seconds of each search, and ratios with one mechanism switched off."""
    ways = _mechanisms()
    print(",".join(["row", *ways]))
    for row in MEASURES:
        if row.function != "search_cost" or text not in row.name:
            continue
        kind, loss, penalty, n, d = row.arguments
        X, y = _data(kind, n, d)
        search, _, _ = _searching(kind, loss, penalty)
        search.fit(X, y)
        seconds = dict.fromkeys(ways, float("inf"))
        for _ in range(_REPEATS):
            for name, off in ways.items():
                with off():
                    seconds[name] = min(seconds[name], _cpu(lambda: search.fit(X, y)))  # noqa: B023
        base = seconds.pop("nothing")
        ratios = [f"{one / base:.2f}" for one in seconds.values()]
        print(",".join([row.name.rpartition(": ")[2].replace(",", ""), f"{base:.3f}", *ratios]))


def show() -> None:
    """Print the record: one line for each mechanism."""
    with (RESULTS / "ablation.csv").open(newline="") as file:
        for name, slower, median, *_ in csv.reader(file):
            print(f"{name:55s} {slower:>26s} {median:>8s}")


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else show()
