"""The public constructors of sources that are files or tables."""

from __future__ import annotations

import glob
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rectiline.rows._arrays import checked_vector
from rectiline.rows._base import RowBlocks
from rectiline.rows._cache import Cache, FileStamp, checked_cache, listed_paths
from rectiline.rows._columns import Columns, require_arrow
from rectiline.rows._npy import NpyRows
from rectiline.rows._svmlight import SvmlightRows
from rectiline.rows._tables import TableRows

_CACHED_GROUP_ROWS = 1 << 17  # of a row group in the cache
_IN_MEMORY = ("pandas", "polars", "pyarrow")  # libraries whose tables are in memory
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".csv": "csv",
}


def from_npy(
    X_paths: Any,
    y_paths: Any = None,
    sample_weight: Any = None,
    block_rows: int | None = None,
    executor: Any = None,
) -> RowBlocks:
    """Return the rows of .npy files, which are memory-mapped.

    Parameters
    ----------
    X_paths : path or list of paths
        Files of 2-D arrays with equal numbers of columns; their rows follow each other.
    y_paths : path, list of paths or ndarray, optional
        Targets of all rows, in as many files as they come.
    sample_weight : path, list of paths or ndarray, optional
    block_rows : int, optional
        Rows in a block; by default as many as fill 32 MiB.
    executor : object, optional
        Where passes run, see `RowBlocks.on`; by default in this process.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import rectiline as rl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X, y = os.path.join(folder, "X.npy"), os.path.join(folder, "y.npy")
    ...     np.save(X, np.ones((7, 2), dtype=np.float32))
    ...     np.save(y, np.arange(7.0))
    ...     rl.rows.from_npy(X, y)
    NpyRows(7 x 2, float32)
    """
    return NpyRows(X_paths, y_paths, sample_weight, block_rows).on(executor)


def from_svmlight(
    paths: Any,
    n_features: int | None = None,
    block_rows: int | None = None,
    cache: Any = "auto",
    zero_based: bool | str = "auto",
    executor: Any = None,
) -> RowBlocks:
    """Return the rows of svmlight (libsvm) text files as sparse blocks.

    The text is parsed once, when the rows are made, and its numbers are written to the cache.

    Parameters
    ----------
    paths : path or list of paths
    n_features : int, optional
        Number of columns; by default the highest one in the text.
    block_rows : int, optional
        Rows in a block; by default as many as fill 32 MiB.
    cache : "auto", folder or False, default="auto"
        Where the parsed rows are written: a temporary folder that is removed with the source, a
        folder that stays and is used again for unchanged files, or nowhere, so that each pass
        parses the text.
    zero_based : bool or "auto", default="auto"
        Whether columns are numbered from 0; by default they are if a column 0 occurs.
    executor : object, optional
        Where passes run, see `RowBlocks.on`; by default in this process.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import os, tempfile
    >>> import rectiline as rl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.svm")
    ...     with open(path, "w") as file:
    ...         _ = file.write("1 1:0.5 3:2\\n-1 2:1\\n")
    ...     rows = rl.rows.from_svmlight(path)
    >>> next(iter(rows)).X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    """
    return SvmlightRows(paths, n_features, block_rows, cache, zero_based).on(executor)


