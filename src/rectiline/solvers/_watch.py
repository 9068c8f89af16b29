"""The clock of one call of `solve`: when it has to end, and when a report is due.

The drivers make one `Watch` per call. Solvers see it through `Budget`: their Python loops call
``budget.is_over()``, and compiled loops poll it through ``_core.polled``.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rectiline import _core

__all__ = ["REPORT_EVERY", "Watch"]

REPORT_EVERY = 0.2  # seconds of work between two reports to a callback


class Watch:
    """Tell the time since the start, how much is left, and report in between.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now; without one there is no end.
    report : callable, optional
        Called without arguments about every `REPORT_EVERY` seconds of work, in the thread that
        made the watch; a true return value asks everybody who polls to stop.
    outer : Watch, optional
        The watch of a surrounding solve, whose end is also an end of this one.
    clock : callable, default=time.perf_counter
        Where the time comes from; tests count instead.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        report: Callable[[], object] | None = None,
        outer: Watch | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._clock = clock
        self._began = clock()
        self._ends = self._began + (math.inf if time_limit is None else float(time_limit))
        self._report, self._reported = report, self._began
        self._outer = outer
        self._thread = threading.get_ident()
        self.stopped = False

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began

    @property
    def is_polled(self) -> bool:
        """Whether polling does more than look at the time."""
        return self._report is not None or (self._outer is not None and self._outer.is_polled)

    def left(self, grace: float = 0.0) -> float:
        """Return the seconds left; 0.0 when time is up or somebody asked to stop.

        With `grace`, work that has to be finished may take so much longer.
        """
        if self.stopped:
            return grace
        left = self._ends + grace - self._clock()
        if self._outer is not None:
            left = min(left, self._outer.left(grace))
        return max(left, 0.0)

    def stop(self) -> None:
        """Ask everybody who polls to stop."""
        self.stopped = True

    def reported(self) -> None:
        """Note that a report has just been made."""
        self._reported = self._clock()

    def poll(self) -> bool:
        """Report if that is due; return whether work should stop."""
        if self._report is None and self._outer is None:
            return self.stopped or self._clock() >= self._ends
        if self._outer is not None and self._outer.poll():
            return True
        due = self._report is not None and self._clock() - self._reported >= REPORT_EVERY
        if due and threading.get_ident() == self._thread:
            assert self._report is not None
            self.stopped = bool(self._report()) or self.stopped
            self.reported()
        return self.left() <= 0.0

    def polled(self) -> AbstractContextManager[Any]:
        """Return a context in which compiled loops poll this watch, if reports are asked for."""
        return _Polled(self.poll) if self.is_polled else nullcontext()


class _Polled:
    """While entered, compiled loops of this thread call `poll` now and then."""

    def __init__(self, poll: Callable[[], bool]) -> None:
        self._poll = poll

    def __enter__(self) -> None:
        self._before = _core.set_poll(self._poll)

    def __exit__(self, *_: object) -> None:
        _core.set_poll(self._before)
