"""Result files that several runs may write at the same time, and the programs that fill tables.

`run` is the common part of every ``python -m benchmarks.NAME``: options, printing,
``results/NAME.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: there, run one suite at a time
    fcntl = None  # type: ignore[assignment]

Row = dict[str, Any]
RESULTS = Path(__file__).parent / "results"
LOCK = Path(tempfile.gettempdir()) / "rectiline-benchmarks.lock"


@contextmanager
def _locked() -> Iterator[None]:
    with open(LOCK, "w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(path: Path) -> dict[str, Any]:
    """The content of a JSON file; empty if there is none."""
    content: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return content


def update(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Read, change and replace a file in one step that no other run can come between."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked():
        content = change(read(path))
        fresh = path.with_suffix(".new")
        fresh.write_text(_lines(content))
        os.replace(fresh, path)


def _lines(content: dict[str, Any]) -> str:
    """JSON with one line per entry (per case in a list of cases): small, and still diffable."""
    parts = []
    for key, value in sorted(content.items()):
        if isinstance(value, list):
            inner = ",\n".join(json.dumps(item) for item in value)
            parts.append(f"{json.dumps(key)}: [\n{inner}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read_table(name: str, path: Path | None = None) -> list[dict[str, str]]:
    """The rows of ``results/name.csv``, or of another file; none if there is no such file."""
    path = path or RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_table(
    name: str, rows: Sequence[dict[str, Any]], keys: Sequence[str], path: Path | None = None
) -> None:
    """Put rows into ``results/name.csv`` instead of those with the same values of ``keys``."""
    path = path or RESULTS / f"{name}.csv"
    with _locked():
        known = read_table(name, path)
        found = {tuple(str(row.get(key, "")) for key in keys): row for row in known}
        for row in rows:
            found[tuple(str(row.get(key, "")) for key in keys)] = {
                k: str(v) for k, v in row.items()
            }
        header = list(dict.fromkeys(key for row in found.values() for key in row))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, header, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(found.values())


def run(rows: Callable[..., Iterable[Row]], keys: Sequence[str], /, **options: Any) -> None:
    """Print and keep every row that ``rows`` yields for the options of the command line.

    Each option has a default: a flag (``False``), a number, a text, or a list of one type; a type
    (``Path``) stands for a value that must be given. ``keys`` name the columns that identify a row.
    """
    module = sys.modules["__main__"]
    name = Path(str(module.__file__)).stem
    parser = argparse.ArgumentParser(
        description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option, default in options.items():
        flag = f"--{option.replace('_', '-')}"
        if isinstance(default, type):
            parser.add_argument(option, type=default)
        elif default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, list):
            parser.add_argument(flag, nargs="+", type=type(default[0]), default=default)
        else:
            kind = str if default is None else type(default)
            parser.add_argument(flag, type=kind, default=default)
    parser.add_argument("--csv", type=Path, help=f"written instead of results/{name}.csv")
    given = vars(parser.parse_args())
    path = given.pop("csv")
    for row in rows(**given):
        print("  ".join(f"{key}={value}" for key, value in row.items()), flush=True)
        write_table(name, [row], keys, path)
