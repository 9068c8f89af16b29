"""Rows of files and tables: equal to the arrays in memory, read again, and refused when broken."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import rectiline as rl
from rectiline.rows import _tables

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
NAMES = ("a", "b", "c")


def data(n=23, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)).astype(dtype)
    return X, rng.standard_normal(n), rng.uniform(0, 2, n)


def table(X, y, weight, **more):
    columns = dict(zip(NAMES, X.T, strict=True))
    return pa.table({**columns, "y": y, "w": weight, **more})


def check(rows, X, y, weight, names=None):
    """Read the rows twice, and some of them alone."""
    some = np.array([0, 4, 5, 22])
    for _ in range(2):
        blocks = list(rows)
        parts = [b.X.toarray() if b.is_sparse else b.X for b in blocks]
        np.testing.assert_array_equal(np.vstack(parts), X)
        np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), y)
        taken = rows.take(some)
        picked = taken.X.toarray() if taken.is_sparse else taken.X
        np.testing.assert_array_equal(picked, X[some])
        np.testing.assert_array_equal(taken.y, y[some])
        if weight is not None:
            np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), weight)
            np.testing.assert_array_equal(taken.weight, weight[some])
    assert (rows.n_rows, rows.n_features) == X.shape
    assert rows.feature_names == names
    assert rows.has_weight == (weight is not None)
    assert max(b.n_rows for b in blocks) <= 5


def saved(folder, name, array):
    np.save(folder / f"{name}.npy", array)
    return folder / f"{name}.npy"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_npy_files(tmp_path, dtype):
    X, y, weight = data(dtype=dtype)
    parts = [saved(tmp_path, k, X[a:b]) for k, (a, b) in enumerate([(0, 7), (7, 8), (8, 23)])]
    y_parts = [saved(tmp_path, "y0", y[:11]), str(saved(tmp_path, "y1", y[11:]))]
    rows = rl.rows.from_npy(parts, y_parts, saved(tmp_path, "w", weight), block_rows=5)
    check(rows, X, y, weight)
    assert rows.dtype == dtype and rows.has_random_access
    assert [b.n_rows for b in rows] == [5, 2, 1, 5, 5, 5]  # blocks end where files end
    assert not next(iter(rows)).X.flags.owndata  # a view of the map
    one = saved(tmp_path, "X", np.asfortranarray(X))
    check(rl.rows.of(one, y, weight, block_rows=5), X, y, weight)


def test_npy_files_that_do_not_fit_are_refused(tmp_path):
    X, y, _ = data()
    good, names = saved(tmp_path, "X", X), saved(tmp_path, "names", np.array([["a"]]))
    with pytest.raises(ValueError, match=r"y must have one entry .* 23 rows of X; got shape .22,"):
        rl.rows.from_npy(good, saved(tmp_path, "y", y[1:]))
    with pytest.raises(ValueError, match=r"names\.npy\) must be a 2-D array of real numbers"):
        rl.rows.from_npy(names, y)
    with pytest.raises(ValueError, match=r"as many columns as the first one, 3; got shape \(23, 2"):
        rl.rows.from_npy([good, saved(tmp_path, "other", X[:, :2])])
    rows = rl.rows.from_npy(good, y)
    list(rows)
    saved(tmp_path, "X", X[:9])  # cut: reading on would end the process
    with pytest.raises(RuntimeError, match="has changed since it was opened"):
        list(rows)


@pytest.mark.parametrize("cache", ["auto", "folder", False])
@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_text(tmp_path, cache, zero_based):
    X, y, _ = data()
    X, y = np.where(X > 0, X.round(3), 0), y.round(3)  # the text has 16 digits
    X[5] = 0  # a row without values
    X[0, 0] = 2.5
    files = [tmp_path / "1.svm", tmp_path / "2.svm"]
    for path, some in zip(files, (slice(0, 9), slice(9, 23)), strict=True):
        dump_svmlight_file(X[some], y[some], str(path), zero_based=zero_based)
    lines = files[1].read_text().splitlines()  # long comments: the text is parsed in three ranges
    files[1].write_text("".join(f"{line} # {'-' * 1_500_000}\n" for line in lines))
    cache = tmp_path / "kept" if cache == "folder" else cache
    rows = rl.rows.from_svmlight(files, block_rows=5, cache=cache)
    check(rows, X, y, None)
    assert sp.issparse(next(iter(rows)).X) and (rows.cache is None) == (cache is False)
    wide = rl.rows.from_svmlight(files, n_features=9, block_rows=5, cache=cache)
    assert wide.n_features == 9 and next(iter(wide)).X.shape == (5, 9)
    with pytest.raises(ValueError, match="n_features=2, but"):
        rl.rows.from_svmlight(files, n_features=2, cache=cache)


def test_broken_svmlight_text_is_refused(tmp_path):
    path = tmp_path / "x.svm"
    path.write_text("1 1:2 2:nan\n")
    with pytest.raises(ValueError, match=r"row 0, column 1 is nan\. Impute"):
        list(rl.rows.from_svmlight(path))
    path.write_text("1 1:2 word\n")
    with pytest.raises(ValueError, match=r"x\.svm is not svmlight text between the bytes 0 and"):
        rl.rows.from_svmlight(path)


def write(folder, kind, whole):
    from pyarrow import csv, feather, parquet

    for name, part in (("0", whole.slice(0, 9)), ("1", whole.slice(9))):
        path = folder / f"{name}.{kind}"
        if kind == "parquet":
            parquet.write_table(part, path, row_group_size=4)
        elif kind == "csv":
            csv.write_csv(part, path)
        else:
            feather.write_feather(part, path)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("cache", ["auto", "folder", False])
def test_files_of_tables(tmp_path, kind, cache):
    X, y, weight = data()
    write(tmp_path, kind, table(X, y, weight))
    cache = tmp_path / "kept" if cache == "folder" else cache
    sources = [f"{tmp_path}/*.{kind}", [tmp_path / f"0.{kind}", tmp_path / f"1.{kind}"]]
    for paths in sources:
        rows = rl.rows.from_parquet(paths, target="y", weight="w", block_rows=5, cache=cache)
        check(rows, X, y, weight, NAMES)
        has_cache = kind == "csv" if cache == "auto" else cache is not False
        assert (rows.cache is not None) == has_cache
        # Blocks end where files or row groups end; a cache is one file.
        expected = [4, 4, 1, 4, 4, 4, 2] if kind == "parquet" else [5, 4, 5, 5, 4]
        expected = [5, 5, 5, 5, 3] if has_cache else expected
        assert [b.n_rows for b in rows] == expected
    some = rl.rows.from_parquet(sources[0], target="y", columns=["c", "a"], cache=False)
    np.testing.assert_array_equal(np.vstack([b.X for b in some]), X[:, [2, 0]])


def test_labels_are_counted_without_other_columns(tmp_path, monkeypatch):
    X, y, weight = data()
    write(tmp_path, "parquet", table(X, (y > 0).astype(float), weight))
    rows = rl.rows.from_parquet(f"{tmp_path}/*.parquet", "y", "w", block_rows=5)
    opened, batches = [], _tables.TableItem.batches

    def noted(item, names, size):
        opened.append(list(names))
        return batches(item, names, size)

    monkeypatch.setattr(_tables.TableItem, "batches", noted)
    files, whole = len(rows.items()), [*NAMES, "y", "w"]
    targets = [["y", "w"]] * files
    assert rows.total_weight() == pytest.approx(weight.sum()) and opened == targets
    model = rl.PLQClassifier("hinge").fit(rows)
    assert opened[files : 2 * files] == targets
    assert opened[2 * files :] == [whole] * (len(opened) - 2 * files)
    in_memory = rl.PLQClassifier("hinge").fit(X, y > 0, sample_weight=weight)
    assert model.certificate_.primal == pytest.approx(in_memory.certificate_.primal, rel=1e-5)


def test_a_partitioned_folder(tmp_path):
    X, y, _ = data()
    whole = pa.table({"a": X[:, 0], "y": y, "year": np.repeat([2023, 2024], [10, 13])})
    part = ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive")
    ds.write_dataset(whole, tmp_path / "t", format="parquet", partitioning=part)
    rows = rl.rows.from_parquet(tmp_path / "t", target="y", block_rows=5)
    check(rows, np.column_stack([X[:, 0], whole["year"]]), y, None, ("a", "year"))


def test_a_named_cache_is_used_again_only_for_the_same_files(tmp_path, monkeypatch):
    X, y, weight = data()
    write(tmp_path, "parquet", table(X, y, weight))
    written, write_dataset = [], ds.write_dataset

    def noted(*arguments, **options):
        written.append(1)
        return write_dataset(*arguments, **options)

    monkeypatch.setattr(ds, "write_dataset", noted)

    def rows():
        made = rl.rows.from_parquet(f"{tmp_path}/*.parquet", "y", "w", cache=tmp_path / "kept")
        return np.vstack([block.X for block in made])

    for _ in range(2):
        np.testing.assert_array_equal(rows(), X)
    assert len(written) == 1
    file = tmp_path / "kept" / "rows-0.parquet"
    file.write_bytes(file.read_bytes()[:-8])  # cut off
    np.testing.assert_array_equal(rows(), X)
    assert len(written) == 2
    write(tmp_path, "parquet", table(2 * X, y, weight))
    np.testing.assert_array_equal(rows(), 2 * X)
    assert len(written) == 3


def test_a_temporary_cache_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    write(tmp_path, "csv", table(*data()))
    rows = rl.rows.from_parquet(f"{tmp_path}/*.csv", target="y")
    list(rows)
    assert list((tmp_path / "tmp").glob("*/rows-0.parquet"))
    del rows
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "dataset", "reader"])
def test_tables_in_memory(kind):
    X, y, weight = data()
    whole = table(X, y, weight)
    if kind == "pandas":
        given = whole.to_pandas().set_index(np.arange(100, 123))  # an index is no feature
    elif kind == "polars":
        given = pytest.importorskip("polars").from_arrow(whole)
    else:
        given = {"pyarrow": whole, "dataset": ds.dataset(whole), "reader": whole.to_reader(4)}[kind]
    rows = rl.rows.of(given, target="y", weight="w", block_rows=5)
    check(rows, X, y, weight, NAMES)


def test_tables_beside_arrays_and_streams_without_cache():
    X, y, weight = data()
    whole = table(X, y, weight).select(NAMES)
    check(rl.rows.of(whole, y, weight, block_rows=5), X, y, weight, NAMES)
    assert not rl.rows.of(whole).has_target
    with pytest.raises(ValueError, match="can be read once, but every pass"):
        rl.rows.of(whole.to_reader(), cache=False)
    with pytest.raises(ValueError, match=r"y must have one entry .* 23 rows"):
        rl.rows.of(whole, y[1:])


def test_types_of_columns():
    X, y, weight = data()
    whole = table(X.astype(np.float32), y, weight)
    assert rl.rows.of(whole, target="y", weight="w").dtype == np.float32
    more = {"flag": y > 0, "count": pa.array(range(23), pa.int16())}
    rows = rl.rows.of(whole.append_column("flag", pa.array(y > 0)), target="y", weight="w")
    assert rows.dtype == np.float64
    block = next(iter(rl.rows.of(pa.table({**more, "y": y}), target="y")))
    np.testing.assert_array_equal(block.X, np.column_stack([y > 0, np.arange(23)]))
    labels = np.where(y > 0, "up", "down")
    whole = pa.table({"a": X[:, 0], "y": pa.array(labels).dictionary_encode()})
    for given in (whole, whole.to_reader(7)):
        check(rl.rows.of(given, target="y", block_rows=5), X[:, :1], labels, None, ("a",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"s": ["x"] * 23}, r"do not hold numbers: 's' \(string\)\. Encode categories"),
        ({"s": pa.array(["x"] * 23).dictionary_encode()}, r"'s' \(dictionary"),
        ({"s": pa.array([None] * 12 + [1.0] * 11)}, r"row 0, column 's' is null\. Impute"),
        ({"s": [1] * 22 + [None]}, r"row 22, column 's' is null\. Impute"),
        ({"s": [1.0] * 17 + [np.inf] * 6}, r"X .* row 17, column 's' is inf\. Impute"),
        ({"y": [1.0] * 22 + [np.nan]}, r"y contains NaN or infinity: row 22 is nan\. Impute"),
        ({"y": ["x"] * 22 + [None]}, r"row 22, column 'y' is null"),
    ],
)
def test_bad_columns_are_named(change, message):
    X, y, _ = data()
    whole = pa.table({"a": X[:, 0], "y": y, **change})
    with pytest.raises(ValueError, match=message):
        list(rl.rows.of(whole, target="y", block_rows=5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "target: the table has no column 'z'; it has 'a', 'b', 'c', 'y', 'w'"),
        ({"target": "y", "columns": ["y", "a"]}, "must not hold the target"),
        ({"target": "y", "columns": []}, "at least one column"),
        ({"target": "y", "cache": 3}, 'cache=3: must be "auto", a folder, or False'),
        ({"target": "y", "format": "xls"}, "format='xls'"),
    ],
)
def test_bad_options_are_named(tmp_path, options, message):
    write(tmp_path, "parquet", table(*data()))
    with pytest.raises(ValueError, match=message):
        rl.rows.from_parquet(f"{tmp_path}/*.parquet", **options)


def test_missing_files_and_extras_are_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="no file, folder or match"):
        rl.rows.from_parquet(tmp_path / "none*.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        rl.rows.from_parquet(tmp_path)


def test_a_table_that_changes_between_passes_is_refused(tmp_path):
    X, y, weight = data()
    write(tmp_path, "parquet", table(X, y, weight))
    rows = rl.rows.from_parquet(f"{tmp_path}/*.parquet", target="y", cache=False)
    list(rows)
    write(tmp_path, "parquet", table(2 * X, y, weight))
    with pytest.raises(RuntimeError, match=r"The file .*0\.parquet has changed since it was op"):
        list(rows)


def test_rows_that_are_held_give_few_of_them_as_well():
    X, y, weight = data(200)
    rows = rl.rows.of(table(X, y, weight), target="y", weight="w", block_rows=60)
    whole, numbers = rows.quick_rows(200)
    assert whole.n_rows == 200 and (numbers == np.arange(200)).all()
    some, numbers = rows.quick_rows(40)
    assert some.n_rows == 40 and (np.diff(numbers) == 5).all()
    np.testing.assert_array_equal(some.X, X[numbers])
    np.testing.assert_array_equal(some.y, y[numbers])
