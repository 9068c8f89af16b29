"""Defines the base of every source of rows; solvers and estimators read sources only through it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import checkpoint
from rectiline.rows._block import Block, block_length, float_type, join, pick
from rectiline.rows._engines import Work, checked_executor, run_work

# A quick sample has at most so many rows, or this share of all if that is more.
_QUICK_ROWS, _QUICK_SHARE = 20_000, 0.05

State = TypeVar("State")
Result = TypeVar("Result")


class RowBlocks(ABC):
    """Rows ``(X, y, weight)`` in blocks that can be read again as often as needed.

    Iterating opens the source anew and yields its blocks in a fixed order. A subclass implements
    `items`, or sets `_items`, and sets `n_features`, `dtype` and, where they are known,
    `feature_names` and the number of rows.

    Attributes
    ----------
    n_features : int
    dtype : numpy.dtype
        float32 or float64; sums over rows are float64 for both.
    feature_names : tuple of str or None
    has_weight : bool
        Whether the source holds sample weights.
    executor : object or None
        Where passes run, see `on`.
    snapshot : str or None
        The version of the table that is read, where tables have versions.
    fingerprints : list of tuple
        What the blocks were when they were last read; see `expect`.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rows = rl.rows.from_arrays(np.eye(5), np.arange(5.0), block_rows=2)
    >>> [(block.start, block.X.shape) for block in rows]
    [(0, (2, 5)), (2, (2, 5)), (4, (1, 5))]
    """

    n_features: int
    dtype: np.dtype[Any]
    feature_names: tuple[str, ...] | None = None
    has_weight: bool = False
    has_target: bool = True
    executor: Any = None
    snapshot: str | None = None
    has_random_access: bool = False  # whether `take` reads some rows without reading all of them
    reads_ahead: bool = False  # whether a thread opens the next blocks while one is worked on
    is_in_memory: bool = False  # whether the rows are arrays of this process
    is_one_stream: bool = False  # whether its only item is itself, which no worker can open

    _items: Sequence[Any] = ()

    def __init__(self) -> None:
        self._n_rows: int | None = None
        self.fingerprints: list[tuple[Any, ...]] = []
        self._is_known = False  # whether one iteration has come to its end
        self.cache: Any = None  # whose folder lasts as long as the rows

    def items(self) -> Iterable[Any]:
        """Return what is opened one by one: objects whose method `blocks` yields blocks.

        Items that can be pickled can be opened by workers of an executor. They know the numbers of
        their rows.
        """
        return self._items

    def on(self, executor: Any) -> RowBlocks:
        """Run passes over these rows on an executor; return the rows.

        Parameters
        ----------
        executor : object with a method ``map(function, items)`` that keeps the order, or None
            A pool of ``concurrent.futures`` or ``multiprocessing``, a client of
            ``dask.distributed``, a pool of Ray, or `rectiline.rows.spark`. Its workers open the
            items of the source by themselves; only sums and rows near a knot come back. Answers
            have equal bits on every executor. None: this process.

        Returns
        -------
        RowBlocks
        """
        if executor is not None and self.is_one_stream:
            raise ValueError(
                f"executor={executor!r}: the blocks of {type(self).__name__} come in one stream, "
                "which workers cannot open in parts. Write them to Parquet files first."
            )
        self.executor = checked_executor(executor)
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows; a source that does not know it reads itself once."""
        if self._n_rows is None:
            self._n_rows = sum(self.map_targets(_length, None))
        return self._n_rows

    def __iter__(self) -> Iterator[Block]:
        return self.map_blocks(_itself, None)

    def _check_mark(self, mark: tuple[Any, ...], place: int, rows: int) -> None:
        """Compare the fingerprint of a block with that of the last time."""
        count = len(self.fingerprints)
        if place == count and not self._is_known:
            self.fingerprints.append(mark)
        elif place == count:
            self._refuse_change(f"there is a block {place}, but there were {count} blocks before.")
        elif mark != self.fingerprints[place]:
            self._refuse_change(
                f"block {place} (from row {rows} on) is not what it was. Sources must yield the "
                "same blocks whenever they are opened."
            )

    def expect(self, fingerprints: list[tuple[Any, ...]]) -> None:
        """Refuse blocks from now on that are not what they were in another process."""
        self.fingerprints, self._is_known = list(fingerprints), True
        self._n_rows = sum(mark[0] for mark in fingerprints)

    @staticmethod
    def _refuse_change(what: str) -> None:
        raise RuntimeError(f"The rows changed between two passes: {what}")

    def _check_end(self, blocks: int, rows: int) -> None:
        if self._is_known and blocks < len(self.fingerprints):
            self._refuse_change(
                f"they end after {blocks} blocks, but there were {len(self.fingerprints)} before."
            )
        if self._n_rows is not None and rows != self._n_rows:
            raise RuntimeError(
                f"The rows end after {rows} rows, but the source has {self._n_rows}."
            )
        if rows == 0:
            raise ValueError("The source has no rows; at least one is needed.")
        self._n_rows, self._is_known = rows, True

    @property
    def known_n_rows(self) -> int | None:
        """Number of rows where it is known without reading the source; None otherwise."""
        return self._n_rows

    @property
    def shown_rows(self) -> str:
        """Number of rows as text; a question mark where it is not known."""
        return "?" if self.known_n_rows is None else str(self.known_n_rows)

    @property
    def targets_in_memory(self) -> NDArray[Any] | None:
        """All targets, where they are at hand; None otherwise."""
        return None

    def total_weight(self) -> float:
        """Return the sum of the sample weights."""
        if not self.has_weight:
            return float(self.n_rows)
        return sum(self.map_targets(_sum_of_weights, None))

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return copies of some rows, in increasing order, as one block.

        Sources without random access read everything once.
        """
        wanted = np.asarray(rows, dtype=np.int64)
        found = [part for part in self.map_blocks(pick, wanted) if part.n_rows]
        return join(found, self.n_features)

    def quick_rows(self, size: int) -> tuple[Block, NDArray[np.int64]] | None:
        """Return about `size` rows that are read without reading all, and their numbers.

        They are spread over the source as well as can be; None where there is no such way. A
        source that is small may hold all its rows from then on.
        """
        return None

    def _quick_size(self, size: int) -> int:
        """Return how many of `size` rows are not too many for `quick_rows`."""
        return min(size, max(_QUICK_ROWS, int(_QUICK_SHARE * self.n_rows)))

    def map_blocks(
        self, function: Callable[[Block, State], Result], state: State
    ) -> Iterator[Result]:
        """Yield ``function(block, state)`` for every block, in the order of the blocks.

        One call is one pass over the rows. An executor runs the function where it opens the
        block; it is a module-level function then, and state and results can be pickled.
        """
        marks_all, names = not self.is_in_memory, self.feature_names
        work = Work(function, state, self.n_features, marks_all, names)
        place = rows = 0
        for result, mark in run_work(self.executor, work, self.items(), self.reads_ahead):
            checkpoint()
            self._check_mark(mark, place, rows)
            rows += mark[0]
            place += 1
            yield result
        self._check_end(place, rows)

    def map_targets(
        self, function: Callable[[Block, State], Result], state: State
    ) -> Iterator[Result]:
        """Yield what `map_blocks` does, for a function that looks at y and weight alone.

        Sources that store columns one by one read no others; X has no columns then.
        """
        return self.map_blocks(function, state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown_rows} x {self.n_features}, {self.dtype})"


class SlicedRows(RowBlocks):
    """Rows of which any can be taken: X, y and weight are sliced where they are."""

    has_random_access = True
    is_in_memory = True

    def __init__(self, X: Any, y: Any, weight: Any, block_rows: int | None) -> None:
        super().__init__()
        n, self.n_features = (int(size) for size in X.shape)
        if n == 0 or self.n_features == 0:
            raise ValueError(
                f"X must have at least one row and one column; got shape {tuple(X.shape)}."
            )
        self.whole = Block(X, y, weight, 0)
        self.has_target, self.has_weight = y is not None, weight is not None
        self.dtype = float_type(X)
        self._n_rows = n
        self.block_rows = block_length(block_rows, self._bytes_per_row())

    def _bytes_per_row(self) -> float:
        if self.whole.is_sparse:
            return float(self.X.data.nbytes + self.X.indices.nbytes) / self.n_rows
        return float(self.X.dtype.itemsize * self.n_features)

    @property
    def X(self) -> Any:
        """The whole matrix."""
        return self.whole.X

    def items(self) -> Iterable[Any]:
        """Yield blocks of equal length."""
        for start in range(0, self.n_rows, self.block_rows):
            some = slice(start, min(start + self.block_rows, self.n_rows))
            yield self.whole.take(some).cast(self.dtype)

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return copies of some rows, in the order given, as one block."""
        return self.whole.take(np.asarray(rows, dtype=np.int64)).cast(self.dtype)


def _itself(block: Block, _: None) -> Block:
    return block


def _length(block: Block, _: None) -> int:
    return block.n_rows


def _sum_of_weights(block: Block, _: None) -> float:
    return float(block.weight.sum())
