"""The public constructors of sources that are files or tables."""

from __future__ import annotations

import glob
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rectiline.rows._base import RowBlocks
from rectiline.rows._cache import Cache, checked_cache
from rectiline.rows._columns import Columns, require_arrow
from rectiline.rows._groups import RowGroups
from rectiline.rows._npy import NpyRows
from rectiline.rows._svmlight import SvmlightRows
from rectiline.rows._tables import TableRows

__all__ = ["from_npy", "from_parquet", "from_svmlight", "from_table", "of_path"]

_BATCHES_AHEAD = 4  # decoded while another is worked on; more of them cost memory only
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".csv": "csv",
}


def from_npy(
    X_paths: Any, y_paths: Any = None, sample_weight: Any = None, block_rows: int | None = None
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
    return NpyRows(X_paths, y_paths, sample_weight, block_rows)


def from_svmlight(
    paths: Any,
    n_features: int | None = None,
    block_rows: int | None = None,
    cache: Any = "auto",
    zero_based: bool | str = "auto",
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
    return SvmlightRows(paths, n_features, block_rows, cache, zero_based)


def from_parquet(
    paths: Any,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    block_rows: int | None = None,
    cache: Any = "auto",
    format: str | None = None,
) -> RowBlocks:
    """Return the rows of Parquet, Feather or CSV files.

    Parameters
    ----------
    paths : path, glob pattern, folder, or list of these
        Folders may be partitioned (``year=2024/...``).
    target, weight : str, optional
        Columns of targets and sample weights.
    columns : list of str, optional
        Columns of X, in this order; by default all others. They hold numbers or booleans.
    block_rows : int, optional
        Rows in a block; by default as many as fill 8 MiB.
    cache : "auto", folder or False, default="auto"
        Where the first pass writes the decoded rows: a folder that stays and is used again for
        unchanged files, or nowhere, so that each pass decodes the files. "auto" writes CSV to a
        temporary folder that is removed with the source (if its disk has room), and nothing else:
        Parquet and Feather are decoded about as fast as a cache is written and read. Small Parquet
        files are held in memory if defaults of an estimator come from all of their rows.
    format : {"parquet", "feather", "csv"}, optional
        By default that of the names of the files.

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
    require_arrow("from_parquet")
    from pyarrow import dataset

    checked_cache(cache)
    found = _found(paths)
    kind = _format_of(found) if format is None else format
    if kind not in _FORMATS.values():
        raise ValueError(f'format={format!r}: must be "parquet", "feather" or "csv".')
    source = found[0] if len(found) == 1 else found
    data = dataset.dataset(source, format=kind, partitioning="hive")
    return _of_dataset(data, target, weight, columns, block_rows, cache)


def _found(paths: Any) -> list[str]:
    """Return files, or one folder."""
    one = isinstance(paths, (str, os.PathLike))
    found: list[str] = []
    for path in [paths] if one else list(paths):
        name = os.fspath(path)
        matches = [name] if os.path.exists(name) else sorted(glob.glob(name, recursive=True))
        if not matches:
            raise FileNotFoundError(f"There is no file, folder or match for {name!r}.")
        found.extend(matches)
    if not found:
        raise ValueError("from_parquet: no files were given.")
    if len(found) == 1:
        return found
    files: list[str] = []
    for name in found:
        inside = sorted(str(p) for p in Path(name).rglob("*") if p.suffix in _FORMATS)
        files.extend(inside if os.path.isdir(name) else [name])
    return files


def _format_of(found: Sequence[str]) -> str:
    first = Path(found[0])
    if first.is_dir():
        first = next((p for p in sorted(first.rglob("*")) if p.suffix in _FORMATS), first)
    return _FORMATS.get(first.suffix, "parquet")


def _of_dataset(
    data: Any,
    target: str | None,
    weight: str | None,
    columns: Sequence[str] | None,
    block_rows: int | None,
    cache: Any,
) -> RowBlocks:
    chosen = Columns(data.schema, target, weight, columns)
    is_text = data.__class__.__name__ == "FileSystemDataset" and "Csv" in type(data.format).__name__
    n = None if is_text else int(data.count_rows())
    files = sorted(getattr(data, "files", []))
    local = [file for file in files if os.path.exists(file)]
    stamps = [(file, os.stat(file).st_size, os.stat(file).st_mtime_ns) for file in local]
    kept = None
    if cache is not False and (is_text or cache != "auto"):
        kept = Cache(cache, ["table", stamps, chosen.features, target, weight])
        size = sum(stamp[1] for stamp in stamps)  # a text is at most as long as its numbers need
        if cache == "auto" and not kept.has_room(size):
            kept = None

    def open_batches(names: list[str], rows: int) -> Any:
        scanner = data.scanner(
            columns=names,
            batch_size=rows,
            batch_readahead=_BATCHES_AHEAD,
            fragment_readahead=1,
            use_threads=True,
        )
        return scanner.to_batches()

    is_parquet = type(getattr(data, "format", None)).__name__ == "ParquetFileFormat"
    groups = RowGroups(data) if is_parquet and cache is not False else None
    return TableRows(open_batches, chosen, block_rows, kept, n, groups=groups)


def from_table(
    table: Any,
    y: Any = None,
    sample_weight: Any = None,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    block_rows: int | None = None,
    cache: Any = "auto",
) -> RowBlocks:
    """Return the rows of an object with ``__arrow_c_stream__``; `of` calls it."""
    pyarrow = require_arrow(f"rows.of({type(table).__name__})")
    checked_cache(cache)
    if isinstance(table, pyarrow.dataset.Dataset):
        if y is not None or sample_weight is not None:
            raise ValueError("Name the columns of target and weight instead of passing y.")
        return _of_dataset(table, target, weight, columns, block_rows, cache)
    if (y is not None and target is not None) or (sample_weight is not None and weight is not None):
        raise ValueError("Pass y or the name of the target column, not both; likewise for weights.")
    reader = pyarrow.RecordBatchReader.from_stream(table)
    chosen = Columns(reader.schema, target, weight, columns)
    if hasattr(table, "read_next_batch") or hasattr(table, "__next__"):
        if cache is False:
            raise ValueError(
                f"A {type(table).__name__} can be read once, but every pass reads the rows again. "
                'Pass cache="auto" or a folder to write them to, or the table behind it.'
            )
        rows = TableRows(
            lambda *_: reader, chosen, block_rows, Cache(cache, ["stream", uuid.uuid4().hex])
        )
        if y is not None or sample_weight is not None:
            raise ValueError("Name the columns of target and weight instead of passing y.")
        return rows.read_once()

    def open_batches(names: list[str], _: int) -> Any:
        stream = pyarrow.RecordBatchReader.from_stream(table)
        return (batch.select(names) for batch in stream)

    n = len(table) if hasattr(table, "__len__") else None
    return TableRows(open_batches, chosen, block_rows, None, n, y, sample_weight)


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
