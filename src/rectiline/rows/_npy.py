"""Yields views of memory-mapped .npy files as blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._arrays import block_length
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block
from rectiline.rows._cache import FileStamp

__all__ = ["NpyRows"]


class NpyRows(SlicedRows):
    """Rows of one or several .npy files, which are mapped and never read as a whole."""

    is_checked = is_in_memory = False

    def __init__(
        self, X_paths: Any, y_paths: Any, sample_weight: Any = None, block_rows: int | None = None
    ) -> None:
        super().__init__()
        self._X = _Parts("X", X_paths, 2)
        n, d = self._X.n_rows, self._X.width
        if n == 0 or d == 0:
            raise ValueError(f"X must have at least one row and one column; got shape {(n, d)}.")
        self.n_features, self._n_rows = d, n
        self.dtype = np.dtype(np.float32 if self._X.dtype == np.float32 else np.float64)
        self._y = None if y_paths is None else _Parts("y", y_paths, 1)
        self._weight = None if sample_weight is None else _Parts("sample_weight", sample_weight, 1)
        for part in (self._y, self._weight):
            if part is not None and part.n_rows != n:
                raise ValueError(
                    f"{part.name} must have one entry for each of the {n} rows of X; got "
                    f"{part.n_rows}."
                )
        self.has_target, self.has_weight = y_paths is not None, sample_weight is not None
        self.block_rows = block_length(block_rows, d * self._X.dtype.itemsize)

    def items(self) -> Iterator[NpyItem]:
        """Yield parts of the files; none goes beyond a file of X."""
        for first, last in pairwise(self._X.ends):
            for start in range(first, last, self.block_rows):
                stop = min(start + self.block_rows, last)
                X, y, weight = (
                    None if part is None else part.between(start, stop)
                    for part in (self._X, self._y, self._weight)
                )
                assert X is not None
                yield NpyItem(X, y, weight, start, self.dtype.str)

    def _block(self, some: Any, start: int) -> Block:
        X, y, weight = (
            None if part is None else part.take(some) for part in (self._X, self._y, self._weight)
        )
        return _block_of(X, y, weight, start, self.dtype)


@dataclass(frozen=True)
class _Piece:
    """Rows of an array, or of a file that is mapped when it is read."""

    source: Any
    first: int
    last: int
    stamp: FileStamp | None

    def read(self) -> NDArray[Any]:
        if self.stamp is None:
            return np.asarray(self.source[self.first : self.last])
        self.stamp.refuse_changed()  # reading past the end of a cut file kills the process
        return np.asarray(np.load(self.source, mmap_mode="r")[self.first : self.last])


@dataclass(frozen=True)
class NpyItem:
    """Consecutive rows of files."""

    X: tuple[_Piece, ...]
    y: tuple[_Piece, ...] | None
    weight: tuple[_Piece, ...] | None
    start: int
    dtype: str

    def blocks(self) -> Iterator[Block]:
        """Yield the rows as one block."""
        y, weight = (None if part is None else _read(part) for part in (self.y, self.weight))
        yield _block_of(_read(self.X), y, weight, self.start, np.dtype(self.dtype))


def _read(pieces: tuple[_Piece, ...]) -> NDArray[Any]:
    arrays = [piece.read() for piece in pieces]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _block_of(X: Any, y: Any, weight: Any, start: int, dtype: np.dtype[Any]) -> Block:
    if X.dtype != dtype:  # integers, other byte orders, files of several types
        X = X.astype(dtype)
    return Block(X, y, None if weight is None else np.asarray(weight, np.float64), start)


class _Parts:
    """Arrays in files, one behind the other along their rows."""

    def __init__(self, name: str, given: Any, ndim: int) -> None:
        self.name = name
        one = isinstance(given, (str, os.PathLike, np.ndarray))
        arrays = [self._opened(part, ndim) for part in ([given] if one else list(given))]
        if not arrays:
            raise ValueError(f"{name}: no files were given.")
        self.width = int(arrays[0][0].shape[1]) if ndim == 2 else 1
        for array, _ in arrays:
            if ndim == 2 and array.shape[1] != self.width:
                raise ValueError(
                    f"All files of {name} must have as many columns as the first one, "
                    f"{self.width}; got shape {array.shape}."
                )
        self.ends = [0, *np.cumsum([len(array) for array, _ in arrays]).tolist()]
        self.n_rows = self.ends[-1]
        self.dtype = np.result_type(*(array for array, _ in arrays)).newbyteorder("=")
        self._sources = [(array if stamp is None else stamp.path, stamp) for array, stamp in arrays]
        self._shape = arrays[0][0].shape[1:]

    def _opened(self, given: Any, ndim: int) -> tuple[NDArray[Any], FileStamp | None]:
        array, title, stamp = given, f"{self.name}", None
        if not isinstance(given, np.ndarray):
            path = Path(given)
            title = f"{self.name} ({path})"
            try:
                array = np.load(path, mmap_mode="r", allow_pickle=False)
            except ValueError as error:
                raise ValueError(f"{title}: not a .npy file of numbers: {error}") from error
            if not isinstance(array, np.ndarray):
                raise ValueError(f"{title}: an archive of arrays; store X in a .npy file.")
            stamp = FileStamp.of(path)
        labels = "US" if self.name == "y" else ""
        if array.dtype.kind not in "fiub" + labels or array.ndim != ndim:
            raise ValueError(
                f"{title} must be a {ndim}-D array of real numbers; got {array.ndim}-D with dtype "
                f"{array.dtype}."
            )
        return array, stamp

    def between(self, start: int, stop: int) -> tuple[_Piece, ...]:
        """Return the pieces of files that hold these rows."""
        return tuple(
            _Piece(source, max(start - first, 0), min(stop, last) - first, stamp)
            for (source, stamp), (first, last) in zip(
                self._sources, pairwise(self.ends), strict=True
            )
            if first < stop and last > start
        )

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return copies of some rows."""
        taken = np.empty((rows.size, *self._shape), dtype=self.dtype)
        for (source, stamp), (first, last) in zip(self._sources, pairwise(self.ends), strict=True):
            here = (rows >= first) & (rows < last)
            taken[here] = _Piece(source, 0, last - first, stamp).read()[rows[here] - first]
        return taken
