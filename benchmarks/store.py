"""Result files that several runs may write at the same time."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: there, run one suite at a time
    fcntl = None  # type: ignore[assignment]


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
