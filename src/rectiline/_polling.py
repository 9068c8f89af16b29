"""Checkpoints: where long pieces of work, in any room, ask whether there is time to go on.

`solve`, paths and searches say who is asked; without them nobody is, and a checkpoint does nothing.
Products with X ask before they begin, so that nothing runs on for long after a time limit.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any, Protocol

__all__ = [
    "SECONDS_PER_ENTRY",
    "SECONDS_PER_PRODUCT",
    "Deadline",
    "OutOfTime",
    "Timekeeper",
    "asked_at_checkpoints",
    "checkpoint",
    "grace_of",
    "time_left",
    "who_is_asked",
]

SECONDS_PER_PRODUCT = 1e-10  # of dense linear algebra in a library, measured on one core
SECONDS_PER_ENTRY = 1e-9  # of a pass over X: it is read from memory
_GRACE = 0.06  # of a time limit, and
_LEAST_GRACE = 0.03  # seconds at least, by which what has to be finished may exceed it


class OutOfTime(Exception):
    """Raised by a checkpoint when work has to stop; the driver catches it."""


class Timekeeper(Protocol):
    """Who is asked."""

    def is_over(self) -> bool:
        """Return whether work should stop."""

    def left(self) -> float:
        """Return the seconds left."""


def grace_of(time_limit: float | None) -> float:
    """Return by how many seconds work that has to be finished may exceed a time limit."""
    return max(_GRACE * (time_limit or 0.0), _LEAST_GRACE)


class Deadline:
    """The time limit of a call that solves several problems, from the moment it is made.

    Parameters
    ----------
    time_limit : float or None
        Seconds; None or infinity for no limit.
    """

    def __init__(self, time_limit: float | None) -> None:
        self.time_limit = None if time_limit == math.inf else time_limit
        self._ends = time.perf_counter() + (math.inf if time_limit is None else time_limit)
        self._grace = grace_of(time_limit)

    @property
    def seconds(self) -> float | None:
        """Seconds for a `solve`, at least a microsecond; None without a limit."""
        if self.time_limit is None:
            return None
        return max(self._ends - time.perf_counter(), 1e-6)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() >= self._ends

    def is_over(self) -> bool:
        """Return whether work should stop that may be finished with some grace."""
        return self.left() <= 0.0

    def left(self) -> float:
        """Return the seconds left, with that grace."""
        return self._ends + self._grace - time.perf_counter()


class _Either:
    """Two timekeepers, of which the stricter one counts."""

    def __init__(self, one: Timekeeper, other: Timekeeper) -> None:
        self._one, self._other = one, other

    def is_over(self) -> bool:
        return self._one.is_over() or self._other.is_over()

    def left(self) -> float:
        return min(self._one.left(), self._other.left())


class _Asked(threading.local):
    keeper: Timekeeper | None = None


_asked = _Asked()


def checkpoint(seconds: float = 0.0, products: float = 0.0) -> None:
    """Raise `OutOfTime` if work has to stop, or if the next step takes more than what is left.

    The next step, which cannot be stopped once it has begun, is expected to take so many seconds,
    and the time of so many multiply-adds of dense linear algebra.
    """
    keeper = _asked.keeper
    if keeper is None:
        return
    if keeper.is_over() or keeper.left() < seconds + SECONDS_PER_PRODUCT * products:
        raise OutOfTime


def time_left() -> float:
    """Return the seconds left by whoever is asked at checkpoints; infinite if nobody is."""
    return math.inf if _asked.keeper is None else _asked.keeper.left()


def who_is_asked() -> Timekeeper | None:
    """Return who is asked at checkpoints of this thread, to be asked in those that it starts."""
    return _asked.keeper


class asked_at_checkpoints:
    """While entered, checkpoints of this thread ask `keeper` besides who was asked before.

    None stands for nobody: work that is done whatever the time.
    """

    def __init__(self, keeper: Timekeeper | None) -> None:
        self._keeper = keeper
        self._before: Timekeeper | None = None

    def __enter__(self) -> None:
        before, keeper = _asked.keeper, self._keeper
        self._before = before
        _asked.keeper = keeper if keeper is None or before is None else _Either(keeper, before)

    def __exit__(self, *_: Any) -> None:
        _asked.keeper = self._before
