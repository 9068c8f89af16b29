"""Yields blocks of Arrow tables and of files that Arrow reads; an item is a part of one of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._arrays import block_length, checked_vector
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, join, refuse_non_finite
from rectiline.rows._cache import FileStamp
from rectiline.rows._columns import Columns, decoded
from rectiline.rows._engines import Work, checked_executor, map_items, run_work

__all__ = ["TableItem", "TableRows", "listed_items"]

State = TypeVar("State")
Result = TypeVar("Result")

# Of X in one block: decoded columns are copied once, and memory of this size is used again by the
# allocator. Blocks of 32 MiB take 1.3 times as long to decode and copy (20 columns of float32).
_BLOCK_BYTES = 1 << 23
_ITEMS_PER_BLOCK = 2  # at most, where small row groups are put together
_QUICK_ROWS, _QUICK_SHARE = 20_000, 0.05  # at most one of them is read for a quick sample
_QUICK_ITEMS = 64  # that rows are taken from, if there are as many
_ITEM_SHARE = 0.5  # of an item is taken at most, unless there are too few items for that
_SURVEY_ROWS = 1 << 17  # of a batch, where rows are counted
_HELD_BYTES = 1 << 25  # of X, up to which a table is held in memory once all of it was asked for


@dataclass(frozen=True)
class TableItem:
    """A table in memory, a file, or row groups of a Parquet file.

    Attributes
    ----------
    part : pyarrow.Table or pyarrow.dataset.Fragment
    schema : pyarrow.Schema
        Of the whole table.
    filter : pyarrow.compute.Expression or None
        Which rows are read, of a data set that is filtered.
    drops_nulls : bool
        Whether rows with missing values are left out.
    n_rows : int
        Rows that it yields.
    stamp : FileStamp or None
    groups : tuple of int or None
        Row groups of a Parquet file.
    """

    part: Any
    schema: Any
    filter: Any
    drops_nulls: bool
    n_rows: int
    stamp: FileStamp | None = None
    groups: tuple[int, ...] | None = None
    start: int = 0
    columns: Columns = field(default=None)  # type: ignore[assignment]
    block_rows: int = 0
    y: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None

    @property
    def path(self) -> str:
        """Name of the file; empty for a table in memory."""
        return getattr(self.part, "path", "")

    def batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """Yield record batches of some columns."""
        if self.stamp is not None:
            self.stamp.refuse_changed()
        read = self.columns.names if self.drops_nulls else list(names)
        for batch in self._read(read, size):
            if self.drops_nulls:
                batch = _without_nulls(batch)
            yield batch.select(names)

    def _read(self, names: list[str], size: int) -> Iterator[Any]:
        import pyarrow as pa

        if isinstance(self.part, pa.Table):
            yield from self.part.select(names).to_batches(max_chunksize=size)
            return
        try:
            if self.filter is None and self.groups is not None:
                yield from _parquet_batches(self.part, self.groups, names, size)
            else:
                scanner = self.part.scanner(
                    schema=self.schema, columns=names, filter=self.filter, batch_size=size
                )
                yield from scanner.to_batches()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"The file {self.path} cannot be read: {error}") from error

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in blocks."""
        return self._decoded(self.columns)

    def targets(self) -> Iterator[Block]:
        """Yield y and weight in blocks, without columns of X."""
        return self._decoded(self.columns.without_features())

    def _decoded(self, columns: Columns, size: int | None = None) -> Iterator[Block]:
        size = size or self.block_rows
        origin = f" (file {self.path})" if self.path else ""
        batches = self.batches(columns.names, size)
        if not columns.names:
            raise AssertionError("a table without target and weight has no blocks of them")
        for block in decoded(batches, columns, size, self.start, origin):
            some = slice(block.start - self.start, block.start - self.start + block.n_rows)
            y = block.y if self.y is None else self.y[some]
            weight = block.weight if self.weight is None else self.weight[some]
            yield Block(block.X, y, weight, block.start)

    def first_rows(self, count: int) -> Block | None:
        """Return the first rows, without decoding the others."""
        block = next(self._decoded(self.columns, count), None)
        if block is not None:
            refuse_non_finite(block, self.columns.feature_names)
        return block


def _without_nulls(batch: Any) -> Any:
    import pyarrow.compute as pc

    valid = None
    for column in batch.columns:
        if column.null_count:
            here = pc.is_valid(column)
            valid = here if valid is None else pc.and_(valid, here)
    return batch if valid is None else batch.filter(valid)


