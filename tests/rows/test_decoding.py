"""How often files are decoded: a fit reads Parquet twice, and a small part of it for its sample."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import rectiline as rl
from rectiline.rows import _tables

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N, D, FILES = 1_200_000, 4, 3


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    """A partitioned folder of Parquet files with a few row groups each."""
    folder = tmp_path_factory.mktemp("flights")
    rng = np.random.default_rng(0)
    for year in range(FILES):
        X = rng.standard_normal((N // FILES, D))
        delay = X @ np.arange(1.0, D + 1) + 0.2 * year + rng.standard_t(3, N // FILES)
        table = {**{f"c{k}": X[:, k] for k in range(D)}, "delay": delay}
        (folder / f"year={year}").mkdir()
        path = folder / f"year={year}" / "part.parquet"
        pq.write_table(pa.table(table), path, row_group_size=150_000)
    return folder


@pytest.fixture
def read(monkeypatch):
    """Return a list with the number of rows of each run of decoding, one for each item."""
    runs = []

    def counted(*arguments):
        runs.append(0)
        for block in decoded(*arguments):
            runs[-1] += block.n_rows if block.X.shape[1] else 0  # X, not the target alone
            yield block

    decoded = _tables.decoded
    monkeypatch.setattr(_tables, "decoded", counted)
    return runs


def test_the_example_of_the_readme_decodes_the_files_twice(flights, read):
    rows = rl.rows.from_parquet(flights, target="delay")
    model = rl.PLQRegressor("huber").fit(rows)
    assert model.solution_.status == "solved" and model.solution_.passes == 2
    assert 2 * N < sum(read) < 2.1 * N  # the sample comes from the first rows of row groups
    assert list(model.feature_names_in_) == [*(f"c{k}" for k in range(D)), "year"]
    scale = np.subtract(*np.percentile(np.random.default_rng(1).standard_t(3, N), [75, 25])) / 1.349
    assert model.scale_ == pytest.approx(scale, rel=0.05)


def labelled(rows_of_class):
    """Return rows with labels; the last of them has as many rows as are asked for."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300_000, 3))
    y = np.digitize(X.sum(axis=1) + rng.standard_normal(300_000), [0.0]).astype(np.int64)
    y[rng.choice(300_000, rows_of_class, replace=False)] = 2
    return X, y


DEFAULTS = {
    "regressor": rl.PLQRegressor(),
    "huber": rl.PLQRegressor("huber"),
    "quantile": rl.QuantileRegressor(),
    "quantiles": rl.QuantileRegressor(quantile=[0.1, 0.5, 0.9]),
    "distribution": rl.DistributionRegressor(),
    "classifier": rl.PLQClassifier(),
    "classes": rl.PLQClassifier(),
    "balanced": rl.PLQClassifier(class_weight="balanced"),
}


def targets_for(name):
    X, labels = labelled(0 if name == "classifier" else 100_000)
    if isinstance(DEFAULTS[name], rl.PLQClassifier):
        return X, labels
    return X, X.sum(axis=1) + np.random.default_rng(2).standard_t(3, len(X))


@pytest.mark.filterwarnings("ignore:QuantileRegressor. the penalty of the default alpha=1")
@pytest.mark.parametrize("name", DEFAULTS)
def test_every_estimator_decodes_files_twice_at_its_defaults(name, tmp_path, read):
    X, y = targets_for(name)
    table = pa.table({**{f"c{k}": X[:, k] for k in range(3)}, "y": y})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=30_000)
    clone(DEFAULTS[name]).fit(rl.rows.from_parquet(tmp_path / "t.parquet", target="y"))
    assert 2 * len(y) < sum(read) < 2.2 * len(y)


@pytest.mark.filterwarnings("ignore:QuantileRegressor. the penalty of the default alpha=1")
@pytest.mark.parametrize("name", DEFAULTS)
def test_streams_are_read_once_for_their_length_and_twice_for_the_fit(name):
    X, y = targets_for(name)
    opened = []

    def blocks():
        opened.append(0)
        for first in range(0, len(y), 20_000):
            opened[-1] += 1
            yield X[first : first + 20_000], y[first : first + 20_000]

    rows = rl.rows.from_stream(blocks)
    opened.clear()
    clone(DEFAULTS[name]).fit(rows)
    assert opened.count(15) == 3 and sum(opened) <= 3 * 15 + 1
    opened.clear()
    clone(DEFAULTS[name]).fit(rows)  # which know their length now; labels are counted again
    has_labels = isinstance(DEFAULTS[name], rl.PLQClassifier)
    assert opened.count(15) == 2 + has_labels and sum(opened) <= 15 * (2 + has_labels) + 1


