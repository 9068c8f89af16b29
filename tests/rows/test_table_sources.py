"""Tables of other libraries, categories and missing values: the same rows, wherever they are."""

import numpy as np
import pytest

import rectiline as rl

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

N = 3000


def whole():
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, N))
    kind = rng.choice(["bus", "car", "tram"], N)
    y = a - 2 * b + 3 * (kind == "car") + rng.standard_t(3, N)
    return pa.table({"a": a, "b": b, "kind": kind, "y": y})


def duckdb(table, folder):
    return pytest.importorskip("duckdb").connect().from_arrow(table)


def lazy(table, folder):
    return pytest.importorskip("polars").from_arrow(table).lazy()


def filtered(table, folder):
    more = pa.concat_tables([table, table.slice(0, 500)])
    keep = np.arange(len(more)) < N
    pq.write_table(more.append_column("keep", pa.array(keep)), folder / "more.parquet")
    return ds.dataset(folder / "more.parquet").filter(ds.field("keep"))


def delta(table, folder):
    library = pytest.importorskip("deltalake")
    library.write_deltalake(str(folder / "delta"), table.slice(0, 1000))
    library.write_deltalake(str(folder / "delta"), table.slice(1000), mode="append")
    return library.DeltaTable(str(folder / "delta"))


def iceberg(table, folder):
    library = pytest.importorskip("pyiceberg.catalog.sql")
    database = f"sqlite:///{folder}/catalog.db"
    catalog = library.SqlCatalog("c", uri=database, warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    made = catalog.create_table("n.rows", schema=table.schema)
    made.append(table)
    return made


def scan(table, folder):
    more = pa.concat_tables([table, table.slice(0, 500)])
    keep = pa.array(np.arange(len(more)) < N)
    return iceberg(more.append_column("keep", keep), folder).scan(row_filter="keep = true")


SNAPSHOTS = {
    delta: "delta version 1",
    iceberg: "iceberg snapshot ",
    scan: "iceberg snapshot ",
}
COLUMNS = ["a", "b", "kind"]
NAMES = ("a", "b", "kind=bus", "kind=car", "kind=tram")


@pytest.mark.parametrize("make", [duckdb, lazy, filtered, delta, iceberg, scan])
def test_tables_of_other_libraries(tmp_path, make):
    table = whole()
    given = make(table, tmp_path)
    rows = rl.rows.of(given, target="y", columns=COLUMNS, categorical="onehot")
    assert (rows.n_rows, rows.feature_names) == (N, NAMES)
    for _ in range(2):
        blocks = list(rows)
        X, y = np.vstack([b.X for b in blocks]), np.concatenate([b.y for b in blocks])
        order = np.argsort(y)  # Delta lists its files in an order of its own
        known = np.argsort(np.asarray(table["y"]))
        np.testing.assert_array_equal(y[order], np.asarray(table["y"])[known])
        np.testing.assert_array_equal(X[order, 0], np.asarray(table["a"])[known])
        np.testing.assert_array_equal(X[order, 3], (np.asarray(table["kind"]) == "car")[known])
    assert (rows.snapshot or "").startswith(SNAPSHOTS.get(make, ""))
    if make not in (filtered, delta):
        with pytest.raises(ValueError, match="can be read once, but every pass"):
            rl.rows.of(given, target="y", columns=["a"], cache=False)


def test_a_query_of_duckdb_is_read_in_every_pass():
    connection, table = pytest.importorskip("duckdb").connect(), whole()
    connection.register("trips", table)
    query = connection.sql("select a, b, y from trips where kind = 'car'")
    model = rl.PLQRegressor("absolute").fit(rl.rows.of(query, target="y"))
    cars = table.filter(pa.compute.equal(table["kind"], "car"))
    memory = rl.PLQRegressor("absolute").fit(np.column_stack([cars["a"], cars["b"]]), cars["y"])
    assert model.certificate_.primal == pytest.approx(memory.certificate_.primal, rel=1e-5)


@pytest.mark.parametrize("kind", ["query", "lazy", "data set", "stream", "path"])
def test_estimators_say_how_rows_elsewhere_are_read(tmp_path, kind):
    table = whole().drop(["kind"])
    pq.write_table(table, tmp_path / "rows.parquet")
    made = {
        "query": lambda: duckdb(table, tmp_path),
        "lazy": lambda: lazy(table, tmp_path),
        "data set": lambda: ds.dataset(tmp_path / "rows.parquet"),
        "stream": lambda: table.to_reader(),
        "path": lambda: str(tmp_path / "rows.parquet"),
    }[kind]()
    for model in (rl.PLQRegressor(), rl.QuantileRegressor(), rl.PLQClassifier()):
        for y in (None, np.asarray(table["y"])):
            with pytest.raises(TypeError, match=r"rows are not in memory.*rows\.of\(X, target="):
                model.fit(made, y)


@pytest.mark.parametrize("dictionary", [True, False])
def test_categories(dictionary):
    table = whole()
    kind = table["kind"].combine_chunks()
    if dictionary:
        table = table.set_column(2, "kind", kind.dictionary_encode())
    levels = np.unique(np.asarray(kind))
    onehot = rl.rows.of(table, target="y", categorical="onehot")
    assert onehot.feature_names == NAMES
    expected = np.asarray(kind)[:, None] == levels
    np.testing.assert_array_equal(np.vstack([b.X for b in onehot])[:, 2:], expected)
    codes = rl.rows.of(table, target="y", categorical="codes")
    assert codes.feature_names == ("a", "b", "kind")
    found = np.vstack([b.X for b in codes])[:, 2]
    np.testing.assert_array_equal(levels[found.astype(int)], np.asarray(kind))
    by_name = rl.rows.of(table, target="y", columns=["kind=tram", "b"])
    np.testing.assert_array_equal(next(iter(by_name)).X[:, 0], expected[:, 2])
    memory = rl.PLQRegressor("absolute").fit(
        np.column_stack([table["a"], table["b"], expected]), table["y"]
    )
    model = rl.PLQRegressor("absolute").fit(onehot)
    assert model.certificate_.primal == pytest.approx(memory.certificate_.primal, rel=1e-5)
    with pytest.raises(ValueError, match=r'categorical=True: must be None, "onehot" or "codes"'):
        rl.rows.of(table, target="y", categorical=True)


def _targets(block, _):
    return block.y


@pytest.mark.parametrize("kind", ["table", "parquet", "feather", "csv"])
def test_rows_with_missing_values_are_dropped(tmp_path, kind):
    from pyarrow import csv, feather

    table, rng = whole().drop(["kind"]), np.random.default_rng(0)
    gone = rng.random((2, N)) < 0.02
    gone[:, :1000] = False  # a row group without any
    for place, name in ((1, "b"), (2, "y")):
        values = pa.array(np.asarray(table[name]), mask=gone[place - 1])
        table = table.set_column(place, name, values)
    path, given = tmp_path / f"rows.{kind}", table
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=1000)
    elif kind != "table":
        (csv.write_csv if kind == "csv" else feather.write_feather)(table, path)
    given = table if kind == "table" else path
    rows = rl.rows.of(given, target="y", missing="drop", block_rows=700)
    kept = ~gone.any(axis=0)
    assert rows.n_rows == kept.sum()
    np.testing.assert_array_equal(np.vstack([b.X for b in rows])[:, 0], table["a"].filter(kept))
    assert rows.total_weight() == kept.sum()
    part = table.filter(kept)
    np.testing.assert_array_equal(np.concatenate(list(rows.map_targets(_targets, None))), part["y"])
    model = rl.PLQRegressor("absolute").fit(rows)
    left = np.asarray(part["y"]) - model.predict(rows)
    assert model.score(rows) == pytest.approx(1 - np.mean(left**2) / np.var(part["y"]))
    with pytest.raises(ValueError, match="score needs targets y, or rows that hold them"):
        model.score(str(path))
    memory = rl.PLQRegressor("absolute").fit(np.column_stack([part["a"], part["b"]]), part["y"])
    assert model.certificate_.primal == pytest.approx(memory.certificate_.primal, rel=1e-5)
    with pytest.raises(ValueError, match=r"row \d+, column '[by]' is null"):
        list(rl.rows.of(given, target="y"))
    with pytest.raises(ValueError, match='missing=None: must be "error" or "drop"'):
        rl.rows.of(given, target="y", missing=None)


