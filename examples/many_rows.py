"""Fit quantiles of many rows in a folder of Parquet files, with a certificate about all of them.

    python examples/many_rows.py --rows 50_000_000 --folder /path/with/room

generates the files (unless the folder holds them already), fits, and prints what it took. Ten
million rows are about 0.8 GB of Parquet, which every pass decodes anew: nothing else is written.
The default is small, so that it runs in seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import rectiline as rl

COLUMNS = 20
PART = 1_000_000  # rows of a file


def write(folder: Path, n: int) -> None:
    """Write n rows with heavy-tailed errors that grow with the first column."""
    slopes = np.random.default_rng(0).standard_normal(COLUMNS).astype(np.float32)
    for part, start in enumerate(range(0, n, PART)):
        rng = np.random.default_rng((1, part))
        X = rng.standard_normal((min(PART, n - start), COLUMNS), dtype=np.float32)
        noise = rng.standard_t(3, len(X)) * (1.0 + 0.5 * np.abs(X[:, 0]))
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        table = pa.table({**columns, "y": (X @ slopes + noise).astype(np.float32)})
        pa.parquet.write_table(table, folder / f"part{part:04d}.parquet")


def main(n: int, folder: Path, levels: list[float], tol: float) -> None:
    """Generate, fit, predict; print times and certificates."""
    if not list(folder.glob("*.parquet")):
        began = time.perf_counter()
        write(folder, n)
        print(f"wrote {n:,} rows in {time.perf_counter() - began:.1f} s")
    rows = rl.rows.from_parquet(folder, target="y")
    began = time.perf_counter()
    model = rl.QuantileRegressor(quantile=levels, alpha=0, tol=tol).fit(rows)
    taken = time.perf_counter() - began
    first = model.solution_[0]
    print(f"{rows.n_rows:,} x {rows.n_features} in {taken:.1f} s: {first.passes} passes")
    for level, proof, one in zip(levels, model.certificate_, model.solution_, strict=True):
        print(f"quantile {level:g}: {one.rows_kept:,} rows kept, {proof}")
    sizes = [len(part) for part in model.predict(rows, blocks=True)]
    print(f"predicted {sum(sizes):,} rows in {len(sizes)} blocks")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Quantiles of many rows in Parquet files.")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, default=None, help="where files are or go")
    parser.add_argument("--levels", type=float, nargs="+", default=[0.5, 0.9])
    parser.add_argument("--tol", type=float, default=1e-6)
    given = parser.parse_args()
    if given.folder is None:
        with tempfile.TemporaryDirectory() as made:
            main(given.rows, Path(made), given.levels, given.tol)
    else:
        given.folder.mkdir(parents=True, exist_ok=True)
        main(given.rows, given.folder, given.levels, given.tol)
