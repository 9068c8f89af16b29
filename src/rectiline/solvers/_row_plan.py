"""How rows are skipped: all thresholds that decide it, in one place.

Everybody who has to know whether there are enough rows for something asks a `RowPlan`.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

_LEAST_SAMPLED_ROWS_PER_COLUMN = 200
_LARGEST_SAMPLED_SHARE = 0.05
_SAMPLED_ROWS_OF_UNKNOWN_SOURCE = 200_000
# With more, the covariance of the sample's answer costs more than it saves: all rows are drawn.
_MOST_COLUMNS_TO_SPLIT = 3000
# Sampled rows from which the error of the sample is estimated.
_REACH_ROWS, _REACH_ROWS_PER_COLUMN = 5000, 50
_MOST_NEAR_SHARE, _MOST_NEAR_ROWS = 0.2, 2000  # rows that may stay near a knot after the sample
_WIDENED_SHARE, _WIDENED_ROWS = 0.25, 5000  # near rows up to which the reach may be widened
_MOST_BYTES_TO_KEEP_ALL = 1e9  # up to this size all rows may be kept
_HOST_SAMPLE_ROWS, _HOST_SAMPLE_ROWS_PER_COLUMN = 50_000, 1000  # a device makes larger ones itself
_DEVICE_ROWS_PER_SAMPLED = 64
_ENTRIES_FOR_SECOND_SPLIT = 500_000  # near rows with more entries are split again
_SECOND_SAMPLE_ROWS_PER_COLUMN = 40
# From which on passes are faster than `newton`.
_ROWS_FOR_PASSES, _ROWS_PER_COLUMN_FOR_PASSES = 200_000, 20_000

# Of `newton`, in memory: shares and least rows per column of the samples it starts on. Without
# kinks fewer rows do (w8a, 49,749 x 300, Huber: 55 -> 38 ms).
_NEWTON_SAMPLES = ((0.01, 50), (0.1, 400))
_NEWTON_SMOOTH_SAMPLES = ((0.01, 20), (0.1, 400))
_NEWTON_SAMPLE_ROWS = 1000
# All rows per sampled row, and a sample per the one before.
_ROWS_PER_NEWTON_SAMPLED, _LEAST_SAMPLE_GROWTH = 5, 3
# From which on freezing rows is faster.
_ROWS_FOR_WORKING_SET, _ROWS_PER_COLUMN_FOR_WORKING_SET = 1000, 20


class RowPlan(NamedTuple):
    """What is done with so many rows and columns.

    Attributes
    ----------
    n : int or None
        Number of rows; None if the source does not know it.
    d : int
        Number of columns.
    on_device : bool
        Whether the rows are tensors: passes cost next to nothing beside problems on the host.
    tol : float
        Relative gap that is asked for.
    """

    n: int | None
    d: int
    on_device: bool = False
    tol: float = 1e-6

    @property
    def is_first_choice(self) -> bool:
        """Whether skipping rows in memory is tried before all other solvers."""
        least = max(_ROWS_FOR_PASSES, _ROWS_PER_COLUMN_FOR_PASSES * self.d)
        return self.n is not None and self.n >= least

    @property
    def sampled_rows(self) -> int:
        """Rows to start on; where these are all rows, they are solved as they are in memory."""
        if self.d > _MOST_COLUMNS_TO_SPLIT and not self.on_device:
            return sys.maxsize if self.n is None else self.n
        least = _LEAST_SAMPLED_ROWS_PER_COLUMN * self.d
        if self.n is None:
            return max(least, _SAMPLED_ROWS_OF_UNKNOWN_SOURCE)
        most = _LARGEST_SAMPLED_SHARE * self.n
        return int(min(self.n, max(least, min(most, self._balanced(self.n)))))

    def _balanced(self, n: int) -> float:
        """Return the size of a sample of n rows that costs as much as the rows near a knot.

        The larger it is, the smaller its error, and the fewer rows are near.
        """
        return float((2.5 * n * math.sqrt(self.d)) ** (2.0 / 3.0))

    @property
    def reach_rows(self) -> int:
        """Rows of a sample that are enough to estimate its error from."""
        return max(_REACH_ROWS, _REACH_ROWS_PER_COLUMN * (self.d + 1))

    @property
    def device_sampled_rows(self) -> int:
        """Rows of a sample that stays on its device; 0 if the usual one is small enough."""
        host = max(_HOST_SAMPLE_ROWS, _HOST_SAMPLE_ROWS_PER_COLUMN * self.d)
        if not self.on_device or self.n is None or self.sampled_rows <= host:
            return 0
        return max(host, self.n // _DEVICE_ROWS_PER_SAMPLED)

    @property
    def largest_near_share(self) -> float:
        """Share of the rows that may be near after the sample; few rows cost next to nothing."""
        return min(1.0, max(_MOST_NEAR_SHARE, self.least_near_share))

    @property
    def least_near_share(self) -> float:
        """Share of the rows that are near in any case."""
        assert self.n is not None
        return _MOST_NEAR_ROWS / self.n

    @property
    def can_keep_all(self) -> bool:
        """Whether all rows may be near if they meet on a knot."""
        assert self.n is not None
        return 8.0 * self.n * self.d <= _MOST_BYTES_TO_KEEP_ALL

    def may_widen(self, near: int) -> bool:
        """Whether more rows than those near before may be near."""
        assert self.n is not None
        return near < max(_WIDENED_SHARE * self.n, _WIDENED_ROWS)

    def rows_per_second_sample(self, near: int) -> int:
        """Near rows for one that a closer centre rests on; 1: they are solved as they are."""
        if near * self.d < _ENTRIES_FOR_SECOND_SPLIT:
            return 1
        least = _SECOND_SAMPLE_ROWS_PER_COLUMN * (self.d + 1)
        return max(1, int(near / max(self._balanced(near), least)))

    @property
    def has_working_set(self) -> bool:
        """Whether `newton` freezes rows that are far from every knot."""
        assert self.n is not None
        return self.n >= max(_ROWS_PER_COLUMN_FOR_WORKING_SET * self.d, _ROWS_FOR_WORKING_SET)

    def newton_samples(self, smooth: bool) -> list[int]:
        """Rows of the growing samples that `newton` starts on; none where they save no time."""
        assert self.n is not None
        sizes: list[int] = []
        for share, per_column in _NEWTON_SMOOTH_SAMPLES if smooth else _NEWTON_SAMPLES:
            size = max(int(share * self.n), per_column * self.d, _NEWTON_SAMPLE_ROWS)
            grows = not sizes or size >= _LEAST_SAMPLE_GROWTH * sizes[-1]
            if self.n < _ROWS_PER_NEWTON_SAMPLED * size or not grows:
                break
            sizes.append(size)
        return sizes