def test_a_class_that_is_rare_among_the_first_rows_is_drawn_from_all(tmp_path, read):
    X, y = labelled(300)
    table = pa.table({**{f"c{k}": X[:, k] for k in range(3)}, "y": y})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=30_000)
    model = rl.PLQClassifier().fit(rl.rows.from_parquet(tmp_path / "t.parquet", target="y"))
    assert list(model.classes_) == [0, 1, 2] and 3 * len(y) < sum(read) < 3.2 * len(y)


def test_problems_and_families_decode_the_files_twice(flights, read):
    rows = rl.rows.from_parquet(flights, target="delay")
    levels = [rl.Problem(rows, loss=rl.losses.Pinball(q)) for q in (0.2, 0.8)]
    for solution in rl.solve_family(levels):
        assert solution.status == "solved" and solution.passes == 2
    assert 2 * N < sum(read) < 2.1 * N


def test_quantiles_in_one_problem_decode_the_files_twice(flights, read):
    rows = rl.rows.from_parquet(flights, target="delay", columns=["c0", "c1", "c2", "c3"])
    model = rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0, shared_slopes=True, tol=1e-6)
    assert model.fit(rows).solution_.passes == 2
    assert 2 * N < sum(read) < 2.1 * N


def test_a_filtered_data_set_is_decoded_twice(flights, read):
    ds = pytest.importorskip("pyarrow.dataset")
    data = ds.dataset(flights, format="parquet", partitioning="hive").filter(ds.field("c0") > 1.0)
    rows = rl.rows.of(data, target="delay")
    n = rows.n_rows
    assert n < N // 5 and rl.solve(rl.Problem(rows, loss="absolute")).status == "solved"
    assert 2 * n < sum(read) < 2.2 * n


def test_small_files_are_decoded_once_if_defaults_need_all_rows(tmp_path, read):
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((20_000, 3)), rng.standard_t(3, 20_000)
    y = X.sum(axis=1) + noise
    table = pa.table({**{f"c{k}": X[:, k] for k in range(3)}, "y": y})
    pq.write_table(table, tmp_path / "small.parquet")
    rows = rl.rows.from_parquet(tmp_path / "small.parquet", target="y")
    model, memory = rl.PLQRegressor("huber").fit(rows), rl.PLQRegressor("huber").fit(X, y)
    assert read == [20_000]
    assert model.scale_ == pytest.approx(memory.scale_, rel=1e-6)
    np.testing.assert_allclose(model.coef_, memory.coef_, rtol=1e-4)


@pytest.mark.parametrize("key", ["y", "c0"])
def test_files_sorted_within_row_groups_are_solved(tmp_path, key):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 3))
    columns = {
        **{f"c{k}": X[:, k] for k in range(3)},
        "y": X.sum(axis=1) + rng.standard_t(3, 400_000),
    }
    order = np.argsort(columns[key])
    pq.write_table(pa.table({n: c[order] for n, c in columns.items()}), tmp_path / "sorted.parquet")
    rows = rl.rows.from_parquet(tmp_path / "sorted.parquet", target="y")
    solution = rl.solve(rl.Problem(rows, loss=rl.losses.Pinball(0.9)))
    # A sample of all rows is drawn after the first pass.
    assert solution.status == "solved" and solution.passes <= 3


def test_parts_of_a_block_of_a_table_can_be_replaced():
    table = pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0], "y": [0.0, 1.0]})
    block = next(iter(rl.rows.of(table, target="y")))
    other = replace(block, y=block.y + 1.0)
    assert other.y.tolist() == [1.0, 2.0] and other.X.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert replace(block, X=2.0 * block.X).X.tolist() == [[2.0, 6.0], [4.0, 8.0]]
