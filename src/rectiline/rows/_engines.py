"""Runs one pass over the items of a source: here, or on an executor, with results in order.

An executor is anything with ``map(function, items)`` that keeps the order of the items. Workers
open items by themselves, so that only functions, states and results travel.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from rectiline.rows._block import Block, refuse_non_finite

_BLOCKS_AHEAD = 2  # opened by a thread while another is worked on
_END = object()

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Work:
    """What a pass does with every block.

    Attributes
    ----------
    function, state
        The pass: ``function(block, state)``.
    n_features : int
    marks_all : bool
        Whether the fingerprint of a block counts all of its entries; they are finite then.
    names : sequence of str or None
        Of the columns, for messages.
    """

    function: Callable[[Block, Any], Any]
    state: Any
    n_features: int
    marks_all: bool
    names: Sequence[str] | None = None

    def run(self, block: Block) -> tuple[Any, tuple[Any, ...]]:
        """Return the result for a block, and its fingerprint."""
        shape = block.shape
        if len(shape) != 2 or shape[1] != self.n_features:
            raise ValueError(
                f"All blocks of the rows must have {self.n_features} columns; the one that starts "
                f"at row {block.start} has shape {shape}."
            )
        if not block.is_tensor:
            block = block.aligned()
            if self.marks_all:
                refuse_non_finite(Block(block.X, None, None, block.start), self.names)
        return self.function(block, self.state), block.fingerprint(self.marks_all)

    def __call__(self, item: Any) -> list[tuple[Any, tuple[Any, ...]]]:
        """Return results and fingerprints of all blocks of an item; workers call this."""
        return [self.run(block) for block in item.blocks()]


def checked_executor(executor: Any) -> Any:
    """Return an executor if it has a method `map`."""
    if executor is not None and not callable(getattr(executor, "map", None)):
        raise TypeError(
            f"executor={executor!r}: must be None or have a method map(function, items) that keeps "
            "the order of the items: a pool of concurrent.futures or multiprocessing, a dask "
            "Client, a Ray pool, or rectiline.rows.spark(session)."
        )
    return executor


def run_work(
    executor: Any, work: Work, items: Iterable[Any], reads_ahead: bool
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield result and fingerprint of every block of the items, in order."""
    if executor is not None:
        for found in map_items(executor, work, items):
            yield from found
        return
    blocks = (block for item in items for block in item.blocks())
    for block in _read_ahead(blocks) if reads_ahead else blocks:
        yield work.run(block)


def map_items(executor: Any, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``function(item)`` in the order of the items; what has not begun is given up."""
    if executor is None:
        yield from map(function, items)
        return
    items = list(items)
    if not items:
        return
    if hasattr(executor, "submit") and hasattr(executor, "scheduler"):
        yield from _map_on_dask(executor, function, items)
    else:
        yield from executor.map(partial(_call_packed, pickle.dumps(function)), items)


def _call_packed(packed: bytes, item: Any) -> Any:
    """Call a function that was pickled once for all items."""
    return pickle.loads(packed)(item)


def _map_on_dask(
    client: Any, function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[Any]:
    """Yield results of a dask client; items may be futures, which are opened where they are."""
    futures = [item for item in items if hasattr(item, "key")]
    held = client.who_has(futures) if futures else {}
    packed = client.submit(bytes, pickle.dumps(function), pure=False)  # made again if lost
    tasks: deque[Any] = deque()
    for item in items:
        # The state may be larger than a block; the block stays where it is all the same.
        near = list(held.get(getattr(item, "key", None), ())) or None
        asked = {"workers": near, "allow_other_workers": near is not None}
        tasks.append(client.submit(_call_packed, packed, item, pure=False, **asked))
    try:
        while tasks:
            yield tasks.popleft().result()  # which may leave the worker then
    finally:
        client.cancel(list(tasks))


def _read_ahead(blocks: Iterator[Item]) -> Iterator[Item]:
    """Yield what an iterator yields, which a thread asks for the next ones meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, blocks, _END) for _ in range(_BLOCKS_AHEAD))
        try:
            while True:
                block: Any = waiting.popleft().result()
                if block is _END:
                    return
                waiting.append(pool.submit(next, blocks, _END))
                yield block
        finally:
            for task in waiting:
                task.cancel()
