"""A real scheduler with worker processes of little memory: equal bits, lost and lying workers.

``make test-cluster`` runs it, with pysail for Spark Connect where it is installed; it takes about
two minutes on two quiet cores.
"""

import hashlib
import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import rectiline as rl
from rectiline.rows._engines import map_items

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

FILES, ROWS, D = 12, 600_000, 20
BYTES = FILES * ROWS * (D + 1) * 8  # of the rows in memory: 1.2 GB
MEMORY = 400_000_000  # of a worker, less than a third of that; a process without rows has 265 MB
NAMES = [f"c{k}" for k in range(D)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve files of numbers that compress well: small on disk, large in memory."""
    made = tmp_path_factory.mktemp("cluster")
    rng = np.random.default_rng(0)
    for number in range(FILES):
        X = np.rint(16 * rng.standard_normal((ROWS, D))) / 16
        noise = rng.standard_t(3, ROWS).astype(np.float32)
        y = (X @ np.linspace(-1, 1, D) + (1 + 0.2 * np.abs(X[:, 0])) * noise).astype(np.float32)
        columns = {name: X[:, k] for k, name in enumerate(NAMES)}
        table = pa.table({**columns, "y": y})
        pq.write_table(table, made / f"{number:02d}.parquet", row_group_size=100_000)
    assert 3 * MEMORY < BYTES
    return made


@pytest.fixture(scope="module")
def cluster():
    """Three worker processes under a scheduler of their own that does not balance their work."""
    options = {"threads_per_worker": 1, "memory_limit": MEMORY, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(n_workers=3, processes=True, **options) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


def opened(folder, executor=None):
    return rl.rows.from_parquet(folder, target="y", columns=NAMES, executor=executor)


def solved(rows, **options):
    problem = rl.Problem(rows, loss=rl.losses.Pinball(0.9))
    solution = rl.solve(problem, tol=1e-8, **options)
    assert solution.status == "solved"
    return problem, solution


def bits(solution):
    """Return a digest of coefficients, dual and certificate."""
    dual = solution.dual
    parts = (solution.coef, solution.intercept, dual.rows, dual.values, dual.split_coef)
    text = [np.asarray(part).tobytes() for part in parts]
    proof = repr((solution.certificate, solution.passes)).encode()
    return hashlib.sha256(b"".join([*text, proof])).hexdigest()


@pytest.fixture(scope="module")
def in_process(folder):
    """Return the solution of this process and the proof of it, made again from all rows."""
    problem, solution = solved(opened(folder))
    return solution, problem.certify(solution)


@pytest.fixture(scope="module")
def expected(in_process):
    return bits(in_process[0])


class Counted:
    """An executor that counts what comes back from the workers of another one."""

    def __init__(self, executor):
        self.executor, self.passes, self.bytes = executor, 0, 0

    def map(self, function, items):
        self.passes += 1
        for result in map_items(self.executor, function, items):
            self.bytes += len(pickle.dumps(result))
            yield result


def test_a_pool_of_processes(folder, expected):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        counted = Counted(pool)
        _, solution = solved(opened(folder, counted))
        assert solution.passes == 2 and counted.passes == 3  # one of them for the sample
        assert counted.bytes < 0.1 * BYTES, counted.bytes
        assert bits(solution) == expected


def bytes_between_workers(client):
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(sent.values())


def test_dask_with_three_workers(folder, cluster, in_process):
    counted, before = Counted(cluster), bytes_between_workers(cluster)
    problem, solution = solved(opened(folder, counted))
    assert solution.passes == 2 and counted.passes == 3
    assert counted.bytes < 0.1 * BYTES, counted.bytes
    assert bits(solution) == bits(in_process[0])
    assert repr(problem.certify(solution)) == repr(in_process[1])  # a pass on the same workers
    assert counted.passes == 4
    # What moves is the state of the passes, once to each other worker. No block does.
    moved = bytes_between_workers(cluster) - before
    assert moved < 0.05 * BYTES, moved


def test_partitions_of_dask_stay_where_they_are(cluster):
    da = pytest.importorskip("dask.array")
    X = da.random.default_rng(0).standard_normal((400_000, 5), chunks=(50_000, 5))
    y = X.sum(axis=1) + da.random.default_rng(1).standard_normal(400_000, chunks=50_000)
    rows = rl.rows.from_dask(X, y, client=cluster)
    with cluster.as_current():
        distributed.wait(rows.items())  # X and y of a block may be made by two workers
    places = cluster.who_has(rows.items())
    _, solution = solved(rows)
    assert solution.passes <= 3
    after = cluster.who_has(rows.items())
    moved = [key for key, workers in places.items() if set(after[key]) != set(workers)]
    assert len(places) == 8 and not moved


def test_dask_with_one_worker(folder, expected):
    options = {"threads_per_worker": 1, "memory_limit": MEMORY, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=1, processes=True, **options) as one,
        distributed.Client(one, set_as_default=False) as client,
    ):
        assert bits(solved(opened(folder, client))[1]) == expected


def test_spark_connect(folder, expected):
    server_kind = pytest.importorskip("pysail.spark").SparkConnectServer
    session_kind = pytest.importorskip("pyspark.sql").SparkSession
    server = server_kind()
    server.start(background=True)
    try:
        address = f"sc://localhost:{server.listening_address[1]}"
        session = session_kind.builder.remote(address).getOrCreate()
        assert bits(solved(opened(folder, rl.rows.spark(session)))[1]) == expected
        with pytest.raises(TypeError, match="its partitions may hold other rows"):
            rl.rows.of(session.createDataFrame([(1.0,)], "a double"))
        session.stop()  # left open, it would ask the stopped server for minutes when Python exits
    finally:
        server.stop()


class Disaster:
    """A callback that kills a worker in each pass, and stops another for five seconds."""

    def __init__(self, client):
        self.client, self.killed = client, set()

    def __call__(self, progress):
        return False

    def during_pass(self, number, done, total):
        if number in self.killed or done < total / 4:
            return
        self.killed.add(number)
        workers = self.client.run(os.getpid)
        pids = sorted(workers.values())
        os.kill(pids[0], signal.SIGKILL)
        os.kill(pids[-1], signal.SIGSTOP)
        threading.Timer(5.0, os.kill, (pids[-1], signal.SIGCONT)).start()


def test_workers_that_are_lost_or_asleep_change_no_bit(folder, cluster, expected):
    disaster = Disaster(cluster)
    _, solution = solved(opened(folder, cluster), callback=disaster)
    assert disaster.killed == {1, 2}
    assert bits(solution) == expected


class Changed:
    """An item with one entry that is not what it was."""

    def __init__(self, item):
        self.item = item

    def blocks(self):
        for place, block in enumerate(self.item.blocks()):
            y = block.y.copy()
            y[len(y) // 3] += 1e-3 * (place == 0)
            yield replace(block, y=y)


class Liar(Counted):
    """A worker that shows other rows in the second pass than in the first."""

    def map(self, function, items):
        items = list(items)
        if self.passes == 2:
            items[5] = Changed(items[5])
        return super().map(function, items)


def test_a_worker_that_lies_is_refused(folder, cluster):
    liar = Liar(cluster)
    with pytest.raises(
        RuntimeError, match=r"changed between two passes: block 5 \(from row 500000"
    ):
        solved(opened(folder, liar))
    assert liar.passes == 3


def test_a_file_that_is_replaced_between_passes_is_named(folder, cluster, tmp_path):
    for name in ("00", "01", "02"):
        os.link(folder / f"{name}.parquet", tmp_path / f"{name}.parquet")

    class Replaced(Counted):
        def map(self, function, items):
            if self.passes == 2:
                other = pq.read_table(folder / "03.parquet")
                pq.write_table(other, tmp_path / "new", row_group_size=100_000)
                os.replace(tmp_path / "new", tmp_path / "01.parquet")
            return super().map(function, items)

    with pytest.raises(RuntimeError, match=r"The file .*01\.parquet has changed since it was op"):
        solved(opened(tmp_path, Replaced(cluster)))
