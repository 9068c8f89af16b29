"""Yields views of memory-mapped .npy files as blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._arrays import block_length
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block

__all__ = ["NpyRows"]


class NpyRows(SlicedRows):
    """Rows of one or several .npy files, which are mapped and never read as a whole."""

    is_checked = False

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

    def _open(self) -> Iterator[Block]:
        for part in (self._X, self._y, self._weight):
            if part is not None:
                part.refuse_changed_files()  # reading past the end of a cut file kills the process
        yield from super()._open()

    def _ranges(self) -> Iterable[tuple[int, int]]:
        return self._X.ranges()  # views of one file

    def _block(self, some: Any, start: int) -> Block:
        X, y, weight = (
            None if part is None else part[some] for part in (self._X, self._y, self._weight)
        )
        assert X is not None
        if X.dtype != self.dtype:  # integers, other byte orders, files of several types
            X = X.astype(self.dtype)
        return Block(X, y, None if weight is None else np.asarray(weight, np.float64), start)


class _Parts:
    """Mapped arrays, one behind the other along their rows."""

    def __init__(self, name: str, given: Any, ndim: int) -> None:
        self.name = name
        one = isinstance(given, (str, os.PathLike, np.ndarray))
        self._stamps: list[tuple[Path, tuple[int, int]]] = []
        self._arrays = [self._opened(part, ndim) for part in ([given] if one else list(given))]
        if not self._arrays:
            raise ValueError(f"{name}: no files were given.")
        self.width = int(self._arrays[0].shape[1]) if ndim == 2 else 1
        for part in self._arrays:
            if ndim == 2 and part.shape[1] != self.width:
                raise ValueError(
                    f"All files of {name} must have as many columns as the first one, "
                    f"{self.width}; got shape {part.shape}."
                )
        self._ends = np.cumsum([0] + [len(part) for part in self._arrays])
        self.n_rows = int(self._ends[-1])
        self.dtype = np.result_type(*self._arrays).newbyteorder("=")

    def _opened(self, given: Any, ndim: int) -> NDArray[Any]:
        array, title = given, f"{self.name}"
        if not isinstance(given, np.ndarray):
            path = Path(given)
            title = f"{self.name} ({path})"
            try:
                array = np.load(path, mmap_mode="r", allow_pickle=False)
            except ValueError as error:
                raise ValueError(f"{title}: not a .npy file of numbers: {error}") from error
            if not isinstance(array, np.ndarray):
                raise ValueError(f"{title}: an archive of arrays; store X in a .npy file.")
            self._stamps.append((path, _stamp(path)))
        labels = "US" if self.name == "y" else ""
        if array.dtype.kind not in "fiub" + labels or array.ndim != ndim:
            raise ValueError(
                f"{title} must be a {ndim}-D array of real numbers; got {array.ndim}-D with dtype "
                f"{array.dtype}."
            )
        return np.asarray(array)

    def refuse_changed_files(self) -> None:
        for path, stamp in self._stamps:
            if _stamp(path) != stamp:
                raise RuntimeError(
                    f"The file {path} of {self.name} has changed since it was opened."
                )

    def ranges(self) -> Iterator[tuple[int, int]]:
        ends = [int(end) for end in self._ends]
        return pairwise(ends)

    def __getitem__(self, some: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return rows of a slice, a view if they are in one file, or copies of those at numbers."""
        if isinstance(some, slice):
            pieces = [
                part[max(some.start - first, 0) : some.stop - first]
                for part, (first, last) in zip(self._arrays, self.ranges(), strict=True)
                if first < some.stop and last > some.start
            ]
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        taken = np.empty((some.size, *self._arrays[0].shape[1:]), dtype=self.dtype)
        for part, (first, last) in zip(self._arrays, self.ranges(), strict=True):
            here = (some >= first) & (some < last)
            taken[here] = part[some[here] - first]
        return taken


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
