"""Repeats each row of a source for several levels; joint fits of quantiles on rows use it.

Row i of the source becomes the rows ``m i`` to ``m i + m - 1``, one for each of m levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block

State = TypeVar("State")
Result = TypeVar("Result")
Numbers = NDArray[np.int64]

_PIECE_BYTES = 1 << 25  # of a stacked matrix
_BYTES_PER_ENTRY = 12  # value and column


@dataclass(frozen=True)
class Levels:
    """How rows are repeated.

    Attributes
    ----------
    count : int
        Number of levels.
    n_features : int
        Columns of the source.
    shares_columns : bool
        Whether all levels have their entries in the same columns, or each in columns of its own.
    has_indicators : bool
        Whether there is one more column for each level, which is 1 on its rows.
    factor : float
        On the weights.
    """

    count: int
    n_features: int
    shares_columns: bool
    has_indicators: bool
    factor: float = 1.0

    @property
    def n_columns(self) -> int:
        """Number of columns of the stacked rows."""
        return self._n_slopes + self.has_indicators * self.count

    @property
    def _n_slopes(self) -> int:
        return self.n_features * (1 if self.shares_columns else self.count)

    def stack(self, X: Any, at: Numbers, level: Numbers) -> Any:
        """Return the rows `at` of X, each for a level."""
        n, d = at.size, self.n_features
        shift = np.zeros(n, np.int32) if self.shares_columns else (level * d).astype(np.int32)
        if sp.issparse(X):
            part = X[at]
            columns = part.indices + np.repeat(shift, np.diff(part.indptr))
            made = sp.csr_array((part.data, columns, part.indptr), shape=(n, self._n_slopes))
            if self.has_indicators:
                ones = (np.ones(n, X.dtype), level, np.arange(n + 1))
                made = sp.hstack([made, sp.csr_array(ones, shape=(n, self.count))], format="csr")
            return sp.csr_array((made.data, made.indices, made.indptr), shape=(n, self.n_columns))
        width = d + self.has_indicators
        data, indices = np.empty((n, width), X.dtype), np.empty((n, width), np.int32)
        data[:, :d] = X[at]
        indices[:, :d] = np.arange(d, dtype=np.int32) + shift[:, None]
        if self.has_indicators:
            data[:, d], indices[:, d] = 1.0, self._n_slopes + level
        pointers = np.arange(0, n * width + 1, width)
        entries = (data.ravel(), indices.ravel(), pointers)
        return sp.csr_array(entries, shape=(n, self.n_columns))

    def block(self, block: Block, at: Numbers, level: Numbers, start: int) -> Block:
        """Return the rows `at` of a block, each for a level."""
        if block.is_tensor:
            raise ValueError("Rows on a GPU cannot be stacked for levels; pass arrays of NumPy.")
        y = None if block.y is None else np.asarray(block.y)[at]
        weight = None if block.weight is None else self.factor * np.asarray(block.weight)[at]
        if weight is None and self.factor != 1.0:
            weight = np.full(at.size, self.factor)
        return Block(self.stack(block.X, at, level), y, weight, start)

    def pieces(self, block: Block) -> Iterator[Block]:
        """Yield all rows of a block for all levels, in pieces that do not take much memory."""
        stored = block.X.nnz / max(block.n_rows, 1) if block.is_sparse else self.n_features
        each = _BYTES_PER_ENTRY * (stored + self.has_indicators) * self.count
        size = max(1, int(_PIECE_BYTES / max(each, 1.0)))
        for first in range(0, block.n_rows, size):
            rows = np.arange(first, min(first + size, block.n_rows))
            level = np.tile(np.arange(self.count), rows.size)
            start = self.count * (block.start + first)
            yield self.block(block, np.repeat(rows, self.count), level, start)


class StackedRows(RowBlocks):
    """Rows of a source, each repeated for several levels; see `Levels`."""

    def __init__(self, source: RowBlocks, levels: Levels) -> None:
        super().__init__()
        self.source, self.levels = source, levels
        self.n_features, self.dtype = levels.n_columns, source.dtype
        self.has_target, self.has_random_access = source.has_target, source.has_random_access
        self.has_weight = source.has_weight or levels.factor != 1.0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.levels.count * self.source.n_rows

    @property
    def known_n_rows(self) -> int | None:
        """Number of rows where it is known without reading the source; None otherwise."""
        n = self.source.known_n_rows
        return None if n is None else self.levels.count * n

    def take(self, rows: Numbers) -> Block:
        """Return copies of some rows, in increasing order, as one block."""
        numbers, level = np.divmod(np.asarray(rows, dtype=np.int64), self.levels.count)
        needed, at = np.unique(numbers, return_inverse=True)
        return self.levels.block(self.source.take(needed), at, level, 0)

    def quick_rows(self, size: int) -> tuple[Block, Numbers] | None:
        """Return rows of the source that are quick to read, each for a level of its own.

        Levels are random: those that take turns would leave some out where every second row is
        picked, and rows that stand here for two levels are no independent draws. Few rows are given
        for all levels.
        """
        count = self.levels.count
        found = self.source.quick_rows(min(size, self.source.n_rows))
        if found is None:
            return None
        block, rows = found
        if count * rows.size <= size:
            at, level = np.divmod(np.arange(count * rows.size), count)
        else:
            at = np.arange(rows.size)
            level = np.random.default_rng(0).integers(count, size=rows.size)
        return self.levels.block(block, at, level, 0), count * rows[at] + level

    def map_blocks(
        self, function: Callable[[Block, State], Result], state: State
    ) -> Iterator[Result]:
        """Yield ``function(block, state)`` for every piece of a block, where the block is."""
        for found in self.source.map_blocks(_on_pieces, (function, state, self.levels)):
            yield from found


def _on_pieces(block: Block, work: tuple[Callable[[Block, Any], Any], Any, Levels]) -> list[Any]:
    function, state, levels = work
    return [function(piece, state) for piece in levels.pieces(block)]
