"""Yields CSR blocks of svmlight text, which is parsed once, in ranges of bytes, into a cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rectiline.rows._arrays import block_length
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, join, pick
from rectiline.rows._cache import Cache, CacheWriter, checked_cache

__all__ = ["SvmlightRows"]

_RANGE = 1 << 23  # bytes of text that are parsed at once
_MOST_COLUMNS = 2**31 - 1


class SvmlightRows(RowBlocks):
    """Rows of svmlight text files."""

    is_checked = False

    def __init__(
        self,
        paths: Any,
        n_features: int | None = None,
        block_rows: int | None = None,
        cache: Any = "auto",
        zero_based: bool | str = "auto",
    ) -> None:
        super().__init__()
        one = isinstance(paths, (str, os.PathLike))
        self._paths = [Path(path) for path in ([paths] if one else paths)]
        if not self._paths:
            raise ValueError("from_svmlight: no files were given.")
        for path in self._paths:
            if path.suffix in (".gz", ".bz2", ".xz"):
                raise ValueError(
                    f"{path} is compressed; decompress it first: text is read in parts."
                )
        self.dtype = np.dtype(np.float64)
        stamps = [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in self._paths]
        self._cache = None if checked_cache(cache) is False else Cache(cache, ["svmlight", stamps])
        self._arrays: dict[str, NDArray[Any]] | None = None
        lowest, highest, n, stored = self._scan()
        self.has_random_access = self._arrays is not None
        if n == 0:
            raise ValueError("The source has no rows; at least one is needed.")
        self._shift = int(not zero_based) if isinstance(zero_based, bool) else int(lowest > 0)
        if lowest < self._shift:
            raise ValueError("zero_based=False, but the text holds column 0.")
        found = max(highest + 1 - self._shift, 1)
        self.n_features = found if n_features is None else int(n_features)
        if self.n_features < found:
            raise ValueError(f"n_features={n_features}, but the text holds column {highest}.")
        self.block_rows = block_length(block_rows, 12 * stored / n)
        self._n_rows = n

    def _scan(self) -> tuple[int, int, int, int]:
        """Return the lowest and highest column, the numbers of rows and of stored values."""
        known = None if self._cache is None else self._cache.stored()
        if known is None:
            lowest, highest, n, stored = _MOST_COLUMNS, -1, 0, 0
            writer = None if self._cache is None else CacheWriter(self._cache)
            try:
                for X, y in self._parsed():
                    if X.nnz:
                        lowest = min(lowest, int(X.indices.min()))
                        highest = max(highest, int(X.indices.max()))
                    if writer is not None:
                        writer.append("data", X.data)
                        writer.append("indices", X.indices.astype(np.int32))
                        writer.append("ends", X.indptr[1:].astype(np.int64) + stored)
                        writer.append("y", y)
                    n, stored = n + X.shape[0], stored + X.nnz
                if writer is None or self._cache is None or n == 0:
                    return lowest, highest, n, stored
                writer.finish([lowest, highest, n, stored])
            finally:
                if writer is not None:
                    writer.discard()
            known = self._cache.stored()
            assert known is not None
        self._arrays, facts = known
        lowest, highest, n, stored = (int(fact) for fact in facts)
        return lowest, highest, n, stored

    def _parsed(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield X, with columns as they are numbered in the text, and y of ranges of bytes."""
        from sklearn.datasets import load_svmlight_file

        for path in self._paths:
            for offset in range(0, path.stat().st_size, _RANGE):
                try:
                    X, y = load_svmlight_file(
                        str(path),
                        n_features=_MOST_COLUMNS,
                        zero_based=True,
                        offset=offset,
                        length=_RANGE,
                    )
                except ValueError as error:
                    raise ValueError(
                        f"{path} is not svmlight text between the bytes {offset} and "
                        f"{offset + _RANGE}: {error}"
                    ) from error
                if X.shape[0]:
                    yield X, y

    def _open(self) -> Iterator[Block]:
        if self._arrays is not None:
            for start in range(0, self.n_rows, self.block_rows):
                yield self._stored(start, min(start + self.block_rows, self.n_rows))
            return
        before = 0
        for X, y in self._parsed():
            shape = (X.shape[0], self.n_features)
            X = sp.csr_array((X.data, X.indices - self._shift, X.indptr), shape=shape)
            for first in range(0, X.shape[0], self.block_rows):
                last = first + self.block_rows
                yield Block(X[first:last], y[first:last], None, before + first)
            before += X.shape[0]

    def _stored(self, start: int, stop: int) -> Block:
        assert self._arrays is not None
        ends = self._arrays["ends"]
        first = int(ends[start - 1]) if start else 0
        some = slice(first, int(ends[stop - 1]))
        pointers = np.concatenate([[0], ends[start:stop] - first]).astype(np.int32)
        columns = self._arrays["indices"][some] - np.int32(self._shift)
        shape = (stop - start, self.n_features)
        X = sp.csr_array((self._arrays["data"][some], columns, pointers), shape=shape)
        return Block(X, self._arrays["y"][start:stop], None, start)

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return copies of some rows, in increasing order, as one block."""
        if self._arrays is None:
            return super().take(rows)
        size, found = self.block_rows, []
        for number in np.unique(np.asarray(rows) // size):
            start = int(number) * size
            found.append(pick(self._stored(start, min(start + size, self.n_rows)), rows))
        return join(found, self.n_features)
