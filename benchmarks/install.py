"""What installing takes: megabytes and seconds of the wheel with each extra, to ``install.csv``.

    python -m benchmarks.install WHEEL [--extras plots cli]

Each extra is installed into a new environment by pip, without its cache. Megabytes are those of the
installed files beyond an empty environment; seconds depend on the network and on the machine.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import machine, store

EXTRAS = ["", "plots", "cli", "arrow", "dask", "spark", "formula", "all"]


def megabytes(folder: Path) -> float:
    """Return the size of the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def rows(wheel: str, extras: list[str]) -> Iterator[dict[str, Any]]:
    """Yield one row for each extra."""
    path = Path(wheel).resolve()
    about = machine.describe()
    for extra in extras:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            venv.create(folder, with_pip=True, symlinks=True)
            python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            pip = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
            wanted = f"{path}[{extra}]" if extra else str(path)
            before, began = megabytes(folder), time.perf_counter()
            done = subprocess.run([*pip, "--no-cache-dir", "--no-compile", wanted])
            seconds = time.perf_counter() - began
            if done.returncode:
                print(f"[{extra}] could not be installed", file=sys.stderr)
                continue
            row = {"extra": extra or "none", "wheel_megabytes": f"{path.stat().st_size / 1e6:.1f}"}
            row |= {"megabytes": f"{megabytes(folder) - before:.0f}", "seconds": f"{seconds:.0f}"}
            yield row | {"system": about["system"], "python": about["python"]}


if __name__ == "__main__":
    store.run(rows, ("extra",), wheel=str, extras=EXTRAS)
