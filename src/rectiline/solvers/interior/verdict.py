"""What the compiled method thinks of its pair."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Verdict"]

_VIOLATION = 1e-8  # in units where rows have norm one; the certificate repairs this much


class Verdict(NamedTuple):
    """An estimate of what the problem's certificate will say, in units of the program."""

    relative_gap: float
    violation: float  # largest violation of a row that must be satisfied
    mean_product: float  # of the complementarity products
    residual: float  # largest, of stationarity
    size: float  # of the objective

    @classmethod
    def of(cls, core: Any) -> Verdict:
        """Return the verdict on the present pair."""
        return cls(*core.verdict())

    def meets(self, target: float) -> bool:
        """Whether the pair looks good enough; small violations are repaired by the certificate."""
        return self.relative_gap <= target and self.violation <= _VIOLATION
