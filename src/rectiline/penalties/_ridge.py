"""`Ridge`: half the squared Euclidean norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rectiline._typing import Vector
from rectiline.penalties._checks import nonnegative
from rectiline.penalties._separable import SeparablePenalty


class Ridge(SeparablePenalty):
    """Charge ``strength/2 * |b|^2``.

    Its conjugate is ``|q|^2 / (2 strength)``, finite everywhere, so every dual point is feasible.

    Parameters
    ----------
    strength : float, default 1.0
        Finite and >= 0.

    Examples
    --------
    >>> from rectiline.penalties import Ridge
    >>> penalty = Ridge(2.0)
    >>> penalty.value([3.0, -4.0])
    25.0
    >>> penalty.conjugate([2.0, 0.0])
    1.0
    >>> penalty.prox([3.0, -6.0], step=1.0)
    array([ 1., -2.])
    """

    def __init__(self, strength: float = 1.0) -> None:
        self._set(strength=nonnegative("Ridge", "strength", strength))

    def check(self, n_features: int) -> None:
        """Accept any number of columns."""

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): the strength for each column, and zeros."""
        return np.full(n_features, self.strength), np.zeros(n_features)

    @property
    def is_zero(self) -> bool:
        """Whether the strength is 0."""
        return self.strength == 0.0

    def with_strength(self, strength: float) -> Ridge:
        """Return ``Ridge(strength)``."""
        return Ridge(strength)

    def _arguments(self) -> Mapping[str, Any]:
        return {"strength": self.strength}