def from_parquet(
    paths: Any,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    block_rows: int | None = None,
    cache: Any = "auto",
    format: str | None = None,
    categorical: str | None = None,
    missing: str = "error",
    executor: Any = None,
) -> RowBlocks:
    """Return the rows of Parquet, Feather or CSV files.

    Parameters
    ----------
    paths : path, glob pattern, folder, or list of these
        Folders may be partitioned (``year=2024/...``); files with other endings are left out. A
        URI (``s3://...``) is read through Arrow's file systems.
    target, weight : str, optional
        Columns of targets and sample weights.
    columns : list of str, optional
        Columns of X, in this order; by default all others. They hold numbers or booleans.
        "carrier=AA" stands for a column that is 1 where the column "carrier" has the level "AA".
    block_rows : int, optional
        Rows in a block; by default as many as fill 16 MiB. Blocks end where files end.
    cache : "auto", folder or False, default="auto"
        Where the decoded rows are written before the first pass, as plain Parquet: a folder that
        stays and is used again for unchanged files, or nowhere, so that each pass decodes the
        files. "auto" writes CSV to a temporary folder that is removed with the source (if its disk
        has room), and nothing else: Parquet and Feather are decoded about as fast as a cache is
        written and read. Small files are held in memory if defaults of an estimator come from all
        of their rows.
    format : {"parquet", "feather", "csv"}, optional
        By default that of the names of the files.
    categorical : {None, "onehot", "codes"}, default=None
        What becomes of texts and categories: they are refused; one column of zeros and ones for
        each level, called "carrier=AA"; or one column with the place of the level among all levels
        in sorted order. Levels are found by reading these columns once.
    missing : {"error", "drop"}, default="error"
        Whether a missing value is an error, or its row is left out.
    executor : object, optional
        Where passes run, see `RowBlocks.on`; by default in this process.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import os, tempfile
    >>> import rectiline as rl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "trips.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("miles,night,fare\\n1.5,0,7\\n2.0,1,9\\n")
    ...     rows = rl.rows.from_parquet(path, target="fare")
    ...     rows.n_rows, rows.feature_names
    (2, ('miles', 'night'))
    """
    pyarrow = require_arrow("from_parquet")
    is_opened = isinstance(paths, (pyarrow.Table, pyarrow.dataset.Dataset))  # see `from_table`
    data = paths if is_opened else _opened(paths, format)
    if missing not in ("error", "drop"):
        raise ValueError(f'missing={missing!r}: must be "error" or "drop".')
    chosen = Columns(data.schema, target, weight, columns, categorical)
    kept = _cache_of(data, chosen, checked_cache(cache))
    if kept is not None:
        data = _stored(kept, lambda: data.scanner(columns=chosen.names).to_reader())
    rows = TableRows(data, chosen, block_rows, missing == "drop", executor)
    rows.cache = kept
    return rows


def _opened(paths: Any, format: str | None) -> Any:
    """Return the data set of files."""
    from pyarrow import dataset, fs

    found, base = _found(paths)
    kind = _FORMATS.get(Path(found[0]).suffix, "parquet") if format is None else format
    if kind not in _FORMATS.values():
        raise ValueError(f'format={format!r}: must be "parquet", "feather" or "csv".')
    source = found[0] if len(found) == 1 else found
    where: dict[str, Any] = {} if base is None else {"partition_base_dir": base}
    if kind == "parquet" and all(map(os.path.exists, found)):
        where["filesystem"] = fs.LocalFileSystem(use_mmap=True)  # reads the pages it decodes alone
    return dataset.dataset(source, format=kind, partitioning="hive", **where)


def _found(paths: Any) -> tuple[list[str], str | None]:
    """Return files, and the folder they are in if only that was given."""
    found: list[str] = []
    for path in listed_paths("from_parquet", paths):
        name = os.fspath(path)
        is_there = "://" in name or os.path.exists(name)
        matches = [name] if is_there else sorted(glob.glob(name, recursive=True))
        if not matches:
            raise FileNotFoundError(f"There is no file, folder or match for {name!r}.")
        found.extend(matches)
    files: list[str] = []
    for name in found:
        inside = [str(p) for p in sorted(Path(name).rglob("*")) if p.suffix in _FORMATS]
        files.extend(inside if inside and os.path.isdir(name) else [name])
    is_folder = len(found) == 1 and os.path.isdir(found[0]) and files != found
    return files, found[0] if is_folder else None


def _cache_of(data: Any, columns: Columns, cache: Any) -> Cache | None:
    """Return the cache for the decoded rows of a data set; None: it has none."""
    files = sorted(getattr(data, "files", []))
    is_text = bool(files) and "Csv" in type(data.format).__name__
    if cache is False or not files or not (is_text or cache != "auto"):
        return None
    stamps = [FileStamp.of(file) for file in files if os.path.exists(file)]
    kept = Cache(cache, ["table", columns.names, str(data._scan_options)], stamps)
    size = sum(stamp.size for stamp in stamps)  # a text is at most as long as its numbers need
    return kept if cache != "auto" or kept.has_room(size) else None


