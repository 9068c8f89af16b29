"""Fit rows from disk: seconds against reading twice, memory, gaps; to ``results/disk.csv``.

    python -m benchmarks.disk [--rows 50_000_000]
    python -m benchmarks.disk --data FOLDER --steps write
    python -m benchmarks.disk --data FOLDER --steps map parquet memory

Writes a float32 memory map of 20 columns, and the same rows as Parquet, into a folder that is
removed at the end; with `--data` it stays, so that the steps can be run one by one. Before each
measurement the files are dropped from the page cache where the system allows it; with `--warm`
they are not, so that the disk is left out. Memory is the most that the process holds beyond the
page cache (RssAnon on Linux). The last row is 10,000,000 x 11 in memory, the size for which fqr
publishes 20.3 s.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rectiline as rl

from . import tables

COLUMNS, PART, TARGET = 20, 1_000_000, 1e-6
STEPS = ["write", "map", "parquet", "memory"]
WARM = False
LOSSES = {"pinball": rl.losses.Pinball(0.9), "absolute": rl.losses.Absolute()}


def rows_of(part: int, n: int, d: int) -> tuple[Any, Any]:
    """Return heavy-tailed, heteroscedastic rows; equal parts have equal rows."""
    rng = np.random.default_rng((0, part))
    X = rng.standard_normal((n, d), dtype=np.float32)
    noise = rng.standard_t(3, n) * (1.0 + 0.5 * np.abs(X[:, 0]))
    return X, (X @ np.linspace(-1, 1, d, dtype=np.float32) + noise).astype(np.float32)


def write(folder: Path, n: int) -> None:
    """Write the memory maps and the Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet

    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n, COLUMNS))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.float32, (n,))
    (folder / "parquet").mkdir()
    for part, start in enumerate(range(0, n, PART)):
        some = slice(start, min(start + PART, n))
        X[some], y[some] = rows_of(part, some.stop - start, COLUMNS)
        table = pa.table({**{f"x{j}": X[some, j] for j in range(COLUMNS)}, "y": y[some]})
        path = folder / "parquet" / f"{part:04d}.parquet"
        # Random numbers: neither a dictionary nor compression makes them smaller.
        pa.parquet.write_table(table, path, compression="none", use_dictionary=False)
    X.flush()
    y.flush()


def forget(folder: Path) -> None:
    """Drop files from the page cache, and memory that pyarrow holds for later."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()
    for path in [] if WARM else folder.rglob("*"):
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
    """Read the memory maps twice."""
    for _ in range(2):
        for name in ("X.npy", "y.npy"):
            with (folder / name).open("rb", buffering=0) as file:
                while file.read(1 << 25):
                    pass


def read_parquet(folder: Path) -> None:
    """Decode the Parquet files twice."""
    import pyarrow.dataset

    for _ in range(2):
        for batch in pyarrow.dataset.dataset(folder / "parquet").to_batches():
            for column in batch.columns:
                column.to_numpy(zero_copy_only=False)


def fit(rows: Any, loss: str) -> Any:
    """Return the certified answer on the rows."""
    n = rows.n_rows
    problem = rl.Problem(rows, loss=LOSSES[loss], penalty=rl.penalties.Ridge(n))
    return rl.solve(problem, tol=TARGET)


def row_of(source: str, loss: str, rows: int, found: Any, reading: float) -> dict[str, Any]:
    """Return one row of the table."""
    solution, seconds, memory = found
    return {
        "source": source,
        "loss": loss,
        "rows": rows,
        "columns": len(solution.coef),
        "seconds": round(seconds, 1),
        "reading_twice": round(reading, 1),
        "ratio": round(seconds / reading, 2),
        "gigabytes": round(memory, 2),
        "passes": solution.passes,
        "kept": solution.rows_kept,
        "gap": f"{solution.certificate.relative_gap:.1e}",
        "status": solution.status.value,
    }


def measure_map(folder: Path) -> Iterator[dict[str, Any]]:
    """Fit the memory map, against reading it twice."""
    forget(folder)
    _, reading, _ = timed(lambda: read_arrays(folder))
    for loss in LOSSES:
        forget(folder)
        rows = rl.rows.from_npy(folder / "X.npy", folder / "y.npy")
        found = timed(lambda rows=rows, loss=loss: fit(rows, loss))
        yield row_of("memory map", loss, rows.n_rows, found, reading)


def measure_parquet(folder: Path) -> Iterator[dict[str, Any]]:
    """Fit the Parquet files, against decoding them twice."""
    forget(folder)
    _, decoding, _ = timed(lambda: read_parquet(folder))
    forget(folder)
    rows = rl.rows.from_parquet(folder / "parquet", target="y")
    yield row_of("Parquet", "pinball", rows.n_rows, timed(lambda: fit(rows, "pinball")), decoding)


def measure_memory(m: int) -> Iterator[dict[str, Any]]:
    """Fit rows in memory, the size for which fqr publishes a time."""
    X, y = rows_of(0, m, 11)
    X, y = X.astype(np.float64), y.astype(np.float64)
    problem = rl.Problem(X, y, loss=rl.losses.Absolute(), penalty=None)
    found = timed(lambda: rl.solve(problem, "passes", tol=TARGET))
    yield row_of("memory", "absolute", m, found, np.nan)


def measured(rows: int, data: str | None, warm: bool, steps: list[str]) -> Iterator[dict[str, Any]]:
    """Write the files, then yield the rows of the table."""
    global WARM
    WARM = warm
    with tempfile.TemporaryDirectory() as made:
        folder = Path(data or made)
        folder.mkdir(exist_ok=True)
        if "write" in steps:
            write(folder, rows)
        if "map" in steps:
            yield from measure_map(folder)
        if "parquet" in steps:
            yield from measure_parquet(folder)
        if "memory" in steps:
            yield from measure_memory(min(10_000_000, rows))


if __name__ == "__main__":
    keys = ("source", "loss", "rows")
    tables.run(measured, keys, rows=50_000_000, data=None, warm=False, steps=STEPS)
