"""Yields the blocks of a callable that opens a fresh iterator for every pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._column_names import names_of
from rectiline.rows._arrays import checked_block
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, join


class StreamRows(RowBlocks):
    """Rows of a callable that returns a new iterator of ``(X, y)`` or ``(X, y, weight)``."""

    is_one_stream = True

    def __init__(
        self, open_blocks: Any, n_features: int | None, feature_names: Sequence[str] | None
    ) -> None:
        super().__init__()
        if not callable(open_blocks):
            raise TypeError(
                "open_blocks must be a callable that returns a fresh iterator of (X, y) or (X, y, "
                f"weight) each time it is called; got {type(open_blocks).__name__}. Every pass "
                "reads the rows again, so that an iterator that can be read once is not enough."
            )
        self._open_blocks = open_blocks
        first = next(iter(self._opened()), None)
        if first is None:
            raise ValueError("open_blocks() yields no block; at least one row is needed.")
        block = self._block(first, 0, 0)
        self.n_features = int(block.X.shape[1])
        if n_features not in (None, self.n_features):
            raise ValueError(
                f"n_features={n_features}, but the first block has {self.n_features} columns."
            )
        self.dtype, self.has_weight = block.X.dtype, block.weight is not None
        names = names_of(first[0]) if feature_names is None else feature_names
        if names is not None and (isinstance(names, str) or len(names) != self.n_features):
            raise ValueError(
                f"feature_names={names!r}: must be a list of {self.n_features} names, as the first "
                "block has so many columns."
            )
        self.feature_names = None if names is None else tuple(map(str, names))

    def _opened(self) -> Iterable[Any]:
        blocks: Iterable[Any] = self._open_blocks()
        if iter(blocks) is blocks and blocks is getattr(self, "_last", None):
            raise ValueError(
                "open_blocks() returned the iterator that it had returned before; it must return "
                "a fresh one each time, as every pass reads the rows again."
            )
        self._last = blocks
        return blocks

    def items(self) -> list[StreamRows]:
        """Return the stream itself."""
        return [self]

    def blocks(self) -> Iterator[Block]:
        """Open the stream and yield its blocks."""
        start = 0
        for place, given in enumerate(self._opened()):
            block = self._block(given, place, start)
            if (block.weight is not None) != self.has_weight:
                raise ValueError(
                    f"Block {place} of the stream has {'' if block.weight is not None else 'no '}"
                    "weights, unlike the first one: either all blocks have weights or none."
                )
            yield block
            start += block.n_rows

    def quick_rows(self, size: int) -> tuple[Block, NDArray[np.int64]] | None:
        """Return the first rows, once it is known how many there are."""
        if self.known_n_rows is None:
            return None
        few, found, n = self._quick_size(size), list[Block](), 0
        for block in self.blocks():
            found.append(block)
            n += block.n_rows
            if n >= few:
                break
        return join(found, self.n_features), np.arange(n, dtype=np.int64)

    @staticmethod
    def _block(given: Any, place: int, start: int) -> Block:
        if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
            raise ValueError(
                f"Block {place} of the stream must be a tuple (X, y) or (X, y, weight); got "
                f"{type(given).__name__}."
            )
        X, y, weight = given if len(given) == 3 else (*given, None)
        return checked_block(X, y, weight, start, f"Block {place}: ").cast()
