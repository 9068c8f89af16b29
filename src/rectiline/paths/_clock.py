"""How much time a path has left."""

from __future__ import annotations

import time
from dataclasses import dataclass

__all__ = ["Clock"]


@dataclass(frozen=True, slots=True)
class Clock:
    """How much time is left."""

    began: float
    limit: float | None

    @property
    def left(self) -> float | None:
        """Seconds left, a little at least; None without a limit."""
        if self.limit is None:
            return None
        return max(self.limit - (time.perf_counter() - self.began), 1e-6)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.limit is not None and time.perf_counter() - self.began >= self.limit