def _parquet_batches(
    fragment: Any, groups: Sequence[int], names: list[str], size: int
) -> Iterator[Any]:
    """Yield batches of row groups; columns of a partition are those of its folder."""
    import pyarrow as pa
    from pyarrow.dataset import get_partition_keys
    from pyarrow.parquet import ParquetFile

    keys = get_partition_keys(fragment.partition_expression)
    with fragment.open() as source, ParquetFile(source) as file:
        stored = set(file.schema_arrow.names)
        for name in names:
            if name not in stored and name not in keys:
                raise ValueError(f"The file {fragment.path} has no column {name!r}.")
        read = [name for name in names if name in stored]
        for batch in file.iter_batches(size, list(groups), read):
            for name in names:
                if name not in stored:
                    batch = batch.append_column(name, pa.repeat(keys[name], batch.num_rows))
            yield batch


class TableRows(RowBlocks):
    """Rows of a table that is decoded block by block.

    Parameters
    ----------
    items : sequence of TableItem
        Without rows that are not yielded, see `listed_items`.
    columns : Columns
    block_rows : int or None
    y, sample_weight : array-like or None
        Targets and weights that are not columns of the table.
    """

    is_checked = False
    reads_ahead = True

    def __init__(
        self,
        items: Sequence[TableItem],
        columns: Columns,
        block_rows: int | None,
        y: Any = None,
        sample_weight: Any = None,
    ) -> None:
        super().__init__()
        self._columns = columns
        self.feature_names = columns.feature_names
        self.n_features, self.dtype = len(columns.features), columns.dtype
        self.block_rows = table_block_rows(block_rows, columns)
        self._n_rows = n = sum(item.n_rows for item in items)
        y = None if y is None else checked_vector("y", y, n)
        weight = sample_weight
        if weight is not None:
            weight = checked_vector("sample_weight", weight, n).astype(np.float64)
        self.has_target = columns.target is not None or y is not None
        self.has_weight = columns.weight is not None or weight is not None
        self._items: list[Any] = []
        starts = accumulate((item.n_rows for item in items), initial=0)
        for item, start in zip(items, starts, strict=False):
            y_here, weight_here = (
                None if part is None else part[start : start + item.n_rows] for part in (y, weight)
            )
            self._items.append(
                replace(
                    item,
                    start=start,
                    columns=columns,
                    block_rows=self.block_rows,
                    y=y_here,
                    weight=weight_here,
                )
            )

    def items(self) -> Sequence[Any]:
        """Return the parts of the table, or its blocks if they are held."""
        return self._items

    def map_targets(
        self, function: Callable[[Block, State], Result], state: State
    ) -> Iterator[Result]:
        """Yield ``function(block, state)`` for blocks of y and weight, without other columns."""
        if not self._columns.without_features().names or self._is_held:
            yield from self.map_blocks(function, state)
            return
        work = Work(function, state, self.n_features, False, None, False, targets=True)
        for result, _ in run_work(self.executor, work, self._items, self.reads_ahead):
            yield result

    @property
    def _is_held(self) -> bool:
        return isinstance(self._items[0], Block)

    def quick_rows(self, size: int) -> tuple[Block, NDArray[np.int64]] | None:
        """Return all rows of a small table, or the first rows of items, if that will do."""
        n, d = self.n_rows, self.n_features
        if size >= n and n * d * self.dtype.itemsize <= _HELD_BYTES:
            if not self._is_held:
                self._items = list(self)
            return join(self._items, d), np.arange(n)
        few = min(size, max(_QUICK_ROWS, int(_QUICK_SHARE * n)))
        items = [item for item in self._items if item.n_rows]
        touched = max(_QUICK_ITEMS, math.ceil(few * len(items) / (_ITEM_SHARE * n)))
        touched = min(len(items), touched)
        chosen = [items[k * len(items) // touched] for k in range(touched)]
        share = min(1.0, few / sum(item.n_rows for item in chosen))
        found = map_items(self.executor, partial(_first_rows, share=share), chosen)
        try:
            blocks = [block for block in found if block is not None]
        except ValueError:
            return None  # a pass over all rows says what is wrong, and where
        rows = [block.start + np.arange(block.n_rows) for block in blocks]
        return join(blocks, d), np.concatenate(rows)


def _first_rows(item: TableItem, share: float) -> Block | None:
    return item.first_rows(math.ceil(share * item.n_rows))


def table_block_rows(block_rows: int | None, columns: Columns) -> int:
    """Return the number of rows of a block."""
    return block_length(block_rows, len(columns.features) * columns.dtype.itemsize, _BLOCK_BYTES)


def listed_items(
    data: Any, columns: Columns, block_rows: int | None, drops_nulls: bool, executor: Any
) -> tuple[list[TableItem], Columns]:
    """Return the items of a table or data set with their lengths, and columns with their levels.

    Only what the metadata do not say is read: rows of files that are not Parquet, or that are
    filtered, rows without missing values, and levels of categories.
    """
    import pyarrow as pa

    size = table_block_rows(block_rows, columns)
    if isinstance(data, pa.Table):
        data = _without_nulls(data.select(columns.names)) if drops_nulls else data
        parts = [data.slice(first, size) for first in range(0, max(len(data), 1), size)]
        items = [TableItem(part, data.schema, None, False, len(part)) for part in parts]
        unknown: list[int] = []
    else:
        items = list(_file_items(data, columns, size // _ITEMS_PER_BLOCK, drops_nulls))
        unknown = [place for place, item in enumerate(items) if item.n_rows < 0]
    items = [replace(item, columns=columns) for item in items]
    some = range(len(items)) if columns.categories else unknown
    levels: dict[str, set[str]] = {name: set() for name in columns.categories}
    survey = partial(_survey, categories=columns.categories)
    found = map_items(checked_executor(executor), survey, [items[place] for place in some])
    for place, (n, here) in zip(some, found, strict=True):
        items[place] = replace(items[place], n_rows=n)
        for name, values in here.items():
            levels[name] |= values
    if not sum(item.n_rows for item in items):
        raise ValueError("The source has no rows; at least one is needed.")
    return items, columns.with_levels({name: sorted(found) for name, found in levels.items()})


def _file_items(data: Any, columns: Columns, size: int, drops_nulls: bool) -> Iterator[TableItem]:
    """Yield the files of a data set, Parquet in parts of about `size` rows; -1: not counted."""
    wanted = data._scan_options.get("filter")
    if wanted is not None:  # fragments are those of the data set without its filter
        data = data.replace_schema(data.schema)
        data._scan_options = {}
    for fragment in data.get_fragments(wanted):
        path = getattr(fragment, "path", "")
        stamp = FileStamp.of(path) if path and os.path.exists(path) else None
        item = TableItem(fragment, data.schema, wanted, drops_nulls, -1, stamp)
        if not hasattr(fragment, "row_groups"):
            yield item
            continue
        if wanted is not None:
            fragment = fragment.subset(wanted)
        for groups, n in _joined_groups(fragment.row_groups, size):
            numbers = tuple(group.id for group in groups)
            part = fragment.subset(row_group_ids=list(numbers))
            counted = wanted is None and not (drops_nulls and _may_hold_nulls(part, columns))
            yield replace(item, part=part, groups=numbers, n_rows=n if counted else -1)


def _joined_groups(groups: Iterable[Any], size: int) -> Iterator[tuple[list[Any], int]]:
    """Yield row groups that follow each other, about `size` rows together."""
    some: list[Any] = []
    n = 0
    for group in groups:
        if some and n + group.num_rows > size:
            yield some, n
            some, n = [], 0
        some.append(group)
        n += group.num_rows
    if some:
        yield some, n


def _may_hold_nulls(fragment: Any, columns: Columns) -> bool:
    """Whether some column of row groups holds missing values, or does not say."""
    names = set(columns.names)
    for info in fragment.row_groups:
        group = fragment.metadata.row_group(info.id)
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema in names:
                found = column.statistics
                if found is None or not found.has_null_count or found.null_count:
                    return True
    return False


def _survey(item: TableItem, categories: Sequence[str]) -> tuple[int, dict[str, set[str]]]:
    """Return the number of rows of an item, and the levels of some columns in it."""
    import pyarrow.compute as pc

    n, levels = 0, {name: set[str]() for name in categories}
    names = list(categories) or item.columns.names[-1:]
    for batch in item.batches(names, _SURVEY_ROWS):
        n += batch.num_rows
        for name, found in levels.items():
            values = batch.column(name)
            if hasattr(values, "dictionary_decode"):
                values = values.dictionary_decode()
            found |= {str(one) for one in pc.unique(values).drop_null().to_pylist()}
    return n, levels