def _stored(cache: Cache, reader: Any) -> Any:
    """Return the data set that a cache holds; `reader` opens the batches for it otherwise."""
    from pyarrow import dataset

    known = cache.stored()
    if known is None:
        kind = dataset.ParquetFileFormat()
        dataset.write_dataset(
            reader(),
            cache.folder,
            format=kind,
            basename_template="rows-{i}.parquet",
            file_options=kind.make_write_options(compression="none", use_dictionary=False),
            use_threads=False,  # which keeps the order of the rows
            min_rows_per_group=_CACHED_GROUP_ROWS,
            max_rows_per_group=_CACHED_GROUP_ROWS,
            existing_data_behavior="overwrite_or_ignore",
        )
        cache.describe(["rows-0.parquet"], None)
        known = cache.stored()
        assert known is not None
    return dataset.dataset(known[0], format="parquet")


def from_table(table: Any, y: Any = None, sample_weight: Any = None, **given: Any) -> RowBlocks:
    """Return the rows of a table; `of` calls it.

    Tables in memory are read where they are. Queries, streams and tables of other libraries are
    written to the cache, so that every pass sees the same rows and workers can open them.
    """
    pyarrow = require_arrow(f"rows.of({type(table).__name__})")
    cache = checked_cache(given.get("cache", "auto"))
    beside = {"target": ("y", y), "weight": ("sample_weight", sample_weight)}
    if any(
        one is not None and given.get(option) is not None for option, (_, one) in beside.items()
    ):
        raise ValueError("Pass y or the name of the target column, not both; likewise for weights.")
    if hasattr(table, "current_snapshot"):  # a table of Iceberg
        table = table.scan()
    data, snapshot, kept = table, None, None
    if hasattr(table, "to_pyarrow_dataset"):  # Delta
        data, snapshot = table.to_pyarrow_dataset(), f"delta version {table.version()}"
    elif not isinstance(table, pyarrow.dataset.Dataset):
        is_stream = hasattr(table, "read_next_batch") or hasattr(table, "__next__")
        library = type(table).__module__.split(".")[0]
        if library in _IN_MEMORY and hasattr(table, "__len__") and not is_stream:
            data = _with_plain_texts(pyarrow.table(table))
        elif cache is False:
            raise ValueError(
                f"A {type(table).__name__} can be read once, but every pass reads the rows again. "
                'Pass cache="auto" or a folder to write them to, or the table behind it.'
            )
        else:
            kept = Cache(cache, ["stream", uuid.uuid4().hex])
            snapshot, given["cache"] = _snapshot(table), False
            data = _stored(kept, lambda: _reader(table))
    for option, (name, values) in beside.items():
        if values is None:
            continue
        if not isinstance(data, pyarrow.Table):
            raise ValueError("Name the columns of target and weight instead of passing y.")
        given[option] = f"__{option}__"
        column = pyarrow.array(checked_vector(name, values, len(data)))
        data = data.append_column(given[option], column)
    rows = from_parquet(data, **given)
    rows.snapshot = snapshot
    rows.cache = kept if kept is not None else rows.cache
    return rows


def _with_plain_texts(table: Any) -> Any:
    """Return a table whose texts are of a type that all functions of Arrow take; views are not."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.string()}
    fields = [field.with_type(plain.get(field.type, field.type)) for field in table.schema]
    return table.cast(pa.schema(fields, table.schema.metadata))


def _reader(table: Any) -> Any:
    """Return the batches of a query or of a table of another library."""
    import pyarrow as pa

    if hasattr(table, "collect_batches"):  # Polars
        batches = (part.to_arrow() for part in table.collect_batches(maintain_order=True))
        schema = table.limit(0).collect().to_arrow().schema
        parts = (batch for part in batches for batch in part.cast(schema).to_batches())
        return pa.RecordBatchReader.from_batches(schema, parts)
    if hasattr(table, "to_arrow_batch_reader"):  # Iceberg
        return table.to_arrow_batch_reader()
    return pa.RecordBatchReader.from_stream(table)


def _snapshot(table: Any) -> str | None:
    if not hasattr(table, "to_arrow_batch_reader"):
        return None
    found = table.snapshot()
    return None if found is None else f"iceberg snapshot {found.snapshot_id}"


def of_path(path: Any, y: Any, sample_weight: Any, **options: Any) -> RowBlocks:
    """Return the rows of a file, by the ending of its name; `of` calls it."""
    suffix = Path(path).suffix
    if suffix == ".npy":
        return from_npy(path, y, sample_weight, **options)
    if y is not None or sample_weight is not None:
        raise ValueError("A file of rows holds its own y and weights: pass neither beside it.")
    if suffix in (".svm", ".svmlight", ".libsvm"):
        return from_svmlight(path, **options)
    return from_parquet(path, **options)
