"""Checkpoints: where long preparations, in any room, ask whether there is time to go on.

The driver of `solve` says who is asked while a solver prepares; without a driver nobody is, and a
checkpoint does nothing.
"""

from __future__ import annotations

import math
import threading
from typing import Any, Protocol

__all__ = ["SECONDS_PER_PRODUCT", "OutOfTime", "asked_at_checkpoints", "checkpoint", "time_left"]

SECONDS_PER_PRODUCT = 1e-10  # of dense linear algebra in a library, measured on one core


class OutOfTime(Exception):
    """Raised by a checkpoint when work has to stop; the driver catches it."""


class Timekeeper(Protocol):
    """Who is asked."""

    def is_over(self) -> bool:
        """Return whether work should stop."""

    def left(self) -> float:
        """Return the seconds left."""


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


class asked_at_checkpoints:
    """While entered, checkpoints of this thread ask `keeper`."""

    def __init__(self, keeper: Timekeeper) -> None:
        self._keeper = keeper
        self._before: Timekeeper | None = None

    def __enter__(self) -> None:
        self._before, _asked.keeper = _asked.keeper, self._keeper

    def __exit__(self, *_: Any) -> None:
        _asked.keeper = self._before
