"""The public constructors of sources, and `of`, which recognises what it is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from rectiline.rows._arrays import ArrayRows
from rectiline.rows._base import RowBlocks
from rectiline.rows._dask import from_dask, is_dask
from rectiline.rows._files import from_table, of_path
from rectiline.rows._spark import is_spark_frame
from rectiline.rows._stream import StreamRows
from rectiline.rows._tensors import TensorRows, is_on_gpu, is_tensor_like

# What tables, lazy frames, data sets, tables of Delta, and tables and scans of Iceberg have.
_TABLES = (
    "__arrow_c_stream__",
    "collect_batches",
    "scanner",
    "to_pyarrow_dataset",
    "current_snapshot",
    "to_arrow_batch_reader",
)


def from_arrays(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    block_rows: int | None = None,
    executor: Any = None,
) -> RowBlocks:
    """Return the rows of arrays in memory.

    Parameters
    ----------
    X : array-like or scipy sparse matrix of shape (n_rows, n_features)
        NumPy arrays of any order, memory maps and CSR matrices are read in place; integers are
        converted block by block. Torch tensors, and arrays on a GPU that speak DLPack, stay on
        their device.
    y : array-like of shape (n_rows,), optional
        Targets. Rows without targets can be predicted.
    sample_weight : array-like of shape (n_rows,), optional
    block_rows : int, optional
        Rows in a block; by default as many as fill 32 MiB.
    executor : object, optional
        Where passes run, see `RowBlocks.on`; by default in this process. Blocks are sent to other
        processes in every pass.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rows = rl.rows.from_arrays(np.zeros((7, 2), dtype=np.float32), np.ones(7), block_rows=3)
    >>> rows
    ArrayRows(7 x 2, float32)
    >>> [block.n_rows for block in rows]
    [3, 3, 1]
    """
    if is_tensor_like(X):
        return TensorRows(X, y, sample_weight, block_rows)
    return ArrayRows(X, y, sample_weight, block_rows).on(executor)


def from_stream(
    open_blocks: Callable[[], Iterable[Any]],
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
) -> RowBlocks:
    """Return the rows of a callable that opens them anew for every pass.

    Parameters
    ----------
    open_blocks : callable
        Called without arguments; returns a fresh iterator of ``(X, y)`` or ``(X, y, weight)``,
        the same blocks in the same order each time. X may be an array or a table.
    n_features : int, optional
        Checked against the first block.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the first block, if it is a table.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> def open_blocks():
    ...     for seed in range(3):
    ...         X = np.random.default_rng(seed).standard_normal((4, 2))
    ...         yield X, X.sum(axis=1)
    >>> rl.rows.from_stream(open_blocks).n_rows
    12
    """
    return StreamRows(open_blocks, n_features, feature_names)


def is_source(X: Any) -> bool:
    """Return whether X is read block by block where it is: rows, dask collections, GPU arrays.

    Arrays, data frames and torch tensors in the memory of this machine are not sources.
    """
    return isinstance(X, RowBlocks) or is_dask(X) or is_on_gpu(X)


def is_elsewhere(X: Any) -> bool:
    """Return whether X is a path, a query, a data set or a stream: no array, but `of` reads it."""
    return isinstance(X, str | os.PathLike) or (not hasattr(X, "__array__") and _is_table(X))


def _is_table(X: Any) -> bool:
    return any(hasattr(X, name) for name in _TABLES)


def of(X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> RowBlocks:
    """Return the rows of whatever holds them.

    Parameters
    ----------
    X : RowBlocks, array-like, scipy sparse matrix, table, path or callable
        A table is anything with ``__arrow_c_stream__`` (pandas, polars, pyarrow, DuckDB), a
        pyarrow data set (also with a filter), a lazy frame of polars, a table of Delta, a table or
        a scan of Iceberg, or a dask data frame; ``target`` and ``weight`` name its columns.
        Queries, and streams that can be read once, are written to the cache. A path is taken by
        its ending: .npy, .svm, .parquet, .feather, .csv. A callable is taken as for `from_stream`.
    y, sample_weight : array-like of shape (n_rows,), optional
        Only together with an X that does not hold them itself.
    **options
        Options of the constructor that fits, such as ``block_rows`` or ``executor``; tables take
        those of `from_parquet`.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rl.rows.of(np.ones((3, 2)), np.zeros(3))
    ArrayRows(3 x 2, float64)
    """
    if isinstance(X, RowBlocks):
        if y is not None or sample_weight is not None:
            raise ValueError("These rows hold their own y and weights: pass neither beside them.")
        return X
    if isinstance(X, np.ndarray | list | tuple) or sp.issparse(X) or is_tensor_like(X):
        return from_arrays(X, y, sample_weight, **options)
    if callable(X):
        if y is not None or sample_weight is not None:
            raise ValueError("A stream yields its own y and weights: pass neither beside it.")
        return from_stream(X, **options)
    if is_dask(X):
        return from_dask(X, y, **{"weight": sample_weight, **options})
    if isinstance(X, str | os.PathLike):
        return of_path(X, y, sample_weight, **options)
    if is_spark_frame(X):
        raise TypeError(
            "Rows cannot be read from a Spark data frame: its partitions may hold other rows in "
            "another job, and every pass is one. Write it to Parquet or Delta, and pass that with "
            "executor=rectiline.rows.spark(session)."
        )
    if _is_table(X):
        return from_table(X, y, sample_weight, **options)
    raise TypeError(
        f"Rows cannot be read from {type(X).__name__}. Pass an array, a scipy sparse matrix, a "
        "table (pandas, polars, pyarrow, DuckDB), a dask collection, the path of a file, or a "
        "callable that returns an iterator of (X, y)."
    )
