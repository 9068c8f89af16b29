"""The base class of all penalties: value, dual ball, proximal step and pricing.

A penalty is a convex function Omega with Omega(0) = 0 that never falls away from 0. Its conjugate
Omega*(q) = sup_b q'b - Omega(b) enters the dual of every problem. For a norm the conjugate is 0 on
the dual ball and infinite outside it, so a certificate needs to know the ball; `dual_norm` measures
it, `shrink_factor` brings a point into it and `price` says which directions leave it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._immutable import Immutable
from rectiline._immutable import rebuild as _rebuild  # noqa: F401  (pickles of 0.2.0 name it)
from rectiline._numbers import nonnegative
from rectiline._typing import Vector

# A point whose dual norm is 1 up to this much counts as inside the ball: it is the rounding of the
# sums behind q, far below any tolerance that a solver is asked for.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Atom:
    """A sparse sign vector, its cost, and by how much its product with a dual point exceeds it.

    The atom is the vector with ``signs`` at ``columns`` and 0 elsewhere. Moving away from zero
    along it adds ``cost`` per unit of length to the penalty and ``signs @ q[columns]`` to the
    product with a dual point q. The difference is the ``excess``: as long as one atom has a
    positive excess, leaving zero along it lowers the penalty minus ``q @ b``, and so q lies outside
    the dual ball of a norm.

    Attributes
    ----------
    columns : ndarray of int
        The columns that the atom touches.
    signs : ndarray of float
        -1 or 1 for each of these columns.
    cost : float
        The penalty per unit of length.
    excess : float
        ``signs @ q[columns] - cost`` for the dual point that was priced.

    Examples
    --------
    >>> from rectiline.penalties import L1
    >>> L1(1.0).price([0.5, -3.0], k=1)
    [Atom(columns=array([1]), signs=array([-1.]), cost=1.0, excess=2.0)]
    """

    columns: NDArray[np.intp]
    signs: NDArray[np.float64]
    cost: float
    excess: float


class Penalty(Immutable, ABC):
    """Base class of penalties, which shrink coefficients towards zero.

    Penalties are immutable. Two of them are equal when they have the same value by the same rule
    for every coefficient vector; they can be hashed, pickled and copied.

    Attributes
    ----------
    strength : float
        The main multiplier of the penalty; `with_strength` replaces it.
    """

    strength: float

    # ---- the function and its dual ball ------------------------------------------------------

    @abstractmethod
    def value(self, coef: ArrayLike) -> float:
        """Return Omega(coef)."""

    @abstractmethod
    def dual_norm(self, q: ArrayLike) -> float:
        """Return the smallest t >= 0 for which q lies in t times the domain of the conjugate.

        At most 1 means dual feasible. It is the dual norm if the penalty is a norm, 0 if the
        conjugate is finite everywhere, and infinity if no multiple of q is dual feasible, as when
        a column without penalty has q != 0.
        """

    def conjugate(self, q: ArrayLike) -> float:
        """Return Omega*(q) = sup_b q'b - Omega(b); infinity where q is dual infeasible."""
        return 0.0 if self.dual_norm(q) <= 1.0 + ROUNDING else math.inf

    @abstractmethod
    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        """Return Omega(coef) + Omega*(q) - q'coef as a sum of terms that are never negative.

        The sum of the three numbers cancels when the pair is nearly optimal, and may then come
        out negative; this form keeps its relative accuracy. It is 0 exactly when ``coef``
        maximises q'b - Omega(b).
        """

    def shrink_factor(self, q: ArrayLike) -> float:
        """Return the largest s in [0, 1] for which s*q is dual feasible.

        It is 0 only if nothing but 0 is feasible in the direction of q. The result is rounded
        down, so that ``dual_norm(s * q) <= 1`` holds in floating point too.
        """
        point = self._point(q, "q")
        norm = self.dual_norm(point)
        if norm <= 1.0:
            return 1.0
        if not norm < math.inf:
            return 0.0
        factor, backoff = 1.0 / norm, np.finfo(np.float64).eps
        while self.dual_norm(factor * point) > 1.0:
            factor *= 1.0 - backoff
            backoff *= 2.0
        return factor

    @abstractmethod
    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of Omega(b) + |b - v|^2 / (2 step), for a step > 0."""

    @abstractmethod
    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k atoms with a positive excess, worst first.

        The list is empty exactly when b = 0 maximises q'b - Omega(b); for a norm, exactly when q
        is dual feasible.
        """

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError if the penalty is made for another number of columns."""

    def separable(self, n_features: int) -> tuple[Vector, Vector] | None:
        """Return (rho, l1) with Omega(b) = sum_j rho_j/2 b_j^2 + l1_j |b_j|, or None if not so."""
        self.check(n_features)
        return None

    def free_columns(self, n_features: int) -> NDArray[np.bool_]:
        """Return which columns are not penalised: q must be zero there to be dual feasible."""
        self.check(n_features)
        return np.full(n_features, self.is_zero)

    @property
    def is_zero(self) -> bool:
        """Whether the penalty is zero for all coefficients."""
        return self.strength == 0.0

    def with_strength(self, strength: float) -> Penalty:
        """Return this penalty scaled as a whole, so that its main strength is `strength`."""
        return type(self)(*self._scaled(strength, *self._arguments().values()))

    def _scaled(self, strength: float, *parts: Any) -> tuple[Any, ...]:
        """Return parts of the penalty, scaled so that the main strength is `strength`."""
        total = nonnegative(type(self).__name__, "strength", strength)
        if total > 0.0 and self.strength == 0.0:
            raise ValueError(
                f"{self!r} cannot be scaled to strength {total!r}: all its strengths are 0, which "
                f"says nothing about their ratios. Make a new {type(self).__name__} instead."
            )
        return tuple(part / (self.strength or 1.0) * total for part in parts)

    # ---- checks of what the methods are given ------------------------------------------------

    def _point(self, values: ArrayLike, name: str) -> Vector:
        """Return ``values`` as a float64 vector that fits the penalty."""
        point = np.asarray(values, dtype=np.float64)
        if point.ndim != 1:
            raise ValueError(f"{name} must be a vector, got shape {point.shape}.")
        self.check(point.size)
        return point

    def _check_count(self, given: Vector, n_features: int, name: str) -> None:
        """Raise ValueError unless there is one number for each column."""
        if given.size != n_features:
            raise ValueError(
                f"{type(self).__name__} has {given.size} {name}s but there are {n_features} "
                f"columns: give one {name} per column."
            )

    def _step(self, step: float) -> float:
        if not 0.0 < step < math.inf:
            raise ValueError(f"step={step!r}: step must be a finite number > 0.")
        return float(step)
