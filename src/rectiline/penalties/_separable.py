"""Penalties that charge each column on its own: h_j(b) = rho_j/2 b^2 + l1_j |b|.

    h_j*(q)  =  (|q| - l1_j)+^2 / (2 rho_j)         if rho_j > 0
                0 if |q| <= l1_j, else infinity     if rho_j = 0
    prox     =  soft(v, step l1_j) / (1 + step rho_j)

Ridge, L1 and ElasticNet only say what rho and l1 are; everything else is here.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector
from rectiline.penalties._atom import Atom
from rectiline.penalties._base import ROUNDING, Penalty
from rectiline.penalties._checks import positive_integer


class SeparablePenalty(Penalty):
    """Charge ``sum_j rho_j/2 b_j^2 + l1_j |b_j|``; a subclass provides `separable`."""

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
        point = self._point(q, "q")
        rho, l1 = self.separable(point.size)
        beyond = np.abs(point) - l1
        curved = rho > 0.0
        if not np.all(beyond[~curved] <= ROUNDING * l1[~curved]):
            return math.inf
        with np.errstate(over="ignore"):
            return float(np.sum(np.maximum(beyond[curved], 0.0) ** 2 / (2.0 * rho[curved])))

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
