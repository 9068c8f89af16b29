"""Yields views of memory-mapped .npy files as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block, refuse_other_length
from rectiline.rows._cache import FileStamp, listed_paths


class NpyRows(SlicedRows):
    """Rows of one or several .npy files, which are mapped and never read as a whole."""

    is_in_memory = False

    def __init__(self, X: Any, y: Any, sample_weight: Any, block_rows: int | None) -> None:
        files = Files.opened("X", X, 2)
        beside = {"y": y, "sample_weight": sample_weight}
        for name, given in beside.items():
            if given is not None:
                beside[name] = Files.opened(name, given, 1)
                refuse_other_length(name, beside[name].shape, files.shape[0])
        super().__init__(files, beside["y"], beside["sample_weight"], block_rows)

    def items(self) -> Iterator[NpyItem]:
        """Yield parts of the files; none goes beyond a file of X."""
        parts = (self.whole.X, self.whole.y, self.whole.weight)
        for first, end in self.X.ends():
            for start in range(first, end, self.block_rows):
                some = slice(start, min(start + self.block_rows, end))
                X, y, weight = (None if part is None else part.around(some) for part in parts)
                yield NpyItem(Block(X, y, weight, 0), some, self.dtype)


@dataclass(frozen=True)
class NpyItem:
    """Consecutive rows of files, which are read when they are opened."""

    files: Block
    some: slice
    dtype: np.dtype[Any]

    def blocks(self) -> Iterator[Block]:
        """Yield the rows as one block."""
        yield self.files.take(self.some).cast(self.dtype)


@dataclass(frozen=True)
class Files:
    """Arrays in memory or in files, one behind the other; workers open them by themselves.

    Attributes
    ----------
    parts : tuple of ndarray or FileStamp
    starts : tuple of int
        Number of the first row of each part, and of the row behind the last one.
    shape : tuple of int
    dtype : numpy.dtype
    """

    parts: tuple[Any, ...]
    starts: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def opened(cls, name: str, given: Any, ndim: int) -> Files:
        """Return files, or arrays, after a look at their headers."""
        listed = listed_paths(name, given)
        arrays = [_opened(name, part, ndim) for part in listed]
        width = arrays[0].shape[1:]
        wrong = [array.shape for array in arrays if array.shape[1:] != width]
        if wrong:
            raise ValueError(
                f"All files of {name} must have as many columns as the first one, {width[0]}; got "
                f"shape {wrong[0]}."
            )
        parts = (one if isinstance(one, np.ndarray) else FileStamp.of(Path(one)) for one in listed)
        starts = tuple(accumulate(map(len, arrays), initial=0))
        dtype = np.result_type(*arrays).newbyteorder("=")
        return cls(tuple(parts), starts, (starts[-1], *width), dtype)

    def ends(self) -> Iterator[tuple[int, int]]:
        """Yield the first row of each part, and the row behind its last one."""
        return zip(self.starts, self.starts[1:], strict=False)

    def around(self, some: slice) -> Files:
        """Return the parts that hold these rows, so that others need not travel to a worker."""
        first = int(np.searchsorted(self.starts, some.start, "right")) - 1
        last = int(np.searchsorted(self.starts, some.stop))
        return Files(self.parts[first:last], self.starts[first : last + 1], self.shape, self.dtype)

    def _read(self, part: Any, rows: Any) -> NDArray[Any]:
        """Return rows of a part, as views where they are in memory or mapped."""
        if isinstance(part, FileStamp):
            part.refuse_changed()  # reading past the end of a cut file kills the process
            part = np.load(part.path, mmap_mode="r")
        return np.asarray(part[rows])

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Return the rows of a slice, or copies of rows in any order."""
        if isinstance(rows, slice):
            found = [
                self._read(part, slice(max(rows.start - start, 0), rows.stop - start))
                for part, start in zip(self.parts, self.starts, strict=False)
                if start < rows.stop
            ]
            return found[0] if len(found) == 1 else np.concatenate(found)
        taken = np.empty((rows.size, *self.shape[1:]), dtype=self.dtype)
        for part, (start, end) in zip(self.parts, self.ends(), strict=True):
            here = (rows >= start) & (rows < end)
            if here.any():
                taken[here] = self._read(part, rows[here] - start)
        return taken


def _opened(name: str, given: Any, ndim: int) -> NDArray[Any]:
    array: NDArray[Any] = given
    title = name
    if not isinstance(given, np.ndarray):
        path = Path(given)
        title = f"{name} ({path})"
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{title}: not a .npy file of numbers: {error}") from error
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{title}: an archive of arrays; store X in a .npy file.")
    labels = "US" if name == "y" else ""
    if array.dtype.kind not in "fiub" + labels or array.ndim != ndim:
        raise ValueError(
            f"{title} must be a {ndim}-D array of real numbers; got {array.ndim}-D with dtype "
            f"{array.dtype}."
        )
    return array
