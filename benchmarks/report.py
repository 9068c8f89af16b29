"""The table of ratios, losing cases first or last."""

from __future__ import annotations

from typing import Any

from .rows import Row, rows
from .verdict import shares, summary, verdict

HEADER = (
    "ratio",
    "promise",
    "case",
    "target",
    "ours s",
    "spread",
    "best rival",
    "its s",
    "b=0 off",
)


def cells(row: Row) -> tuple[str, ...]:
    """One line of the table as text."""
    if row.ours is None:
        ratio = "WE FAIL"
    elif row.theirs is None:
        stopped = "inf" if row.at_least is None else f">{row.ratio:.0f}x"
        ratio = stopped if row.rivals_reached else "alone"
    else:
        ratio = f"{row.ratio:.2f}x"
    promise = "" if row.need is None else f">= {row.need:.3g}x"
    if row.limit is not None:
        promise = f"{promise} <= {row.limit:g} s".strip()
    if promise:
        promise += " ok" if row.kept else " BROKEN"
    rival = row.rival if row.theirs is not None else (row.rivals_reached or "no rival can")
    return (
        ratio,
        promise,
        row.case + ("" if row.honest else " [BOUND CONTRADICTED]") + _source(row.origin),
        f"{row.target:.0e}",
        row.ours_reached[:60] if row.ours is None else f"{row.ours:.4g}",
        f"{100 * row.spread:.0f}%",
        rival,
        "-" if row.theirs is None else f"{row.theirs:.4g}",
        f"{row.zero:.1e}",
    )


def _source(origin: str) -> str:
    return f" [{origin}]" if origin not in ("synthetic", "file", "scikit-learn") else ""


def print_table(results: list[dict[str, Any]], worst_last: bool = False) -> int:
    """Print the ratios, losing cases first (or last), then the verdict; count broken promises."""
    found = sorted(rows(results), key=lambda row: row.badness, reverse=worst_last)
    table = [HEADER, *(cells(row) for row in found)]
    widths = [max(len(line[k]) for line in table) for k in range(len(HEADER))]
    for line in table:
        print(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        )
    print("\n".join(["", *verdict(shares(results)), summary(found)]))
    broken = [row for row in found if row.kept is False]
    for row in broken:
        print(f"BROKEN: {row.case} at {row.target:.0e}: {cells(row)[0]}, promised {cells(row)[1]}")
    return len(broken)
