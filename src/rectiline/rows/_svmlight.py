"""Yields CSR blocks of svmlight text, which is parsed once, in ranges of bytes, into a cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, block_length
from rectiline.rows._cache import Cache, FileStamp, checked_cache, listed_paths

_BYTES_PARSED_AT_ONCE = 1 << 23
_MOST_COLUMNS = 2**31 - 1


class SvmlightRows(RowBlocks):
    """Rows of svmlight text files: one item for each range of bytes that holds any."""

    reads_ahead = True

    def __init__(
        self, paths: Any, n_features: Any, block_rows: int | None, cache: Any, zero_based: Any
    ) -> None:
        super().__init__()
        found = [Path(path) for path in listed_paths("from_svmlight", paths)]
        for path in found:
            if path.suffix in (".gz", ".bz2", ".xz"):
                raise ValueError(
                    f"{path} is compressed; decompress it first: text is read in parts."
                )
        self.dtype = np.dtype(np.float64)
        stamps = [FileStamp.of(path) for path in found]
        if checked_cache(cache) is not False:
            self.cache = Cache(cache, ["parts of svmlight"], stamps)
        items, sizes = self._scanned(stamps)
        if not items:
            raise ValueError("The source has no rows; at least one is needed.")
        lengths, stored, lowest, highest = zip(*sizes, strict=True)
        self._n_rows = n = sum(lengths)
        shift = int(not zero_based) if isinstance(zero_based, bool) else int(min(lowest) > 0)
        if min(lowest) < shift:
            raise ValueError("zero_based=False, but the text holds column 0.")
        needed = max(max(highest) + 1 - shift, 1)
        self.n_features = needed if n_features is None else int(n_features)
        if self.n_features < needed:
            raise ValueError(f"n_features={n_features}, but the text holds column {max(highest)}.")
        size = block_length(block_rows, 12 * sum(stored) / n)
        self._items = [
            replace(item, start=start, n_features=self.n_features, shift=shift, block_rows=size)
            for item, start in zip(items, accumulate(lengths, initial=0), strict=False)
        ]

    def _scanned(self, stamps: list[FileStamp]) -> tuple[list[SvmlightItem], list[list[int]]]:
        """Return the items and the sizes of each; write what was parsed to the cache.

        Sizes are the numbers of rows and of entries, the lowest column and the highest one.
        """
        known = None if self.cache is None else self.cache.stored()
        if known is not None:
            return [SvmlightItem(FileStamp.of(path)) for path in known[0]], known[1]
        items: list[SvmlightItem] = []
        sizes: list[list[int]] = []
        for stamp in stamps:
            for offset in range(0, stamp.size, _BYTES_PARSED_AT_ONCE):
                item = SvmlightItem(stamp, offset)
                X, y = item.parsed()
                if not X.shape[0]:
                    continue
                ends = X.indices.min(initial=_MOST_COLUMNS), X.indices.max(initial=-1)
                sizes.append([int(one) for one in (X.shape[0], X.nnz, *ends)])
                if self.cache is not None:
                    path = self.cache.folder / f"part-{len(items)}.npz"
                    indices = X.indices.astype(np.int32)
                    np.savez(path, data=X.data, indices=indices, indptr=X.indptr, y=y)
                    item = SvmlightItem(FileStamp.of(path))
                items.append(item)
        if self.cache is not None and items:
            self.cache.describe([Path(item.stamp.path).name for item in items], sizes)
        return items, sizes


@dataclass(frozen=True)
class SvmlightItem:
    """A range of bytes of a text, or a file of the cache if there is no offset."""

    stamp: FileStamp
    offset: int | None = None
    start: int = 0
    n_features: int = _MOST_COLUMNS
    shift: int = 0  # number of the first column in the text
    block_rows: int = 0

    def parsed(self) -> tuple[Any, NDArray[Any]]:
        """Return X, with columns as they are numbered in the text, and y."""
        from sklearn.datasets import load_svmlight_file

        self.stamp.refuse_changed()
        if self.offset is None:
            with np.load(self.stamp.path) as stored:
                shape = (stored["y"].size, _MOST_COLUMNS)
                parts = (stored["data"], stored["indices"], stored["indptr"])
                return sp.csr_array(parts, shape=shape), stored["y"]
        try:
            X, y = load_svmlight_file(
                self.stamp.path,
                n_features=_MOST_COLUMNS,
                zero_based=True,
                offset=self.offset,
                length=_BYTES_PARSED_AT_ONCE,
            )
        except ValueError as error:
            raise ValueError(
                f"{self.stamp.path} is not svmlight text between the bytes {self.offset} and "
                f"{self.offset + _BYTES_PARSED_AT_ONCE}: {error}"
            ) from error
        return X, y

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in blocks."""
        X, y = self.parsed()
        shape = (X.shape[0], self.n_features)
        X = sp.csr_array((X.data, X.indices - np.int32(self.shift), X.indptr), shape=shape)
        for first in range(0, X.shape[0], self.block_rows):
            some = slice(first, first + self.block_rows)
            yield Block(X[some], y[some], None, self.start + first)
