"""Penalties that charge each column on its own: h_j(b) = rho_j/2 b^2 + l1_j |b|.

    h_j*(q)  =  (|q| - l1_j)+^2 / (2 rho_j)         if rho_j > 0
                0 if |q| <= l1_j, else infinity     if rho_j = 0
    prox     =  soft(v, step l1_j) / (1 + step rho_j)

`Ridge`, `L1`, `ElasticNet` and `Columnwise` only say what rho and l1 are.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from rectiline._numbers import nonnegative, nonnegative_vector, positive_integer
from rectiline._typing import Vector
from rectiline.penalties._base import ROUNDING, Atom, Penalty


class SeparablePenalty(Penalty):
    """A sum over columns, ``sum_j rho_j/2 b_j^2 + l1_j |b_j|``; a subclass provides `separable`."""

    @abstractmethod
    def separable(self, n_features: int) -> tuple[Vector, Vector]: ...

    def value(self, coef: ArrayLike) -> float:
        point = self._point(coef, "coef")
        rho, l1 = self.separable(point.size)
        size = np.abs(point)
        return float(np.sum((0.5 * rho * size + l1) * size))

    def dual_norm(self, q: ArrayLike) -> float:
        point = self._point(q, "q")
        rho, l1 = self.separable(point.size)
        held = (rho == 0.0) & (point != 0.0)  # a column with rho > 0 accepts every q
        with np.errstate(over="ignore", divide="ignore"):
            return float(np.max(np.abs(point[held]) / l1[held], initial=0.0))

    def conjugate(self, q: ArrayLike) -> float:
        """Return ``sum_j max(|q_j| - l1_j, 0)^2 / (2 rho_j)``; infinity where rho_j is 0."""
        point = self._point(q, "q")
        return self.fenchel_young(np.zeros(point.size), point)

    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        # With r = soft(q, l1) the three terms of column j are, exactly,
        #     (rho b - r)^2 / (2 rho)  +  l1 |b| - (q - r) b,      and |q - r| <= l1.
        b, dual = self._point(coef, "coef"), self._point(q, "q")
        rho, l1 = self.separable(b.size)
        inner = np.clip(dual, -l1, l1)
        outer = dual - inner
        curved = rho > 0.0
        if not np.all(np.abs(outer[~curved]) <= ROUNDING * l1[~curved]):
            return math.inf
        with np.errstate(over="ignore"):
            bent = (rho * b - outer)[curved] ** 2 / (2.0 * rho[curved])
        return float(np.sum(bent) + np.sum(l1 * np.abs(b) - inner * b))

    def prox(self, v: ArrayLike, step: float) -> Vector:
        point, step = self._point(v, "v"), self._step(step)
        rho, l1 = self.separable(point.size)
        reach = np.clip(point, -step * l1, step * l1)
        shrunk: Vector = (point - reach) / (1.0 + step * rho)
        return shrunk

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k columns with ``|q_j| > l1_j``, largest ratio of the two first."""
        point, k = self._point(q, "q"), positive_integer("price", "k", k)
        _, l1 = self.separable(point.size)
        size = np.abs(point)
        worst = np.flatnonzero(size > (1.0 + ROUNDING) * l1)
        with np.errstate(over="ignore", divide="ignore"):
            ratio = size[worst] / l1[worst]
        # Free columns all have an infinite ratio; among them the larger |q_j| goes first.
        worst = worst[np.lexsort((-size[worst], -ratio))[:k]]
        return [
            Atom(
                columns=np.array([j]),
                signs=np.sign(point[[j]]),
                cost=float(l1[j]),
                excess=float(size[j] - l1[j]),
            )
            for j in worst
        ]


class Ridge(SeparablePenalty):
    """Ridge penalty, ``strength/2 * |b|^2``.

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

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): the strength for each column, and zeros."""
        return np.full(n_features, self.strength), np.zeros(n_features)

    def with_strength(self, strength: float) -> Ridge:
        """Return ``Ridge(strength)``."""
        return Ridge(strength)


class L1(SeparablePenalty):
    """Weighted L1 norm, ``strength * sum_j weights_j |b_j|``.

    A dual point is feasible if ``|q_j| <= strength * weights_j`` for every column. A column of
    weight 0 is not penalised, and its q_j must be exactly 0.

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
        if self.weights is not None:
            self._check_count(self.weights, n_features, "weight")

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


class ElasticNet(SeparablePenalty):
    """Elastic net penalty, ``l1 |b|_1 + l2/2 |b|^2``.

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

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): ``l2`` and ``l1`` for each column."""
        return np.full(n_features, self.l2), np.full(n_features, self.l1)


class Columnwise(SeparablePenalty):
    """Elastic net with strengths per column, ``sum_j l1_j |b_j| + l2_j/2 b_j^2``.

    A column with both strengths 0 is not penalised, and its q_j must be exactly 0. The
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
        self._check_count(self.l1, n_features, "strength")

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1): ``l2`` and ``l1``."""
        self.check(n_features)
        return self.l2.copy(), self.l1.copy()
