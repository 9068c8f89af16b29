"""Run the parts and keep their tables."""

from __future__ import annotations

import csv
import json
import time
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import machine

RESULTS = Path(__file__).parent.parent / "results" / "multitask"
PARTS = {
    "solvers": "speed",
    "yeast": "speed",
    "tiny": "speed",
    "school": "school",
    "labels": "labels",
    "size": "size",
}


@dataclass(frozen=True)
class Table:
    """What a part found: lines to read, and every measurement behind them."""

    title: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]
    remarks: list[str] = field(default_factory=list)
    measured: Any = None

    def show(self) -> None:
        print(self.title)
        widths = [max(map(len, column)) for column in zip(self.header, *self.lines)]
        for line in (self.header, *self.lines):
            print("  " + "  ".join(text.ljust(w) for text, w in zip(line, widths)).rstrip())
        for remark in self.remarks:
            print("  " + remark)


def run(names: list[str]) -> None:
    """Run the named parts, all of them without names, and write down what they find."""
    for name in names or list(PARTS):
        if name not in PARTS:
            raise SystemExit(f"part {name!r}: known are {', '.join(PARTS)}")
    for name in names or list(PARTS):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table: Table = getattr(import_module(f".{PARTS[name]}", __package__), name)()
        table.show()
        _write(name, table)
        print(f"  ({time.perf_counter() - began:.0f} s in all)", flush=True)


def _write(name: str, table: Table) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    with open(RESULTS / f"{name}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([table.header, *table.lines])
    content = {
        "part": name,
        "title": table.title,
        "remarks": table.remarks,
        "machine": machine.describe(),
        "measured": table.measured,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
