"""`ElasticNet`: the sum of absolute values and half the squared norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rectiline._typing import Vector
from rectiline.penalties._checks import nonnegative
from rectiline.penalties._separable import SeparablePenalty


class ElasticNet(SeparablePenalty):
    """Charge ``l1 |b|_1 + l2/2 |b|^2``.

    With ``l2 > 0`` the conjugate ``sum_j (|q_j| - l1)+^2 / (2 l2)`` is finite everywhere; with
    ``l2 = 0`` this is the L1 penalty. Its main strength is ``l1 + l2``, and `with_strength` keeps
    the ratio of the two.

    Parameters
    ----------
    l1, l2 : float
        Finite and >= 0.

    Examples
    --------
    >>> from rectiline.penalties import ElasticNet
    >>> penalty = ElasticNet(l1=1.0, l2=2.0)
    >>> penalty.value([1.0, -2.0])
    8.0
    >>> penalty.conjugate([3.0, 0.5])
    1.0
    >>> penalty.with_strength(6.0)
    ElasticNet(l1=2.0, l2=4.0)
    """

    l1: float
    l2: float

    def __init__(self, l1: float, l2: float) -> None:
        lasso, ridge = nonnegative("ElasticNet", "l1", l1), nonnegative("ElasticNet", "l2", l2)
        self._set(l1=lasso, l2=ridge, strength=lasso + ridge)

    def check(self, n_features: int) -> None:
        """Accept any number of columns."""

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): ``l2`` and ``l1`` for each column."""
        return np.full(n_features, self.l2), np.full(n_features, self.l1)

    @property
    def is_zero(self) -> bool:
        """Whether both strengths are 0."""
        return self.strength == 0.0

    def with_strength(self, strength: float) -> ElasticNet:
        """Return the penalty with ``l1 + l2 = strength`` and the same ratio of l1 to l2."""
        total = nonnegative("ElasticNet", "strength", strength)
        if total == 0.0:
            return ElasticNet(0.0, 0.0)
        if self.is_zero:
            raise ValueError(
                f"ElasticNet(l1=0.0, l2=0.0) cannot be scaled to strength {total!r}: it has no "
                "ratio of l1 to l2. Make ElasticNet(l1, l2) directly."
            )
        return ElasticNet(self.l1 / self.strength * total, self.l2 / self.strength * total)

    def _arguments(self) -> Mapping[str, Any]:
        return {"l1": self.l1, "l2": self.l2}
