"""Yields blocks of Arrow tables and of files that Arrow reads; an item is a part of one of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, block_length, join, refuse_non_finite
from rectiline.rows._cache import FileStamp
from rectiline.rows._columns import Columns, decoded
from rectiline.rows._engines import Work, map_items, run_work

State = TypeVar("State")
Result = TypeVar("Result")

# Of X in one block: long beside what a block costs in Python, short enough that its columns are
# still in a cache when they have been decoded.
_BLOCK_BYTES = 1 << 24
_ITEMS_PER_BLOCK = 2  # small row groups are joined into items of a block's length over this
_MOST_QUICK_ITEMS = 64  # items from which a quick sample of rows is taken
_QUICK_ITEM_SHARE = 0.5  # and at most this share of each, if there are enough items for that
# Size of X up to which a table stays in memory once all of it was read.
_MOST_BYTES_TO_HOLD = 1 << 25


@dataclass(frozen=True)
class Reading:
    """How all items of a table are read.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of the whole table.
    columns : Columns
    block_rows : int
        Rows of a block.
    filter : pyarrow.compute.Expression or None
        Which rows are read, of a data set that is filtered.
    complete : tuple of str
        Columns in which a missing value leaves a row out.
    """

    schema: Any
    columns: Columns
    block_rows: int
    filter: Any = None
    complete: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableItem:
    """A table in memory, a file, or row groups of a Parquet file.

    Attributes
    ----------
    part : pyarrow.Table or pyarrow.dataset.Fragment
    reading : Reading
    n_rows : int
        Rows that it yields; -1 where they are not counted yet.
    start : int
        Number of its first row.
    stamp : FileStamp or None
    groups : tuple of int or None
        Row groups of a Parquet file.
    """

    part: Any
    reading: Reading
    n_rows: int = -1
    start: int = 0
    stamp: FileStamp | None = None
    groups: tuple[int, ...] | None = None

    @property
    def path(self) -> str:
        """Name of the file; empty for a table in memory."""
        return getattr(self.part, "path", "")

    def batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """Yield record batches of some columns."""
        if self.stamp is not None:
            self.stamp.refuse_changed()
        complete = self.reading.complete
        for batch in self._read(list(dict.fromkeys([*names, *complete])), size):
            yield (batch.drop_null() if complete else batch).select(names)

    def _read(self, names: list[str], size: int) -> Iterator[Any]:
        import pyarrow as pa

        if isinstance(self.part, pa.Table):
            yield from self.part.select(names).to_batches(max_chunksize=size)
            return
        try:
            if self.reading.filter is None and self.groups is not None:
                yield from _parquet_batches(self.part, self.groups, names, size)
            else:
                asked = {"schema": self.reading.schema, "filter": self.reading.filter}
                yield from self.part.scanner(columns=names, batch_size=size, **asked).to_batches()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"The file {self.path} cannot be read: {error}") from error

    def blocks(self, size: int | None = None) -> Iterator[Block]:
        """Yield the rows in blocks, by default as long as those of the table."""
        size = size or self.reading.block_rows
        origin = f" (file {self.path})" if self.path else ""
        columns = self.reading.columns
        return decoded(self.batches(columns.names, size), columns, size, self.start, origin)


def _parquet_batches(
    fragment: Any, groups: Sequence[int], names: list[str], size: int
) -> Iterator[Any]:
    """Yield batches of row groups; columns of a partition are those of its folder.

    A scanner of Arrow decodes a whole row group before its first batch.
    """
    import pyarrow as pa
    from pyarrow.dataset import get_partition_keys
    from pyarrow.parquet import ParquetFile

    keys = get_partition_keys(fragment.partition_expression)
    with fragment.open() as source, ParquetFile(source, metadata=fragment.metadata) as file:
        stored = set(file.schema_arrow.names)
        for name in names:
            if name not in stored and name not in keys:
                raise ValueError(f"The file {fragment.path} has no column {name!r}.")
        read = [name for name in names if name in stored]
        has_threads = pa.cpu_count() > 1
        for batch in file.iter_batches(size, list(groups), read, use_threads=has_threads):
            for name in names:
                if name not in stored:
                    batch = batch.append_column(name, pa.repeat(keys[name], batch.num_rows))
            yield batch


class TableRows(RowBlocks):
    """Rows of a table that is decoded block by block.

    Parameters
    ----------
    data : pyarrow.Table or pyarrow.dataset.Dataset
    columns : Columns
    block_rows : int or None
    drops_nulls : bool
        Whether rows with missing values are left out.
    executor : object or None
    """

    reads_ahead = True

    def __init__(
        self, data: Any, columns: Columns, block_rows: int | None, drops_nulls: bool, executor: Any
    ) -> None:
        super().__init__()
        size = len(columns.features) * columns.dtype.itemsize
        size = block_length(block_rows, size, _BLOCK_BYTES)
        complete = tuple(columns.names) if drops_nulls else ()
        items = list(_listed_items(data, Reading(data.schema, columns, size, None, complete)))
        self.on(executor)
        items, columns = self._surveyed(items, columns)
        if not sum(item.n_rows for item in items):
            raise ValueError("The source has no rows; at least one is needed.")
        starts = accumulate((item.n_rows for item in items), initial=0)
        self._items = [  # parts of the table, or blocks once they are held
            replace(item, start=start, reading=replace(item.reading, columns=columns))
            for item, start in zip(items, starts, strict=False)
        ]
        self._columns, self._n_rows = columns, sum(item.n_rows for item in items)
        self.feature_names, self.dtype = columns.feature_names, columns.dtype
        self.n_features, self.block_rows = len(columns.features), size
        self.has_target = columns.target is not None
        self.has_weight = columns.weight is not None

    def _surveyed(
        self, items: list[TableItem], columns: Columns
    ) -> tuple[list[TableItem], Columns]:
        """Return items with their lengths, and columns with the levels of their categories.

        Only what the metadata do not say is read: rows of files that are not Parquet, or that are
        filtered, rows without missing values, and levels of categories.
        """
        levels: dict[str, set[str]] = {name: set() for name in columns.categories}
        some = [k for k, item in enumerate(items) if levels or item.n_rows < 0]
        survey = partial(_survey, categories=columns.categories)
        found = map_items(self.executor, survey, [items[place] for place in some])
        for place, (n, here) in zip(some, found, strict=True):
            items[place] = replace(items[place], n_rows=n)
            for name, values in here.items():
                levels[name] |= values
        return items, columns.with_levels({name: sorted(found) for name, found in levels.items()})

    def map_targets(
        self, function: Callable[[Block, State], Result], state: State
    ) -> Iterator[Result]:
        """Yield ``function(block, state)`` for blocks of y and weight, without other columns."""
        columns = self._columns.without_features()
        if not columns.names or self._is_held:
            yield from self.map_blocks(function, state)
            return
        work = Work(function, state, 0, marks_all=False)
        items = (replace(one, reading=replace(one.reading, columns=columns)) for one in self._items)
        for result, _ in run_work(self.executor, work, items, self.reads_ahead):
            yield result

    @property
    def _is_held(self) -> bool:
        return isinstance(self._items[0], Block)

    def quick_rows(self, size: int) -> tuple[Block, NDArray[np.int64]] | None:
        """Return all rows of a small table, or the first rows of items, if that will do."""
        n, d = self.n_rows, self.n_features
        if size >= n and n * d * self.dtype.itemsize <= _MOST_BYTES_TO_HOLD:
            if not self._is_held:
                self._items = list(self)
            return join(self._items, d), np.arange(n)
        if self._is_held:
            numbers = np.arange(size, dtype=np.int64) * n // size
            return join(self._items, d).take(numbers), numbers
        few = self._quick_size(size)
        items = [item for item in self._items if item.n_rows]
        touched = max(_MOST_QUICK_ITEMS, math.ceil(few * len(items) / (_QUICK_ITEM_SHARE * n)))
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
    """Return the first rows of an item, without decoding the others."""
    block = next(item.blocks(math.ceil(share * item.n_rows)), None)
    if block is not None:
        refuse_non_finite(block)
    return block


def _listed_items(data: Any, reading: Reading) -> Iterator[TableItem]:
    """Yield parts of a table in memory, or files of a data set: Parquet by its row groups."""
    import pyarrow as pa

    size = reading.block_rows
    if isinstance(data, pa.Table):
        data = data.select(reading.columns.names).drop_null() if reading.complete else data
        reading = replace(reading, complete=())
        for first in range(0, max(len(data), 1), size):
            part = data.slice(first, size)
            yield TableItem(part, reading, len(part))
        return
    wanted = data._scan_options.get("filter")
    if wanted is not None:  # fragments are those of the data set without its filter
        data = data.replace_schema(data.schema)
        data._scan_options = {}
        reading = replace(reading, filter=wanted)
    for fragment in data.get_fragments(wanted):
        path = getattr(fragment, "path", "")
        item = TableItem(
            fragment, reading, stamp=FileStamp.of(path) if os.path.exists(path) else None
        )
        if not hasattr(fragment, "row_groups"):
            yield item
            continue
        if wanted is not None:
            fragment = fragment.subset(wanted)
        for groups, n in _joined_groups(fragment.row_groups, size // _ITEMS_PER_BLOCK):
            numbers = tuple(group.id for group in groups)
            part = fragment.subset(row_group_ids=list(numbers))
            count = n if wanted is None and not reading.complete else -1
            yield replace(item, part=part, groups=numbers, n_rows=count)


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


def _survey(item: TableItem, categories: Sequence[str]) -> tuple[int, dict[str, set[str]]]:
    """Return the number of rows of an item, and the levels of some columns in it."""
    import pyarrow.compute as pc

    n, levels = 0, {name: set[str]() for name in categories}
    names = list(categories) or item.reading.columns.names[-1:]
    for batch in item.batches(names, item.reading.block_rows):
        n += batch.num_rows
        for name, found in levels.items():
            values = batch.column(name)
            if hasattr(values, "dictionary_decode"):
                values = values.dictionary_decode()
            found |= {str(one) for one in pc.unique(values).drop_null().to_pylist()}
    return n, levels
