"""What each mechanism is worth: CPU time without it over CPU time with it, row by row.

    python -m benchmarks.ablation                 print a summary of ``results/ablation.csv``
    python -m benchmarks.ablation searches TEXT   measure searches whose name contains TEXT
    python -m benchmarks.ablation small TEXT      the same with the cases of a suite

A mechanism stays if its absence makes at least three rows 1.5 times slower. Rows of version 0.1.0
are about mechanisms most of which went because of them; measuring knows what is left.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

from .against import Worker, rows_of
from .store import read_table, write_table

REPEATS = 3
SLOWER = 1.5


def mechanisms() -> dict[str, Callable[[], AbstractContextManager[Any]]]:
    """Return how to switch each mechanism off."""
    from rectiline.paths import _follow
    from rectiline.solvers import NewtonFollower, Session

    return {
        "newton path": lambda: patch.object(_follow, "_FOLLOWERS", ()),
        "predicted working sets": lambda: patch.object(_follow, "_FOLLOWERS", (NewtonFollower,)),
        "restarts from a basis": lambda: patch.object(Session, "take", lambda *_: None),
    }


def measure(suite: str, text: str) -> None:
    """Measure every mechanism on the rows of a suite, and keep the ratios."""
    from rectiline import __version__

    ways = {"nothing": nullcontext, **mechanisms()}
    for label, command in rows_of(suite, text, quick=False):
        worker = Worker()
        getattr(worker, command.pop("do"))(**command)
        worker.time()  # imports, caches
        seconds = dict.fromkeys(ways, float("inf"))
        for _ in range(REPEATS):
            for name, off in ways.items():
                with off():
                    seconds[name] = min(seconds[name], worker.time()["seconds"])
        base = seconds.pop("nothing")
        place = {"version": __version__, "suite": suite, "row": label}
        found = [
            {"mechanism": name, **place, "ratio": f"{one / base:.2f}"}
            for name, one in seconds.items()
        ]
        write_table("ablation", found, ("mechanism", "version", "suite", "row"))
        print(label, *(f"{row['mechanism']} {row['ratio']}" for row in found), sep=", ", flush=True)


def show() -> None:
    """Print one line for each mechanism."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in read_table("ablation"):
        ratios.setdefault((row["version"], row["mechanism"]), []).append(float(row["ratio"]))
    for (version, name), found in ratios.items():
        slower, median = sum(one >= SLOWER for one in found), statistics.median(found)
        print(f"{version}  {name:70s} {slower:3d} of {len(found)} slower, median {median:.2f}")


if __name__ == "__main__":
    measure(sys.argv[1], "".join(sys.argv[2:3])) if len(sys.argv) > 1 else show()
