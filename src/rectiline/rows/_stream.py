"""Yields the blocks of a callable that opens a fresh iterator for every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from rectiline.rows._arrays import checked_matrix, checked_vector
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block

__all__ = ["StreamRows"]


class StreamRows(RowBlocks):
    """Rows of a callable that returns a new iterator of ``(X, y)`` or ``(X, y, weight)``."""

    def __init__(
        self,
        open_blocks: Callable[[], Iterable[Any]],
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
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
        X, _, weight = self._parts(first, 0)
        if n_features is not None and X.shape[1] != n_features:
            raise ValueError(
                f"n_features={n_features}, but the first block has {X.shape[1]} columns."
            )
        self.n_features = int(X.shape[1])
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.has_weight = weight is not None
        self._set_names(feature_names, first[0])

    def _set_names(self, names: Sequence[str] | None, X: Any) -> None:
        """Take the names of the columns: those given, or those of a first block that is a table."""
        if names is None:
            names = getattr(X, "column_names", getattr(X, "columns", None))
            if names is None or not all(isinstance(name, str) for name in names):
                return
        if isinstance(names, str) or len(names) != self.n_features:
            raise ValueError(
                f"feature_names={names!r}: must be a list of {self.n_features} names, as the first "
                "block has so many columns."
            )
        self.feature_names = tuple(map(str, names))

    def _opened(self) -> Iterable[Any]:
        blocks = self._open_blocks()
        if iter(blocks) is blocks and blocks is getattr(self, "_last", None):
            raise ValueError(
                "open_blocks() returned the iterator that it had returned before; it must return "
                "a fresh one each time, as every pass reads the rows again."
            )
        self._last = blocks
        return blocks

    def _open(self) -> Iterator[Block]:
        start = 0
        for place, given in enumerate(self._opened()):
            X, y, weight = self._parts(given, place)
            if (weight is not None) != self.has_weight:
                raise ValueError(
                    f"Block {place} of the stream has {'' if weight is not None else 'no '}"
                    "weights, unlike the first one: either all blocks have weights or none."
                )
            yield Block(X, y, weight, start)
            start += X.shape[0]

    @staticmethod
    def _parts(given: Any, place: int) -> tuple[Any, Any, Any]:
        if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
            raise ValueError(
                f"Block {place} of the stream must be a tuple (X, y) or (X, y, weight); got "
                f"{type(given).__name__}."
            )
        X = checked_matrix(given[0], f"Block {place}: X")
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        y = checked_vector(f"Block {place}: y", given[1], X.shape[0])
        weight = given[2] if len(given) == 3 else None
        if weight is not None:
            weight = checked_vector(f"Block {place}: weight", weight, X.shape[0])
            weight = weight.astype(np.float64)
        return X, y, weight
