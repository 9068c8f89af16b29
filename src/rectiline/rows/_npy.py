"""Yields views of memory-mapped .npy files as blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block
from rectiline.rows._cache import FileStamp


class NpyRows(SlicedRows):
    """Rows of one or several .npy files, which are mapped and never read as a whole."""

    is_checked = is_in_memory = False

    def __init__(
        self, X_paths: Any, y_paths: Any, sample_weight: Any = None, block_rows: int | None = None
    ) -> None:
        X = Files.opened("X", X_paths, 2)
        y = None if y_paths is None else Files.opened("y", y_paths, 1)
        weight = None if sample_weight is None else Files.opened("sample_weight", sample_weight, 1)
        super().__init__(X, y, weight, block_rows)
        for name, part in (("y", y), ("sample_weight", weight)):
            if part is not None and part.shape[0] != self.n_rows:
                raise ValueError(
                    f"{name} must have one entry for each of the {self.n_rows} rows of X; got "
                    f"{part.shape[0]}."
                )

    def items(self) -> Iterator[NpyItem]:
        """Yield parts of the files; none goes beyond a file of X."""
        for piece in self._X.pieces:
            stop = piece.start + piece.last
            for start in range(piece.start, stop, self.block_rows):
                some = slice(start, min(start + self.block_rows, stop))
                X, y, weight = (
                    None if part is None else part.between(some.start, some.stop)
                    for part in (self._X, self._y, self._weight)
                )
                yield NpyItem(X, y, weight, start, self.dtype.str)


@dataclass(frozen=True)
class NpyItem:
    """Consecutive rows of files, which are read when they are opened."""

    X: Any
    y: Any
    weight: Any
    start: int
    dtype: str

    def blocks(self) -> Iterator[Block]:
        """Yield the rows as one block."""
        y, weight = (None if part is None else part.read() for part in (self.y, self.weight))
        yield Block(self.X.read(), y, weight, self.start).cast(np.dtype(self.dtype))


@dataclass(frozen=True)
class Piece:
    """Rows of an array, or of a file that is mapped when it is read.

    `start` is the number of the first row of the array among those of all files.
    """

    source: Any
    stamp: FileStamp | None
    start: int
    first: int
    last: int

    def read(self) -> NDArray[Any]:
        """Return the rows, as views where they are in memory or mapped."""
        if self.stamp is None:
            return np.asarray(self.source[self.first : self.last])
        self.stamp.refuse_changed()  # reading past the end of a cut file kills the process
        return np.asarray(np.load(self.source, mmap_mode="r")[self.first : self.last])


@dataclass(frozen=True)
class Files:
    """Arrays in files, one behind the other along their rows; workers open them by themselves."""

    pieces: tuple[Piece, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def opened(cls, name: str, given: Any, ndim: int) -> Files:
        """Return files, or arrays, after a look at their headers."""
        one = isinstance(given, (str, os.PathLike, np.ndarray))
        arrays = [_opened(name, part, ndim) for part in ([given] if one else list(given))]
        if not arrays:
            raise ValueError(f"{name}: no files were given.")
        wrong = [array.shape for array, _ in arrays if array.shape[1:] != arrays[0][0].shape[1:]]
        if wrong:
            raise ValueError(
                f"All files of {name} must have as many columns as the first one, "
                f"{arrays[0][0].shape[1]}; got shape {wrong[0]}."
            )
        starts = list(accumulate((len(array) for array, _ in arrays), initial=0))
        pieces = tuple(
            Piece(array if stamp is None else stamp.path, stamp, start, 0, len(array))
            for (array, stamp), start in zip(arrays, starts, strict=False)
        )
        dtype = np.result_type(*(array for array, _ in arrays)).newbyteorder("=")
        return cls(pieces, (starts[-1], *arrays[0][0].shape[1:]), dtype)

    def between(self, start: int, stop: int) -> Files:
        """Return the files that hold these rows, and the rows alone."""
        pieces = tuple(
            replace(one, first=max(start - one.start, 0), last=min(stop - one.start, one.last))
            for one in self.pieces
            if one.start < stop and one.start + one.last > start
        )
        return replace(self, pieces=pieces)

    def read(self) -> NDArray[Any]:
        """Return all rows."""
        arrays = [piece.read() for piece in self.pieces]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return copies of some rows."""
        taken = np.empty((rows.size, *self.shape[1:]), dtype=self.dtype)
        for piece in self.pieces:
            here = (rows >= piece.start) & (rows < piece.start + piece.last)
            taken[here] = piece.read()[rows[here] - piece.start]
        return taken


def _opened(name: str, given: Any, ndim: int) -> tuple[NDArray[Any], FileStamp | None]:
    array, title, stamp = given, name, None
    if not isinstance(given, np.ndarray):
        path = Path(given)
        title = f"{name} ({path})"
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{title}: not a .npy file of numbers: {error}") from error
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{title}: an archive of arrays; store X in a .npy file.")
        stamp = FileStamp.of(path)
    labels = "US" if name == "y" else ""
    if array.dtype.kind not in "fiub" + labels or array.ndim != ndim:
        raise ValueError(
            f"{title} must be a {ndim}-D array of real numbers; got {array.ndim}-D with dtype "
            f"{array.dtype}."
        )
    return array, stamp
