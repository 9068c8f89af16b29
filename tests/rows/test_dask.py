"""Rows of dask collections, on real worker processes: partitions stay there, lost ones return."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.rows import Block
from rectiline.rows._engines import Work

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as made:
        yield made


def data(n=40):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 3)), rng.standard_normal(n), rng.uniform(0, 2, n)


def sums(block, coef):
    """Stand for a pass: sums of a block, and the process in which they were made."""
    residual = block.y - block.X @ coef
    return (block.X.T @ residual, block.start, os.getpid())


def slow_sums(block, coef):
    import time

    time.sleep(0.2)
    return sums(block, coef)


def added(results):
    return sum(result[0] for result in results).tobytes()


def test_arrays_stay_on_their_workers_and_survive_the_loss_of_one(client):
    X, y, weight = data()
    lazy = da.from_array(X, chunks=(7, 2))  # columns are put together
    rows = rl.rows.from_dask(lazy, da.from_array(y, chunks=9), weight=weight, client=client)
    assert (rows.n_rows, rows.n_features, rows.has_weight) == (40, 3, True)
    coef = np.ones(3)
    here = rl.rows.from_arrays(X, y, weight, block_rows=7)
    expected = added(here.map_blocks(sums, coef))

    found = list(rows.map_blocks(sums, coef))
    assert [start for _, start, _ in found] == [0, 7, 14, 21, 28, 35]
    processes = {process for _, _, process in found}
    assert len(processes) > 1 and os.getpid() not in processes
    assert added(found) == expected
    some = np.array([0, 6, 7, 39])
    taken = rows.take(some)
    np.testing.assert_array_equal(taken.X, X[some])
    np.testing.assert_array_equal(taken.y, y[some])
    np.testing.assert_array_equal(taken.weight, weight[some])
    assert rows.total_weight() == pytest.approx(weight.sum(), rel=1e-14)

    results = rows.map_blocks(slow_sums, coef)
    found = [next(results)]
    os.kill(found[0][2], signal.SIGKILL)  # in the middle of a pass, with blocks on it
    found.extend(results)
    assert added(found) == expected
    for _ in range(4):
        assert added(rows.map_blocks(sums, coef)) == expected


def moved(array):
    """Return a copy at an odd address, as arrays have it that came in a message."""
    raw = np.empty(array.nbytes + 1, dtype=np.uint8)
    copy = raw[1:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    assert not copy.flags.aligned
    return copy


def test_sums_do_not_depend_on_where_a_block_has_been():
    X, y, _ = data(7)
    work = Work(sums, np.ones(3), 3, marks_all=True)
    # By rows and by columns: NumPy's products of the two may differ in the last bit.
    for stored, there in ((X, moved(X)), (np.asfortranarray(X), moved(X.T).T)):
        expected, _ = work.run(Block(stored, y, None, 0))
        found, _ = work.run(Block(there, moved(y), None, 0))
        assert found[0].tobytes() == expected[0].tobytes()


def test_data_frames(client):
    X, y, weight = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, w=weight)
    lazy = dd.from_pandas(frame, npartitions=4)
    rows = rl.rows.of(lazy, target="y", weight="w", client=client)
    assert rows.feature_names == ("a", "b", "c") and rows.n_rows == 40
    np.testing.assert_array_equal(np.vstack([block.X for block in rows]), X)
    np.testing.assert_array_equal(rows.take(np.array([39])).weight, weight[39:])
    frame.loc[33, "b"] = np.nan
    rows = rl.rows.from_dask(dd.from_pandas(frame, npartitions=4), target="y", client=client)
    with pytest.raises(ValueError, match=r"row 33, column 'b' is null\. Impute"):
        list(rows.map_blocks(sums, np.ones(4)))


def test_partitions_may_be_sparse():
    rng = np.random.default_rng(0)
    X = sp.random_array((3_000, 6), density=0.3, rng=rng, format="csr")
    y = X @ np.arange(6.0) + 0.1 * rng.standard_normal(3_000)
    rows = rl.rows.from_dask(da.from_array(X, chunks=(700, 6), asarray=False), y)
    found = rl.solve(rl.Problem(rows, loss="absolute"), tol=1e-8)
    memory = rl.solve(rl.Problem(X, y, loss="absolute"), tol=1e-8)
    assert rows.n_rows == 3_000 and next(iter(rows)).is_sparse
    assert found.objective == pytest.approx(memory.objective, rel=1e-7)


def test_without_a_client_partitions_are_computed_here():
    X, y, _ = data()
    rows = rl.rows.of(da.from_array(X.astype(np.float32), chunks=(15, 3)), y)
    assert rows.dtype == np.float32
    for _ in range(2):
        np.testing.assert_array_equal(np.vstack([b.X for b in rows]), X.astype(np.float32))
    assert {process for _, _, process in rows.map_blocks(sums, np.ones(3))} == {os.getpid()}
    X[20, 1] = np.inf
    rows = rl.rows.from_dask(da.from_array(X, chunks=(15, 3)), y)
    with pytest.raises(ValueError, match=r"row 20, column 1 is inf\. Impute"):
        list(rows)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y, f: rl.rows.from_dask(X, y[:3]), r"y must have one entry .* 40 rows"),
        (lambda X, y, f: rl.rows.from_dask(X, da.ones(3)), r"y must .* 40 rows of X; got shape"),
        (lambda X, y, f: rl.rows.from_dask(X[0], y), "2-D"),
        (lambda X, y, f: rl.rows.from_dask(X, target="y"), "X is an array"),
        (lambda X, y, f: rl.rows.from_dask(f, y), "must be dask series"),
        (lambda X, y, f: rl.rows.from_dask(f, target="a"), r"'s' \(.*string.*Encode categories"),
    ],
)
def test_bad_input_is_named(make, message):
    X, y, _ = data()
    frame = dd.from_pandas(pd.DataFrame({"a": y, "b": y, "s": ["x"] * 40}), npartitions=2)
    with pytest.raises(ValueError, match=message):
        make(da.from_array(X, chunks=(15, 3)), y, frame)
    with pytest.raises(TypeError, match="must be a dask array or a dask data frame; got ndarray"):
        rl.rows.from_dask(X, y)


# ---- estimators and passes on worker processes ------------------------------------------------


def table(n=6000):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 3))
    y = X @ [1.0, -2.0, 3.0] + rng.standard_t(3, n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y, "w": rng.random(n)})


def test_estimators_fit_dask_collections_where_they_are(cluster):
    frame = table()
    X, y, w = frame[["a", "b", "c"]], frame["y"], frame["w"]
    memory = rl.PLQRegressor("absolute", C=0.1, tol=1e-9).fit(X, y, sample_weight=w)
    with distributed.Client(cluster):  # found by itself
        lazy = dd.from_pandas(frame, npartitions=4)
        made = rl.PLQRegressor("absolute", C=0.1, tol=1e-9)
        made.fit(lazy[["a", "b", "c"]], lazy["y"], sample_weight=lazy["w"])
        assert list(made.feature_names_in_) == ["a", "b", "c"]
        assert made.solution_.passes <= 4
        predicted = made.predict(lazy[["a", "b", "c"]])
        parts = list(made.predict(lazy[["a", "b", "c"]], blocks=True))
        arrays = rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0)
        arrays.fit(da.from_array(X.to_numpy(), chunks=1700), da.from_array(y.to_numpy(), 1700))
    assert made.certificate_.primal == pytest.approx(memory.certificate_.primal, rel=2e-9)
    np.testing.assert_allclose(made.coef_, memory.coef_, atol=1e-5)
    np.testing.assert_allclose(predicted, memory.predict(X), atol=1e-4)
    assert len(parts) == 4
    np.testing.assert_array_equal(np.concatenate(parts), predicted)
    shares = np.mean(y.to_numpy()[:, None] <= arrays.predict(X.to_numpy()), axis=0)
    np.testing.assert_allclose(shares, [0.2, 0.8], atol=1e-3)


def test_passes_over_workers_have_the_bits_of_passes_here(client):
    frame = table()
    X, y = frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy()
    far = rl.rows.from_dask(
        da.from_array(X, chunks=(1700, 3)), da.from_array(y, 1700), client=client
    )
    parts = [slice(k, k + 1700) for k in range(0, len(y), 1700)]
    near = rl.rows.from_stream(lambda: ((X[k], y[k]) for k in parts))
    assert near.n_rows == len(y)  # as the dask rows, it knows how many rows it draws from
    near.quick_rows = lambda size: None  # nor have those first rows that are quick to read
    problems = [rl.Problem(rows, loss=rl.losses.Pinball(0.7)) for rows in (far, near)]
    one, other = (rl.solve(problem, tol=1e-9) for problem in problems)
    assert one.status == "solved" and one.passes == other.passes <= 4
    assert one.rows_kept == other.rows_kept
    np.testing.assert_array_equal(one.coef, other.coef)
    np.testing.assert_array_equal(one.dual.values, other.dual.values)
    assert one.certificate == other.certificate
    assert problems[0].certify(one) == problems[1].certify(other)
