"""Fit rows from disk: seconds against reading twice, memory, gaps; to ``results/disk.csv``.

    python -m benchmarks.disk [--rows 50_000_000]
    python -m benchmarks.disk --data FOLDER --steps write
    python -m benchmarks.disk --data FOLDER --steps map parquet pool

Writes a float32 memory map of 20 columns, and the same rows as Parquet, into a folder that is
removed at the end; with `--data` it stays, so that the steps can be run one by one. Before each
measurement the files are dropped from the page cache where the system allows it; with `--warm`
they are not, so that the disk is left out. Memory is the most that the process holds beyond the
page cache (RssAnon on Linux). The step `pool` decodes and fits on the same two worker processes;
its memory is that of the process which drives them.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

import rectiline as rl

from . import store

COLUMNS, PART, TARGET = 20, 1_000_000, 1e-6


def write(folder: Path, n: int) -> None:
    """Write heavy-tailed, heteroscedastic rows as memory maps and as Parquet files."""
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n, COLUMNS))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.float32, (n,))
    (folder / "parquet").mkdir()
    for part, start in enumerate(range(0, n, PART)):
        rng, some = np.random.default_rng((0, part)), slice(start, min(start + PART, n))
        X[some] = rng.standard_normal((some.stop - start, COLUMNS), dtype=np.float32)
        noise = rng.standard_t(3, some.stop - start) * (1.0 + 0.5 * np.abs(X[some, 0]))
        y[some] = X[some] @ np.linspace(-1, 1, COLUMNS, dtype=np.float32) + noise
        table = pa.table({**{f"x{j}": X[some, j] for j in range(COLUMNS)}, "y": y[some]})
        path = folder / "parquet" / f"{part:04d}.parquet"
        # Random numbers: neither a dictionary nor compression makes them smaller.
        pa.parquet.write_table(table, path, compression="none", use_dictionary=False)
    X.flush()
    y.flush()


def forget(folder: Path, is_warm: bool) -> None:
    """Drop files from the page cache, and memory that pyarrow holds for later."""
    pa.default_memory_pool().release_unused()
    for path in [] if is_warm else folder.rglob("*"):
        if path.is_file() and hasattr(os, "posix_fadvise"):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def own_memory() -> float:
    """Return the gigabytes that the process holds beyond the page cache; NaN if unknown."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return float(line.split()[1]) / 1e6
    except OSError:
        pass
    return float("nan")


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what the work returns, its seconds, and the most memory held, in gigabytes."""
    most, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    try:
        found = work()
    finally:
        seconds = time.perf_counter() - began
        done.set()
        watcher.join()
    return found, seconds, most[0]


def read_arrays(folder: Path) -> None:
    """Read the memory maps."""
    for name in ("X.npy", "y.npy"):
        with (folder / name).open("rb", buffering=0) as file:
            while file.read(1 << 25):
                pass


def read_parquet(path: Path) -> None:
    """Decode a Parquet file, or those of a folder."""
    for batch in pa.dataset.dataset(path).to_batches():
        for column in batch.columns:
            column.to_numpy(zero_copy_only=False)


@cache
def two_processes() -> ProcessPoolExecutor:
    """Return a pool whose processes have started."""
    pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    list(pool.map(time.sleep, [1.0, 1.0]))
    return pool


def read_on_pool(folder: Path) -> None:
    """Decode the Parquet files on two processes."""
    list(two_processes().map(read_parquet, sorted((folder / "parquet").iterdir())))


def on_pool(folder: Path) -> Any:
    """Return the rows of the Parquet files, with passes on two processes."""
    return rl.rows.from_parquet(folder / "parquet", target="y", executor=two_processes())


SOURCES: dict[str, tuple[str, Callable[[Path], None], Callable[[Path], Any]]] = {
    "map": ("memory map", read_arrays, lambda f: rl.rows.from_npy(f / "X.npy", f / "y.npy")),
    "parquet": (
        "Parquet",
        lambda f: read_parquet(f / "parquet"),
        lambda f: rl.rows.from_parquet(f / "parquet", target="y"),
    ),
    "pool": ("Parquet on two processes", read_on_pool, on_pool),
}


def measure(folder: Path, step: str, is_warm: bool) -> dict[str, Any]:
    """Fit one source, against reading it twice."""
    source, read, make = SOURCES[step]
    forget(folder, is_warm)
    _, reading, _ = timed(lambda: [read(folder), read(folder)])
    forget(folder, is_warm)
    rows = make(folder)
    loss, penalty = rl.losses.Pinball(0.9), rl.penalties.Ridge(rows.n_rows)
    problem = rl.Problem(rows, loss=loss, penalty=penalty)
    solution, seconds, memory = timed(lambda: rl.solve(problem, tol=TARGET))
    return {
        "source": source,
        "loss": "pinball",
        "rows": rows.n_rows,
        "columns": COLUMNS,
        "seconds": round(seconds, 1),
        "reading_twice": round(reading, 1),
        "ratio": round(seconds / reading, 2),
        "gigabytes": round(memory, 2),
        "passes": solution.passes,
        "kept": solution.rows_kept,
        "gap": f"{solution.certificate.relative_gap:.1e}",
        "status": solution.status.value,
    }


def measured(rows: int, data: str | None, warm: bool, steps: list[str]) -> Iterator[dict[str, Any]]:
    """Write the files, then yield the rows of the table."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(data or made)
        folder.mkdir(exist_ok=True)
        if "write" in steps:
            write(folder, rows)
        for step in SOURCES:
            if step in steps:
                yield measure(folder, step, warm)


if __name__ == "__main__":
    keys, steps = ("source", "loss", "rows"), ["write", *SOURCES]
    store.run(measured, keys, rows=50_000_000, data=None, warm=False, steps=steps)
