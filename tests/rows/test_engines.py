"""Passes on executors: equal bits everywhere, sources that workers open, and what is refused."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import rectiline as rl

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N, D = 30_000, 3


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as made:
        yield made


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write one table as Parquet, .npy and svmlight files."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, D)).round(6)
    y = (X @ [1.0, -2.0, 0.5] + rng.standard_t(3, N)).round(6)
    columns = {f"c{k}": X[:, k] for k in range(D)}
    pq.write_table(pa.table({**columns, "y": y}), folder / "rows.parquet", row_group_size=4000)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    dump_svmlight_file(X, y, str(folder / "rows.svm"))
    return folder


def opened(kind, folder, executor):
    if kind == "parquet":
        return rl.rows.from_parquet(
            folder / "rows.parquet", "y", block_rows=5000, executor=executor
        )
    if kind == "svmlight":
        return rl.rows.from_svmlight(folder / "rows.svm", block_rows=5000, executor=executor)
    X, y = folder / "X.npy", folder / "y.npy"
    if kind == "npy":
        return rl.rows.from_npy(X, y, block_rows=5000, executor=executor)
    return rl.rows.from_arrays(np.load(X), np.load(y), block_rows=5000, executor=executor)


def process(block, _):
    return os.getpid()


@pytest.mark.parametrize("kind", ["parquet", "npy", "svmlight", "arrays"])
def test_a_pool_of_processes_has_the_bits_of_this_process(kind, files, pool):
    here, there = (opened(kind, files, executor) for executor in (None, pool))
    problems = [rl.Problem(rows, loss=rl.losses.Pinball(0.8)) for rows in (here, there)]
    one, other = (rl.solve(problem, tol=1e-9) for problem in problems)
    assert one.status == "solved" and one.passes == other.passes
    np.testing.assert_array_equal(one.coef, other.coef)
    np.testing.assert_array_equal(one.dual.values, other.dual.values)
    assert one.certificate == other.certificate
    assert problems[0].certify(one) == problems[1].certify(other)
    assert os.getpid() not in set(there.map_blocks(process, None))
    model = rl.PLQRegressor("absolute").fit(there)
    np.testing.assert_array_equal(model.predict(there), model.predict(here))


def test_any_ordered_map_will_do(files):
    class Backwards:
        """As an engine may do it: results are made in another order than they are returned."""

        def map(self, function, items):
            return list(reversed([function(item) for item in reversed(list(items))]))

    expected = rl.solve(rl.Problem(opened("parquet", files, None), loss="absolute"))
    with ThreadPoolExecutor(2) as threads:
        for executor in (Backwards(), threads):
            rows = opened("parquet", files, executor)
            found = rl.solve(rl.Problem(rows, loss="absolute"))
            np.testing.assert_array_equal(found.coef, expected.coef)


def test_executors_and_streams_that_do_not_fit_are_refused(files):
    with pytest.raises(TypeError, match=r"executor=3: must be None or have a method map"):
        opened("parquet", files, 3)
    rows = rl.rows.from_stream(lambda: [(np.eye(2), np.ones(2))])
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match="come in one stream"):
        rows.on(threads)

    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    with pytest.raises(TypeError, match="Spark data frame: its partitions may hold other rows"):
        rl.rows.of(frame)


def test_a_change_anywhere_in_a_block_is_noticed(files, tmp_path):
    X = np.load(files / "X.npy")
    np.save(tmp_path / "X.npy", X)
    rows = rl.rows.from_npy(tmp_path / "X.npy", files / "y.npy", block_rows=5000)
    list(rows)
    status = os.stat(tmp_path / "X.npy")
    stored = np.load(tmp_path / "X.npy", mmap_mode="r+")
    stored[7777, 1] += 1e-9  # one entry, in the middle of a block
    stored.flush()
    os.utime(tmp_path / "X.npy", ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(RuntimeError, match=r"block 1 \(from row 5000 on\) is not what it was"):
        list(rows)
