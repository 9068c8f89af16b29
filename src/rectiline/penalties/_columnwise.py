"""`Columnwise`: an elastic net with strengths of its own for each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector
from rectiline.penalties._checks import nonnegative, nonnegative_vector
from rectiline.penalties._separable import SeparablePenalty


class Columnwise(SeparablePenalty):
    """Charge ``sum_j l1_j |b_j| + l2_j/2 b_j^2``.

    A column with both strengths 0 is free: it pays nothing, and its q_j must be exactly 0. The
    main strength is the largest ``l1_j + l2_j``; `with_strength` scales all of them.

    Parameters
    ----------
    l1, l2 : array-like of shape (n_features,)
        Finite and >= 0.

    Examples
    --------
    >>> from rectiline.penalties import Columnwise
    >>> penalty = Columnwise(l1=[1.0, 0.0, 0.0], l2=[0.0, 2.0, 0.0])
    >>> penalty.value([1.0, 3.0, 100.0])
    10.0
    >>> penalty.with_strength(4.0)
    Columnwise(l1=[2.0, 0.0, 0.0], l2=[0.0, 4.0, 0.0])
    """

    l1: Vector
    l2: Vector

    def __init__(self, l1: ArrayLike, l2: ArrayLike) -> None:
        lasso = nonnegative_vector("Columnwise", "l1", l1)
        ridge = nonnegative_vector("Columnwise", "l2", l2)
        if lasso.size != ridge.size:
            raise ValueError(f"Columnwise: l1 has {lasso.size} values but l2 has {ridge.size}.")
        self._set(l1=lasso, l2=ridge, strength=float(np.max(lasso + ridge)))

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is one pair of strengths per column."""
        if self.l1.size != n_features:
            raise ValueError(
                f"Columnwise has {self.l1.size} strengths but there are {n_features} columns: "
                "give one per column."
            )

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): ``l2`` and ``l1``."""
        self.check(n_features)
        return self.l2.copy(), self.l1.copy()

    @property
    def is_zero(self) -> bool:
        """Whether every strength is 0."""
        return self.strength == 0.0

    def with_strength(self, strength: float) -> Columnwise:
        """Return the penalty scaled so that the largest ``l1_j + l2_j`` is `strength`."""
        total = nonnegative("Columnwise", "strength", strength)
        if self.is_zero:
            if total == 0.0:
                return self
            raise ValueError(f"Columnwise with zeros only cannot be scaled to strength {total!r}.")
        return Columnwise(self.l1 / self.strength * total, self.l2 / self.strength * total)

    def _arguments(self) -> Mapping[str, Any]:
        return {"l1": self.l1, "l2": self.l2}