def test_odd_files_are_named(tmp_path):
    table = whole().drop(["kind"])
    pq.write_table(table, tmp_path / "0.parquet")
    (tmp_path / "readme.txt").write_text("not a table")
    assert rl.rows.from_parquet(tmp_path, target="y").n_rows == N
    pq.write_table(table.drop(["b"]), tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"The file .*1\.parquet has no column 'b'"):
        list(rl.rows.from_parquet(tmp_path, target="y"))
    rows = rl.rows.from_parquet(tmp_path / "0.parquet", target="y")
    pq.write_table(table.slice(0, 10), tmp_path / "0.parquet")
    with pytest.raises(RuntimeError, match=r"The file .*0\.parquet has changed since it was op"):
        list(rows)


def test_streams_of_tables_have_names():
    frame = whole().drop(["kind", "y"])
    for X in (frame.to_pandas(), frame):
        rows = rl.rows.from_stream(lambda X=X: [(X, np.ones(N))])
        assert rows.feature_names == ("a", "b")
    rows = rl.rows.from_stream(lambda: [(np.eye(2), np.ones(2))], feature_names=["u", "v"])
    assert rl.PLQRegressor("absolute").fit(rows).feature_names_in_.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"feature_names=\['u'\]: must be a list of 2 names"):
        rl.rows.from_stream(lambda: [(np.eye(2), np.ones(2))], feature_names=["u"])


def test_texts_of_polars_with_missing_values():
    frame = pytest.importorskip("polars").from_arrow(whole().slice(0, 20))
    frame = frame[:5].vstack(frame[5:].with_columns(kind=None).cast(frame.schema))
    rows = rl.rows.of(frame, target="y", categorical="onehot", missing="drop")
    assert rows.n_rows == 5
    assert set(rows.feature_names[:2]) == {"a", "b"}
