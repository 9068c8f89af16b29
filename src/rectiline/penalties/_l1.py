"""`L1`: the weighted sum of absolute values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector
from rectiline.penalties._checks import nonnegative, nonnegative_vector
from rectiline.penalties._separable import SeparablePenalty


class L1(SeparablePenalty):
    """Charge ``strength * sum_j weights_j |b_j|``.

    A dual point is feasible if ``|q_j| <= strength * weights_j`` for every column. A column of
    weight 0 is free: it pays nothing, and its q_j must be exactly 0.

    Parameters
    ----------
    strength : float, default 1.0
        Finite and >= 0.
    weights : array-like of shape (n_features,), optional
        Finite and >= 0, one per column; all 1 if not given.

    Examples
    --------
    >>> from rectiline.penalties import L1
    >>> penalty = L1(2.0, weights=[1.0, 0.5, 0.0])
    >>> penalty.value([1.0, -2.0, 100.0])
    4.0
    >>> penalty.dual_norm([1.0, -3.0, 0.0])
    3.0
    >>> penalty.prox([3.0, -2.0, 7.0], step=1.0)
    array([ 1., -1.,  7.])
    """

    weights: Vector | None

    def __init__(self, strength: float = 1.0, weights: ArrayLike | None = None) -> None:
        amount = nonnegative("L1", "strength", strength)
        vector = None if weights is None else nonnegative_vector("L1", "weights", weights)
        if vector is not None and not float(vector.max()) * amount < np.inf:
            raise ValueError(
                f"L1(strength={amount!r}): strength times the largest weight, "
                f"{float(vector.max())!r}, is not a finite number."
            )
        self._set(strength=amount, weights=vector)

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is one weight per column (or none were given)."""
        if self.weights is not None and self.weights.size != n_features:
            raise ValueError(
                f"L1 has {self.weights.size} weights but there are {n_features} columns: "
                "give one weight per column."
            )

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): zeros, and ``strength * weights``."""
        self.check(n_features)
        weights = np.ones(n_features) if self.weights is None else self.weights
        return np.zeros(n_features), self.strength * weights

    @property
    def is_zero(self) -> bool:
        """Whether the strength or every weight is 0."""
        return self.strength == 0.0 or (self.weights is not None and not self.weights.any())

    def with_strength(self, strength: float) -> L1:
        """Return ``L1(strength, weights)`` with the same weights."""
        return L1(strength, self.weights)

    def _arguments(self) -> Mapping[str, Any]:
        return {"strength": self.strength, "weights": self.weights}
