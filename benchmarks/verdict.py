"""From rows and results to sentences: solved, near the fastest, promises kept and broken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .rows import Row, solver_times


@dataclass(frozen=True)
class Share:
    """How a suite ends at one accuracy: the summary that comes before any table."""

    suite: str
    cases: int
    solved: int
    near: int
    fastest: int

    def sentence(self, target: float, factor: float) -> str:
        return (
            f"{self.suite} at {target:.0e}: {self.solved} of {self.cases} cases solved, "
            f"{self.near} ({100 * self.near / self.cases:.1f} %) within {factor:g}x of the fastest"
        )


PROMISED = ("rehline", "quantile")  # together: all solved, 95 % within 1.5x of the fastest
TARGET, FACTOR, PART = 1e-6, 1.5, 0.95


def shares(results: list[dict[str, Any]]) -> list[Share]:
    """Per suite: how many cases we solve, and how many within a factor of the fastest solver."""
    found = []
    for result in results:
        count = near = solved = first = 0
        for record in result["cases"]:
            ours = record["definition"]["solvers"][0]
            if TARGET not in record["definition"]["targets"] or "@" in ours:
                continue
            times = solver_times(record, TARGET, "cpu")
            time = times.get(ours, math.inf)
            count += 1
            solved += math.isfinite(time)
            near += math.isfinite(time) and time <= FACTOR * min(times.values())
            first += math.isfinite(time) and time <= min(times.values())
        if count:
            found.append(Share(result["suite"], count, solved, near, first))
    return found


def verdict(found: list[Share]) -> list[str]:
    """A sentence per suite, and the promise about the suites `PROMISED` taken together."""
    lines = [share.sentence(TARGET, FACTOR) for share in found]
    both = [share for share in found if share.suite in PROMISED]
    if len(both) == len(PROMISED):
        total = Share(
            " + ".join(PROMISED),
            *(sum(getattr(s, k) for s in both) for k in ("cases", "solved", "near", "fastest")),
        )
        kept = total.solved == total.cases and total.near >= PART * total.cases
        promise = f"promised: all, and {100 * PART:.0f} %: {'ok' if kept else 'BROKEN'}"
        lines.append(f"{total.sentence(TARGET, FACTOR)} ({promise})")
    return lines


def summary(found: list[Row]) -> str:
    """The verdict in one line."""
    broken = sum(row.kept is False for row in found)
    losing = sum(row.ratio < 1 for row in found)
    failed = sum(row.ours is None for row in found)
    promised = sum(row.kept is not None for row in found)
    return (
        f"{len(found)} comparisons: slower than a rival in {losing}, not solved by us in {failed}; "
        f"{broken} of {promised} promises broken"
    )
