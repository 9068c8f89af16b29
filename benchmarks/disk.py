"""Fit rows from disk: seconds against reading twice, memory, gaps; to ``results/disk.csv``.

    python -m benchmarks.disk [--rows 50_000_000]
    python -m benchmarks.disk --data FOLDER --steps write parquet
    python -m benchmarks.disk --rows 100_000_000 --columns 10 --steps write pool --processes 1 4 16
    python -m benchmarks.disk --steps write pool --encoding default

Writes float32 rows as Parquet into a folder that is removed at the end; with `--data` it stays, so
that the steps can be run one by one. Numbers are written without compression and dictionaries,
which is as fast to decode as copying memory, or (`--encoding default`) as pyarrow writes them.
Before each measurement the files are dropped from the page cache where the system allows it; with
`--warm` they are not, so that the disk is left out. Memory is the most that the process holds
beyond the page cache (RssAnon on Linux). The step `pool` decodes and fits on the same worker
processes, each with one thread; its memory is that of the process which drives them, and the share
of decoding is the time of reading twice over that of the fit.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

import rectiline as rl

from . import store

FILE_ROWS, GROUP_ROWS, TARGET = 10_000_000, 500_000, 1e-6
# What pyarrow's writer is told, and how sources of these files are called.
ENCODINGS: dict[str, tuple[dict[str, Any], str]] = {
    "plain": ({"compression": "none", "use_dictionary": False}, "Parquet"),
    "default": ({}, "Parquet as pyarrow writes it"),
}


def part_of(start: int, n: int, columns: int) -> tuple[Any, Any]:
    """Return heavy-tailed, heteroscedastic rows: one row group, from a row on."""
    rng = np.random.default_rng((0, start))
    X = rng.standard_normal((n, columns), dtype=np.float32)
    noise = rng.standard_t(3, n) * (1.0 + 0.5 * np.abs(X[:, 0]))
    return X, (X @ np.linspace(-1, 1, columns, dtype=np.float32) + noise).astype(np.float32)


def write_parquet(folder: Path, start: int, n: int, columns: int, encoding: str) -> None:
    """Write the rows of one Parquet file."""
    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(columns)] + [("y", pa.float32())])
    path = folder / "parquet" / f"{start // FILE_ROWS:04d}.parquet"
    with pa.parquet.ParquetWriter(path, schema, **ENCODINGS[encoding][0]) as file:
        stop = min(start + FILE_ROWS, n)
        for first in range(start, stop, GROUP_ROWS):
            X, y = part_of(first, min(GROUP_ROWS, stop - first), columns)
            file.write_table(pa.table([*X.T, y], schema=schema))


def write(folder: Path, n: int, columns: int, encoding: str) -> None:
    """Write the files, each on a process of its own."""
    (folder / "parquet").mkdir()
    with workers(min(os.cpu_count() or 1, -(-n // FILE_ROWS))) as pool:
        starts = range(0, n, FILE_ROWS)
        part = partial(write_parquet, folder, n=n, columns=columns, encoding=encoding)
        list(pool.map(part, starts))


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


def read_parquet(folder: Path) -> None:
    """Decode the Parquet files."""
    for batch in pa.dataset.dataset(folder / "parquet").to_batches():
        for column in batch.columns:
            column.to_numpy(zero_copy_only=False)


def read_group(path_and_group: tuple[Path, int]) -> None:
    """Decode one row group of a Parquet file."""
    path, group = path_and_group
    with pa.parquet.ParquetFile(path) as file:
        for column in file.read_row_group(group, use_threads=False).columns:
            column.to_numpy()


def read_on(pool: ProcessPoolExecutor, folder: Path) -> None:
    """Decode the Parquet files on worker processes."""
    files = sorted((folder / "parquet").iterdir())
    counts = [pa.parquet.read_metadata(file).num_row_groups for file in files]
    parts = [(file, k) for file, count in zip(files, counts, strict=True) for k in range(count)]
    list(pool.map(read_group, parts))


def workers(count: int) -> ProcessPoolExecutor:
    """Return a pool whose processes have started, each with one thread for decoding."""
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, spawn, pa.set_cpu_count, (1,))
    list(pool.map(time.sleep, [1.0] * count))
    return pool


def measure(
    source: str,
    folder: Path,
    is_warm: bool,
    read: Callable[[Path], None],
    make: Callable[[Path], Any],
) -> dict[str, Any]:
    """Fit one source, against reading it twice."""
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
        "columns": rows.n_features,
        "seconds": round(seconds, 1),
        "reading_twice": round(reading, 1),
        "ratio": round(seconds / reading, 2),
        "gigabytes": round(memory, 2),
        "passes": solution.passes,
        "kept": solution.rows_kept,
        "gap": f"{solution.certificate.relative_gap:.1e}",
        "status": solution.status.value,
        "rows_per_second": f"{rows.n_rows / seconds:.2e}",
        "decoding_share": round(reading / seconds, 2),
    }


def read_table(folder: Path, executor: Any = None) -> Any:
    """Return the rows of the Parquet files."""
    return rl.rows.from_parquet(folder / "parquet", target="y", executor=executor)


def measured(
    rows: int,
    columns: int,
    data: str | None,
    warm: bool,
    steps: list[str],
    processes: list[int],
    encoding: str,
) -> Iterator[dict[str, Any]]:
    """Write the files, then yield the rows of the table."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(data or made)
        folder.mkdir(exist_ok=True)
        if "write" in steps:
            write(folder, rows, columns, encoding)
        source = ENCODINGS[encoding][1]
        if "parquet" in steps:
            yield measure(source, folder, warm, read_parquet, read_table)
        for count in processes if "pool" in steps else []:
            with workers(count) as pool:
                yield measure(
                    f"{source} on {count} process{'es' if count > 1 else ''}",
                    folder,
                    warm,
                    partial(read_on, pool),
                    partial(read_table, executor=pool),
                )


if __name__ == "__main__":
    store.run(
        measured,
        ("source", "loss", "rows", "columns"),
        rows=50_000_000,
        columns=20,
        data=None,
        warm=False,
        steps=["write", "parquet", "pool"],
        processes=[2],
        encoding="plain",
    )
