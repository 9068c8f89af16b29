"""How many threads compiled loops use: one, unless asked; `solve` and estimators ask with this."""

from __future__ import annotations

from numbers import Integral
from reprlib import repr as brief
from typing import Any

from rectiline import _core

_MOST_THREADS = 1 << 16


def set_threads(n_threads: int | None) -> int:
    """Set how many threads passes over X use, in this process.

    Products with X, passes over rows, Newton matrices and certificates are cut into pieces that
    depend on the data alone, and sums are added in the order of the pieces: results have the same
    bits for any number of threads.

    Parameters
    ----------
    n_threads : int or None
        Number of threads; -1 for one per core. None takes the environment variable
        ``RECTILINE_NUM_THREADS``, else ``OMP_NUM_THREADS``, else one thread, which is the default.

    Returns
    -------
    int
        How many threads were used so far.

    See Also
    --------
    rectiline.solve : Its parameter `n_threads` is for one call.

    Examples
    --------
    >>> import rectiline as rl
    >>> before = rl.set_threads(4)
    >>> rl.set_threads(before)
    4
    """
    count = 0 if n_threads is None else checked_threads(n_threads)
    before = int(_core.thread_count())
    _core.set_process_thread_count(count)
    return before


def checked_threads(n_threads: Any) -> int:
    """Return a number of threads, -1 as one per core, or raise."""
    is_whole = isinstance(n_threads, Integral) and not isinstance(n_threads, bool)
    if not is_whole or (n_threads < 1 and n_threads != -1) or n_threads > _MOST_THREADS:
        raise ValueError(
            f"n_threads={brief(n_threads)}: must be a positive integer up to {_MOST_THREADS}, -1 "
            "or None."
        )
    if n_threads > 0:
        return int(n_threads)
    from joblib import cpu_count  # cores that this process may use, within limits of a container

    return int(cpu_count())


class using_threads:
    """While entered, compiled loops of this thread use so many threads; None changes nothing."""

    def __init__(self, n_threads: int | None) -> None:
        self._count = None if n_threads is None else checked_threads(n_threads)
        self._before = 0

    def __enter__(self) -> None:
        if self._count is not None:
            self._before = _core.set_thread_count(self._count)

    def __exit__(self, *_: object) -> None:
        if self._count is not None:
            _core.set_thread_count(self._before)
