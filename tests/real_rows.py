"""Real tables cut into blocks: every source, every loss, ridge, L1 and bounds reach a proof.

Run as a script on a folder of tables (``NAME.npz`` with ``X`` and ``y``, or ``data``, ``indices``,
``indptr`` and ``shape`` of a sparse X):

    python tests/real_rows.py FOLDER --tables adult abalone --seconds 600

Dask is a source where it is installed, and Spark Connect where pysail is, by its own server. Each
problem must be solved to 1e-8, or be refused with a reason. The exit code counts the others.
"""

import argparse
import functools
import importlib.util
import itertools
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rectiline as rl
from rectiline.exceptions import UnsupportedProblemError

TOL = 1e-8
L, P, C = rl.losses, rl.penalties, rl.constraints
LOSSES = (
    L.Hinge(),
    L.SquaredHinge(),
    L.SmoothedHinge(),
    L.ModifiedHuber(),
    L.Absolute(),
    L.EpsilonInsensitive(0.1),
    L.SquaredEpsilonInsensitive(0.1),
    L.Pinball(0.9),
    L.Huber(1.0),
    L.SquaredError(),
    L.Expectile(0.8),
)


def table(path, scaled):
    """Return X and y of a file, columns and targets divided by their deviations if asked."""
    with np.load(path) as file:
        if "data" in file:
            parts = (file["data"].astype(np.float64), file["indices"], file["indptr"])
            X = sp.csr_array(parts, shape=tuple(map(int, file["shape"])))
        else:
            X = np.ascontiguousarray(file["X"], dtype=np.float64)
        y = np.asarray(file["y"], dtype=np.float64)
    if scaled:
        mean, square = X.mean(axis=0), (X * X).mean(axis=0)
        deviation = np.sqrt(np.maximum(np.ravel(square) - np.ravel(mean) ** 2, 0.0))
        unit = 1.0 / np.where(deviation > 1e-9, deviation, 1.0)
        X = sp.csr_array(X * unit) if sp.issparse(X) else X * unit
        y = y / (y.std() or 1.0)
    return X, y


def arrays(X, y, folder):
    return rl.rows.from_arrays(X, y, block_rows=-(-len(y) // 7))


def stream(X, y, folder):
    step = -(-len(y) // 7)

    def blocks():
        for start in range(0, len(y), step):
            yield X[start : start + step], y[start : start + step]

    return rl.rows.from_stream(blocks)


def npy(X, y, folder):
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return rl.rows.from_npy(folder / "X.npy", folder / "y.npy", block_rows=-(-len(y) // 7))


def parquet(X, y, folder):
    import pyarrow as pa
    from pyarrow import parquet as pq

    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(
        pa.table(columns | {"y": y}), folder / "t.parquet", row_group_size=-(-len(y) // 7)
    )
    return rl.rows.from_parquet(folder / "t.parquet", target="y")


def svmlight(X, y, folder):
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(sp.csr_matrix(X), y, str(folder / "t.svm"), zero_based=True)
    return rl.rows.from_svmlight(folder / "t.svm", n_features=X.shape[1], zero_based=True)


def dask(X, y, folder):
    import dask.array as da

    step = -(-len(y) // 7)
    X = da.from_array(X, chunks=(step, X.shape[1]), asarray=False)
    return rl.rows.from_dask(X, da.from_array(y, chunks=step))


@functools.cache
def spark_session():
    """Return a session of Spark Connect on a server that lasts as long as this process."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    address = f"sc://localhost:{server.listening_address[1]}"
    return SparkSession.builder.remote(address).getOrCreate(), server


def spark(X, y, folder):
    return parquet(X, y, folder).on(rl.rows.spark(spark_session()[0]))


SOURCES = {one.__name__: one for one in (arrays, stream, npy, parquet, svmlight, dask, spark)}
NEEDS = {"dask": "dask", "spark": "pysail"}


def terms(kind, problem, n):
    """Return penalty and constraints; bounds hold about half of the ridge answer's coefficients."""
    if kind == "ridge":
        return P.Ridge(1e-3 * n), None
    if kind == "l1":
        return P.L1(1e-2 * n), None
    ridge = rl.solve(problem(P.Ridge(1e-3 * n), None), tol=1e-4).coef
    bound = float(np.median(np.abs(ridge))) or 0.1
    return None, C.Box(-bound, bound)


def outcome(rows, y, loss, kind):
    """Return what became of one problem, and whether that is what is promised."""

    def problem(penalty, constraints):
        return rl.Problem(rows, loss=loss, penalty=penalty, constraints=constraints)

    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = rl.solve(problem(*terms(kind, problem, len(y))), tol=TOL)
    except UnsupportedProblemError as error:
        return f"refused: {error}", True
    seconds = time.process_time() - began
    text = f"{found.status} gap {found.certificate.relative_gap:.1e} passes {found.passes}"
    return f"{text} {seconds:.1f} s", found.status == "solved"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="*", help="names; all that are not too large by default")
    parser.add_argument("--sources", nargs="*", default=list(SOURCES), choices=list(SOURCES))
    parser.add_argument("--entries", type=float, default=2e7, help="of the largest table")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--raw", action="store_true", help="columns in the units of the file")
    options = parser.parse_args()
    names = options.tables or sorted(path.stem for path in options.folder.glob("*.npz"))
    began, tried, failed = time.perf_counter(), 0, 0
    for name in names:
        X, y = table(options.folder / f"{name}.npz", not options.raw)
        if X.shape[0] * X.shape[1] > options.entries and not sp.issparse(X):
            print(f"{name}: skipped, {X.shape[0]} x {X.shape[1]}")
            continue
        classes = np.where(y > np.median(y), 1.0, -1.0)
        classes = classes if np.unique(classes).size == 2 else np.where(y == y.max(), 1.0, -1.0)
        for source in options.sources:
            if sp.issparse(X) and source in ("npy", "parquet", "spark"):
                continue
            if importlib.util.find_spec(NEEDS.get(source, "numpy")) is None:
                print(f"{name} {source}: skipped, {NEEDS[source]} is not installed")
                continue
            with tempfile.TemporaryDirectory() as folder:
                for targets, of in ((y, "residual"), (classes, "margin")):
                    rows = SOURCES[source](X, targets, Path(folder))
                    losses = [loss for loss in LOSSES if loss.of == of]
                    for loss, kind in itertools.product(losses, ("ridge", "l1", "bounds")):
                        text, is_right = outcome(rows, targets, loss, kind)
                        tried, failed = tried + 1, failed + (not is_right)
                        mark = "" if is_right else "  <-- FAILED"
                        print(f"{name} {source} {loss.name} {kind}: {text}{mark}", flush=True)
                        if time.perf_counter() - began > options.seconds:
                            print(f"{tried} problems, {failed} neither solved nor refused")
                            return failed
    print(f"{tried} problems, {failed} neither solved nor refused")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 100))
