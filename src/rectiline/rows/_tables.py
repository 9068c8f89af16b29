"""Yields blocks of Arrow tables, data sets of files and streams, with a cache of decoded rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import checkpoint
from rectiline.rows._arrays import ArrayRows, block_length, checked_vector
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, join
from rectiline.rows._cache import Cache, CacheWriter
from rectiline.rows._columns import Columns, decoded
from rectiline.rows._finite import refuse_non_finite
from rectiline.rows._groups import RowGroups

__all__ = ["TableRows"]

State = TypeVar("State")
Result = TypeVar("Result")

# Of X in one block: decoded columns are copied once, and memory of this size is used again by the
# allocator. Blocks of 32 MiB take 1.3 times as long to decode and copy (20 columns of float32).
_BLOCK_BYTES = 1 << 23
_QUICK_ROWS, _QUICK_SHARE = 20_000, 0.05  # at most one of them is read of row groups for a sample
_HELD_BYTES = 1 << 25  # of X, up to which a table is held in memory once all of it was asked for


class TableRows(RowBlocks):
    """Rows of a table that is decoded block by block.

    Parameters
    ----------
    open_batches : callable
        Takes names of columns and the number of rows of a batch; returns an iterator of record
        batches.
    columns : Columns
    block_rows : int or None
    cache : Cache or None
        Where the first whole pass writes what it decodes; later passes read that.
    n_rows : int or None
    y, sample_weight : array-like or None
        Targets and weights that are not columns of the table.
    groups : RowGroups or None
        Where a sample is read without reading everything.
    """

    is_checked = False

    def __init__(
        self,
        open_batches: Callable[[list[str], int], Iterable[Any]],
        columns: Columns,
        block_rows: int | None,
        cache: Cache | None = None,
        n_rows: int | None = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: RowGroups | None = None,
    ) -> None:
        super().__init__()
        self._groups = groups
        self._open_batches, self._columns = open_batches, columns
        self.feature_names = tuple(columns.features)
        self.n_features, self.dtype = len(columns.features), columns.dtype
        self.block_rows = block_length(
            block_rows, self.n_features * self.dtype.itemsize, _BLOCK_BYTES
        )
        self._n_rows = n_rows
        if n_rows is not None:
            self._y = None if y is None else checked_vector("y", y, n_rows)
            weight = sample_weight
            if weight is not None:
                weight = checked_vector("sample_weight", weight, n_rows).astype(np.float64)
            self._weight = weight
        elif y is not None or sample_weight is not None:
            raise ValueError("Name the columns of target and weight in the table instead of y.")
        else:
            self._y = self._weight = None
        self.has_target = columns.target is not None or y is not None
        self.has_weight = columns.weight is not None or sample_weight is not None
        self._cache = cache
        self._stored: ArrayRows | None = None
        self._labels: NDArray[Any] | None = None
        if cache is not None:
            self._use_stored()

    def _use_stored(self) -> None:
        known = None if self._cache is None else self._cache.stored()
        if known is not None:
            arrays, facts = known
            n = int(facts["n_rows"])
            if facts["labels"] is not None:
                self._labels = np.array(facts["labels"], dtype=object)
            X = arrays["X"].reshape(n, self.n_features)
            self._hold(X, arrays.get("y"), arrays.get("weight"))

    def _hold(self, X: Any, y: Any, weight: Any) -> None:
        """Read rows from arrays, in memory or mapped, from now on."""
        self._stored = ArrayRows(X, y, weight, self.block_rows)
        self._n_rows, self.has_random_access = self._stored.n_rows, True

    def _open(self) -> Iterator[Block]:
        if self._stored is not None:
            yield from map(self._labelled, self._stored)
        elif self._cache is None:
            yield from self._decoded(self._columns)
        else:
            yield from self._decoded_and_written(CacheWriter(self._cache))

    def _decoded(self, columns: Columns) -> Iterator[Block]:
        batches = self._open_batches(columns.names, self.block_rows)
        for block in decoded(batches, columns, self.block_rows):
            some = slice(block.start, block.start + block.n_rows)
            y = block.y if self._y is None else self._y[some]
            weight = block.weight if self._weight is None else self._weight[some]
            yield Block(block.X, y, weight, block.start)

    def map_targets(
        self, function: Callable[[Block, State], Result], state: State
    ) -> Iterator[Result]:
        """Yield ``function(block, state)`` for blocks of y and weight, without other columns."""
        columns = self._columns.without_features()
        if self._cache is not None or not columns.names:
            yield from self.map_blocks(function, state)
            return
        for block in self._decoded(columns):
            checkpoint()
            yield function(block, state)

    def _decoded_and_written(self, writer: CacheWriter) -> Iterator[Block]:
        """Yield the blocks while they are written; a pass that ends early leaves nothing."""
        labels: dict[Any, int] = {}
        n, has_labels = 0, False
        try:
            for block in self._decoded(self._columns):
                writer.append("X", block.X)
                y = block.y
                if y is not None and y.dtype.kind not in "fiub":
                    has_labels = True
                    found, at = np.unique(y.astype(object), return_inverse=True)
                    codes = [labels.setdefault(label, len(labels)) for label in found.tolist()]
                    y = np.array(codes, dtype=np.int32)[at]
                if y is not None:
                    writer.append("y", y)
                if block.weight is not None:
                    writer.append("weight", block.weight)
                n += block.n_rows
                yield block
            if n:
                writer.finish({"n_rows": n, "labels": list(labels) if has_labels else None})
        finally:
            writer.discard()
        if n:
            self._use_stored()

    def _labelled(self, block: Block) -> Block:
        """Return a stored block with labels instead of their codes."""
        return block if self._labels is None else replace(block, y=self._labels[block.y])

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return copies of some rows, in increasing order, as one block."""
        if self._stored is None:
            return super().take(rows)
        return self._labelled(self._stored.take(rows))

    def quick_rows(self, size: int) -> tuple[Block, NDArray[np.int64]] | None:
        """Return all rows of a small table, or the first rows of row groups, if that will do."""
        if self._groups is None:
            return None
        n, d = self.n_rows, self.n_features
        if size >= n and n * d * self.dtype.itemsize <= _HELD_BYTES:
            whole = join(list(self), d)
            self._hold(whole.X, whole.y, whole.weight)
            return whole, np.arange(n)
        few = min(size, max(_QUICK_ROWS, int(_QUICK_SHARE * n)))
        found = self._groups.first_rows(self._columns.names, few)
        if found is None:
            return None
        batches, rows = found
        try:
            (block,) = decoded(batches, self._columns, rows.size)
            refuse_non_finite(block, 0, self.feature_names)
        except ValueError:
            return None  # a pass over all rows says what is wrong, and where
        return block, rows

    def read_once(self) -> RowBlocks:
        """Read a stream that cannot be opened again into the cache."""
        for _ in self:
            pass
        return self
