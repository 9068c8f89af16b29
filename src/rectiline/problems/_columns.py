"""The penalty on each coefficient, and its conjugate; `Terms` and the compiled solvers use it.

``h_j(b) = rho_j/2 b**2 + l1_j |b|`` on ``[lower_j, upper_j]``, infinite outside. With bounds inside
the column function, ridge, elastic net, L1 and boxes need no dual variables of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline import _core
from rectiline._lazy import cached_property
from rectiline._typing import Mask, Vector


class Columns:
    """Separable column functions given by four arrays of length d.

    Attributes
    ----------
    rho, l1, lower, upper : ndarray of shape (d,)
    core : _core.ColumnFunctions
        The four arrays for the compiled loops.
    strongly_convex : bool
        Whether the square of every column is penalised.
    has_l1 : bool
        Whether the size of any column is penalised.
    has_bounds : bool
        Whether any column has a bound.
    """

    def __init__(self, rho: Vector, l1: Vector, lower: Vector, upper: Vector) -> None:
        self.rho, self.l1, self.lower, self.upper = (
            np.ascontiguousarray(v, dtype=np.float64) for v in (rho, l1, lower, upper)
        )
        self.core = _core.ColumnFunctions(self.rho, self.l1, self.lower, self.upper)
        self.strongly_convex, self.has_l1, self.has_bounds = self.core.kinds()

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns, (self.rho, self.l1, self.lower, self.upper)

    @cached_property
    def is_plain_l1(self) -> bool:
        """Whether the penalty is on sizes of columns alone."""
        return not self.rho.any() and not self.has_bounds

    @cached_property
    def dual_range(self) -> tuple[Vector, Vector]:
        """Where each ``h_j*`` is finite."""
        return self.core.dual_range()

    @cached_property
    def free(self) -> Mask:
        """Columns whose ``q_j`` must be zero."""
        low, high = self.dual_range
        return np.asarray((low == 0) & (high == 0))

    def value(self, coef: Vector) -> float:
        """Return the sum of ``h_j``, ignoring the bounds (violations are reported apart)."""
        total = 0.5 * float(np.dot(self.rho * coef, coef))
        return total + float(np.dot(self.l1, np.abs(coef))) if self.has_l1 else total
