"""Clocks and checkpoints: where long pieces of work, in any room, ask whether to go on.

`solve`, paths and searches say who is asked; without them nobody is, and a checkpoint does nothing.
Products with X ask before they begin, so that nothing runs on for long after a time limit.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from rectiline._costs import SECONDS_PER_PRODUCT

REPORT_EVERY = 0.2  # seconds of work between two reports to a callback
# What has to be finished may exceed a time limit by this share of it, or by so many seconds.
_GRACE_SHARE, _LEAST_GRACE = 0.06, 0.03
_LEAST_LIMIT = 1e-6  # the fewest seconds that a part of a call is given


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
    return max(_GRACE_SHARE * (time_limit or 0.0), _LEAST_GRACE)


class Clock:
    """The time of one call: since its start, until its end, and until the next report.

    Drivers make one for each call. Solvers see it through `Budget`: their Python loops call
    ``budget.is_over()``, and compiled loops poll it.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now; None or infinity for no end.
    report : callable, optional
        Called without arguments about every `REPORT_EVERY` seconds of work, in the thread that
        made the clock; a true return value asks everybody who polls to stop.
    outer : Clock, optional
        The clock of a surrounding call, whose end is also an end of this one.
    grace : float, default=0.0
        Seconds by which work at checkpoints may exceed the limit, see `grace_of`.
    now : callable, default=time.perf_counter
        Where the time comes from; tests count instead.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        report: Callable[[], object] | None = None,
        outer: Clock | None = None,
        grace: float = 0.0,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.time_limit = None if time_limit == math.inf else time_limit
        self._now, self._began, self._grace = now, now(), grace
        self._ends = self._began + (math.inf if time_limit is None else float(time_limit))
        self._report, self._reported = report, self._began
        self._outer = outer
        self._thread = threading.get_ident()
        self.stopped = False

    @classmethod
    def with_grace(cls, time_limit: float | None) -> Clock:
        """Return the clock of a call that solves several problems, to be asked at checkpoints."""
        return cls(time_limit, grace=grace_of(time_limit))

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._now() - self._began

    @property
    def remaining(self) -> float | None:
        """Seconds for a part of the call, at least a microsecond; None without a limit."""
        if self.time_limit is None:
            return None
        return max(self._ends - self._now(), _LEAST_LIMIT)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self._now() >= self._ends

    @property
    def is_polled(self) -> bool:
        """Whether polling does more than look at the time."""
        return self._report is not None or (self._outer is not None and self._outer.is_polled)

    def left(self, grace: float | None = None) -> float:
        """Return the seconds left; 0.0 when time is up or somebody asked to stop.

        Work that has to be finished may take `grace` longer, by default that of the clock.
        """
        grace = self._grace if grace is None else grace
        if self.stopped:
            return grace
        left = self._ends + grace - self._now()
        if self._outer is not None:
            left = min(left, self._outer.left(grace))
        return max(left, 0.0)

    def is_over(self) -> bool:
        """Return whether work should stop that may be finished with some grace."""
        return self.left() <= 0.0

    def stop(self) -> None:
        """Ask everybody who polls to stop."""
        self.stopped = True

    def reported(self) -> None:
        """Note that a report has just been made."""
        self._reported = self._now()

    def poll(self) -> bool:
        """Report if that is due; return whether work should stop."""
        if self._report is None and self._outer is None:
            return self.stopped or self.is_late
        if self._outer is not None and self._outer.poll():
            return True
        due = self._report is not None and self._now() - self._reported >= REPORT_EVERY
        if due and threading.get_ident() == self._thread:
            assert self._report is not None
            self.stopped = bool(self._report()) or self.stopped
            self.reported()
        return self.left() <= 0.0


class _Asked(threading.local):
    keepers: tuple[Timekeeper, ...] = ()


_asked = _Asked()


def checkpoint(seconds: float = 0.0, products: float = 0.0) -> None:
    """Raise `OutOfTime` if work has to stop, or if the next step takes more than what is left.

    The next step, which cannot be stopped once it has begun, is expected to take so many seconds,
    and the time of so many multiply-adds of dense linear algebra.
    """
    for keeper in _asked.keepers:
        if keeper.is_over() or keeper.left() < seconds + SECONDS_PER_PRODUCT * products:
            raise OutOfTime


def time_left() -> float:
    """Return the seconds left by those who are asked at checkpoints; infinite if nobody is."""
    return min((keeper.left() for keeper in _asked.keepers), default=math.inf)


def who_is_asked() -> tuple[Timekeeper, ...]:
    """Return who is asked at checkpoints of this thread, to be asked in those that it starts."""
    return _asked.keepers


class asked_at_checkpoints:
    """While entered, checkpoints of this thread ask `keepers` besides who was asked before.

    None stands for nobody: work that is done whatever the time.
    """

    def __init__(self, *keepers: Timekeeper | None) -> None:
        self._keepers = keepers

    def __enter__(self) -> None:
        self._before = _asked.keepers
        known = [one for one in self._keepers if one is not None]
        _asked.keepers = () if None in self._keepers else (*known, *self._before)

    def __exit__(self, *_: Any) -> None:
        _asked.keepers = self._before
