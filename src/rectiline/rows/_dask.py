"""Runs passes over dask arrays and data frames where their partitions are, on the workers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from rectiline.rows._arrays import checked_block
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, float_type, refuse_non_finite, refuse_other_length
from rectiline.rows._columns import Columns, frame_block, require_arrow

_TARGET, _WEIGHT = "__target__", "__weight__"  # columns of series given beside a data frame


def is_dask(X: Any) -> bool:
    """Whether X is a collection of dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def from_dask(
    X: Any, y: Any = None, target: str | None = None, weight: Any = None, client: Any = None
) -> RowBlocks:
    """Return the rows of a dask array or a dask data frame.

    Each partition is a block. With a client of ``dask.distributed`` the partitions are computed
    once and stay on their workers; a pass runs one task for each of them, and only its small
    state and its sums travel. Results are added in the order of the partitions, so that the
    answer has equal bits for any number of workers. Dask computes the partitions of a lost worker
    again. Without a client, partitions are computed on this machine in every pass.

    Parameters
    ----------
    X : dask.array.Array of shape (n_rows, n_features), or dask.dataframe.DataFrame
    y : dask array, dask series or array-like of shape (n_rows,), optional
        Targets beside X; a series beside a data frame has its partitions.
    target : str, optional
        Column of the targets, if X is a data frame.
    weight : str, dask array or array-like, optional
        Sample weights: the name of a column of a data frame, or what y can be.
    client : distributed.Client, optional
        By default the current client, if there is one.

    Returns
    -------
    RowBlocks

    Examples
    --------
    >>> import numpy as np
    >>> import dask.array as da
    >>> import rectiline as rl
    >>> X = da.ones((10, 2), chunks=(4, 1))
    >>> rows = rl.rows.from_dask(X, da.zeros(10, chunks=5))
    >>> [block.X.shape for block in rows]
    [(4, 2), (4, 2), (2, 2)]
    """
    return DaskRows(X, y, target, weight, client)


class DaskRows(RowBlocks):
    """Rows of a dask collection: one block for each partition, a future of it with a client."""

    def __init__(self, X: Any, y: Any, target: str | None, weight: Any, client: Any) -> None:
        super().__init__()
        if not is_dask(X):
            raise TypeError(f"X must be a dask array or a dask data frame; got {type(X).__name__}.")
        self.executor = _current_client() if client is None else client
        columns: Columns | None = None
        if hasattr(X, "columns"):
            X, columns = _frame_columns(X, y, target, weight)
            parts = [[part] for part in X[columns.names].to_delayed()]
            self.feature_names, self.dtype = columns.feature_names, columns.dtype
            self.n_features = len(columns.features)
        else:
            if target is not None or isinstance(weight, str):
                raise ValueError("target and weight name columns of a data frame; X is an array.")
            parts = _array_parts(X, y, weight)
            self.n_features = int(X.shape[1])
            self.dtype = float_type(X)
        self.has_target, self.has_weight = not (y is None and target is None), weight is not None
        self._items = self._made_items(parts, columns)

    def _made_items(self, parts: list[list[Any]], columns: Columns | None) -> list[Any]:
        """Return futures of the blocks on a cluster, or what computes them here."""
        dask, client = import_module("dask"), self.executor
        if client is not None:
            flat = iter(client.persist([one for part in parts for one in part]))
            parts = [[next(flat) for _ in part] for part in parts]
        tasks = [dask.delayed(_n_rows)(part[0]) for part in parts]
        if client is None:
            lengths = dask.compute(*tasks, scheduler="synchronous")
        else:
            lengths = client.gather(client.compute(tasks))
        ends = np.cumsum([0, *lengths])
        self._n_rows = int(ends[-1])
        if self._n_rows == 0 or self.n_features == 0:
            raise ValueError("X must have at least one row and one column.")
        make = dask.delayed(_array_block if columns is None else frame_block)
        given: Any = (self.has_target, self.dtype) if columns is None else pickle.dumps(columns)
        blocks = [
            make(int(start), given, *part) for start, part in zip(ends[:-1], parts, strict=True)
        ]
        if client is None:
            return [_Delayed(block) for block in blocks]
        return list(client.compute(blocks))


def _array_block(start: int, given: tuple[bool, np.dtype[Any]], *part: Any) -> Block:
    """Return partitions of X, y and weight as a block; `given`: whether y is one, and the type."""
    has_target, dtype = given
    y, weight = part[1] if has_target else None, part[1 + has_target :]
    title = f"from row {start} on: "
    block = checked_block(part[0], y, weight[0] if weight else None, start, title).cast(dtype)
    refuse_non_finite(block)
    return block


def _n_rows(part: Any) -> int:
    return int(part.shape[0])  # sparse arrays have no len()


class _Delayed:
    """A block that dask computes in this process when it is opened."""

    def __init__(self, block: Any) -> None:
        self._block = block

    def blocks(self) -> Iterator[Block]:
        yield self._block.compute(scheduler="synchronous")


def _current_client() -> Any:
    try:
        return import_module("distributed").get_client()
    except (ImportError, ValueError):  # ValueError: there is none
        return None


def _frame_columns(X: Any, y: Any, target: str | None, weight: Any) -> tuple[Any, Columns]:
    """Return a data frame that holds the series given beside it, and its columns."""
    if y is not None and target is None and is_dask(y):
        X, y, target = X.assign(**{_TARGET: y}), None, _TARGET
    if weight is not None and is_dask(weight):
        X, weight = X.assign(**{_WEIGHT: weight}), _WEIGHT
    if y is not None or not (weight is None or isinstance(weight, str)):
        raise ValueError(
            "Beside a dask data frame, y and weight must be dask series, or name its columns: "
            "target=..., weight=..."
        )
    pyarrow = require_arrow("from_dask")
    schema = pyarrow.Schema.from_pandas(X._meta, preserve_index=False)
    return X, Columns(schema, target, weight, None)


def _array_parts(X: Any, y: Any, weight: Any) -> list[list[Any]]:
    """Return the partitions of X, y and weight that belong together."""
    if X.ndim != 2:
        raise ValueError(f"X must be a 2-D array; got {X.ndim}-D.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold real numbers; got dtype {X.dtype}.")
    X = X.rechunk({1: -1})
    parts = [list(X.to_delayed().ravel())]
    known = not np.isnan(X.shape[0])
    for name, values in (("y", y), ("weight", weight)):
        if values is None:
            continue
        if known:
            refuse_other_length(name, np.shape(values), X.shape[0])
        elif not is_dask(values):
            raise ValueError(f"{name} must be a dask array: X does not know its length.")
        if not is_dask(values):
            values = import_module("dask.array").from_array(np.asarray(values))
        if known:
            values = values.rechunk((X.chunks[0],))
        parts.append(list(np.ravel(values.to_delayed())))
    if len({len(part) for part in parts}) > 1:
        raise ValueError("X, y and weight must have equal numbers of partitions.")
    return [list(part) for part in zip(*parts, strict=True)]
