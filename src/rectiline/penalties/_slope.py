"""`Slope`, the sorted L1 norm: the largest coefficient has the largest strength.

Omega(b)    =  sum_k strengths_k |b|_(k),   |b|_(1) >= |b|_(2) >= ...
feasible q  :  the k largest |q_j| sum to at most strengths_1 + .. + strengths_k, each k
prox        =  the non-increasing fit to (|v|_(k) - step strengths_k), cut at 0
atoms       :  any k columns with signs, at the cost strengths_1 + .. + strengths_k
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from rectiline import _core
from rectiline._numbers import nonnegative, nonnegative_vector, positive_integer
from rectiline._typing import Vector
from rectiline.penalties._base import ROUNDING, Atom, Penalty


class Slope(Penalty):
    """Sorted L1 norm, ``sum_k strengths_k |b|_(k)``, absolute values from large to small.

    With equal strengths this is the L1 norm; with decreasing ones, coefficients of similar
    columns are pulled to one common size. The main strength is the first one, and `with_strength`
    scales all of them.

    Parameters
    ----------
    strengths : array-like of shape (n_features,)
        Finite, >= 0 and non-increasing.

    Examples
    --------
    >>> from rectiline.penalties import Slope
    >>> penalty = Slope([3.0, 1.0])
    >>> penalty.value([1.0, -2.0])
    7.0
    >>> penalty.dual_norm([6.0, 1.0])
    2.0
    >>> penalty.prox([5.0, -4.0], step=1.0)
    array([ 2.5, -2.5])
    >>> Slope.oscar(3, l1=1.0, slope=0.5)
    Slope(strengths=[2.0, 1.5, 1.0])
    """

    strengths: Vector
    _budget: NDArray[np.longdouble]

    def __init__(self, strengths: ArrayLike) -> None:
        values = nonnegative_vector("Slope", "strengths", strengths)
        rises = np.flatnonzero(values[1:] > values[:-1])
        if rises.size:
            at = int(rises[0])
            raise ValueError(
                f"Slope: strengths must not increase, but strengths[{at}] = "
                f"{float(values[at])!r} < strengths[{at + 1}] = {float(values[at + 1])!r}."
            )
        # The feasibility of a certificate hangs on these sums, so they get extra digits.
        budget = np.cumsum(values, dtype=np.longdouble)
        self._set(strength=float(values[0]), strengths=values, _budget=budget)

    # ---- common sequences --------------------------------------------------------------------

    @classmethod
    def bh(cls, n_features: int, q: float, strength: float = 1.0) -> Slope:
        """Return the Benjamini-Hochberg sequence ``strength * z(1 - k q / (2 n_features))``.

        Here z is the standard normal quantile function and q, strictly between 0 and 1, the
        false discovery rate aimed at under an orthogonal design with unit noise.

        Examples
        --------
        >>> Slope.bh(2, q=0.1).strengths.round(3)
        array([1.96 , 1.645])
        """
        count = positive_integer("Slope.bh", "n_features", n_features)
        if not 0.0 < q < 1.0:
            raise ValueError(f"Slope.bh(q={q!r}): q must lie strictly between 0 and 1.")
        amount = nonnegative("Slope.bh", "strength", strength)
        quantiles = -ndtri(np.arange(1, count + 1) * (q / (2.0 * count)))
        return cls(amount * np.minimum.accumulate(quantiles))

    @classmethod
    def oscar(cls, n_features: int, l1: float, slope: float) -> Slope:
        """Return the arithmetic sequence ``l1 + slope * (n_features - k)``.

        It charges ``l1 |b|_1 + slope * sum_{i<j} max(|b_i|, |b_j|)``.
        """
        count = positive_integer("Slope.oscar", "n_features", n_features)
        base = nonnegative("Slope.oscar", "l1", l1)
        rise = nonnegative("Slope.oscar", "slope", slope)
        return cls(base + rise * np.arange(count - 1, -1, -1))

    @classmethod
    def two_level(cls, n_features: int, k: int, high: float, low: float) -> Slope:
        """Return ``high`` for the k largest coefficients and ``low`` for the others.

        Examples
        --------
        >>> Slope.two_level(4, k=1, high=2.0, low=1.0)
        Slope(strengths=[2.0, 1.0, 1.0, 1.0])
        """
        count = positive_integer("Slope.two_level", "n_features", n_features)
        size = positive_integer("Slope.two_level", "k", k)
        if size > count:
            raise ValueError(f"Slope.two_level(k={size}): k must not exceed n_features={count}.")
        upper = nonnegative("Slope.two_level", "high", high)
        lower = nonnegative("Slope.two_level", "low", low)
        if lower > upper:
            raise ValueError(f"Slope.two_level: low={lower!r} must not exceed high={upper!r}.")
        return cls(np.where(np.arange(count) < size, upper, lower))

    @classmethod
    def sqrt_log(cls, n_features: int, strength: float = 1.0) -> Slope:
        """Return the sequence ``strength * sqrt(log(2 n_features / k))``."""
        count = positive_integer("Slope.sqrt_log", "n_features", n_features)
        amount = nonnegative("Slope.sqrt_log", "strength", strength)
        return cls(amount * np.sqrt(np.log(2.0 * count / np.arange(1, count + 1))))

    # ---- the function and its dual ball ------------------------------------------------------

    def value(self, coef: ArrayLike) -> float:
        """Return ``sum_k strengths_k |coef|_(k)``."""
        point = self._point(coef, "coef")
        size = np.sort(np.abs(point[np.flatnonzero(point)]))[::-1]
        return float(self.strengths[: size.size] @ size)

    def dual_norm(self, q: ArrayLike) -> float:
        """Return the largest ratio of the k largest ``|q_j|`` to the k first strengths."""
        size = np.abs(self._point(q, "q"))
        largest = float(size.max())
        if self.strength == 0.0 or largest == 0.0:
            return 0.0 if largest == 0.0 else math.inf
        with np.errstate(over="ignore"):
            # No entry below t * strengths_k is the last of the k that reach a ratio of t or more,
            # so those below t times the last strength need no sorting.
            least = max(largest / self.strength, float(size.sum() / self._budget[-1]))
            if not least < math.inf:
                return least
            size = np.sort(size[size >= (1.0 - 1e-9) * least * self.strengths[-1]])[::-1]
            ratio = np.cumsum(size, dtype=np.longdouble) / self._budget[: size.size]
            return float(np.max(ratio, initial=least))

    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        """Return ``value(coef) + conjugate(q) - q @ coef`` as a sum of terms >= 0."""
        # Summation by parts in the order of |b|: sum_k (|b|_(k) - |b|_(k+1)) (budget_k - paid_k),
        # where paid_k, the cost of the first k signs of b at q, is within the budget.
        b, dual = self._point(coef, "coef"), self._point(q, "q")
        if self.conjugate(dual) > 0.0:
            return math.inf
        support = np.flatnonzero(b)
        order = support[np.argsort(-np.abs(b[support]), kind="stable")]
        paid = np.cumsum(np.sign(b[order]) * dual[order], dtype=np.longdouble)
        drops = -np.diff(np.abs(b[order]), append=0.0)
        return float(np.sum(drops * np.maximum(self._budget[: order.size] - paid, 0.0)))

    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of ``value(b) + |b - v|^2 / (2 step)``."""
        point, step = self._point(v, "v"), self._step(step)
        return _core.sorted_l1_prox(np.ascontiguousarray(point), step * self.strengths) + 0.0

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k violated cuts, the worst one for each number of columns, worst first.

        The first of them is the most violated of all cuts: no other set of columns and signs has
        a larger excess.
        """
        point, k = self._point(q, "q"), positive_integer("price", "k", k)
        order = np.argsort(-np.abs(point), kind="stable")
        excess = np.cumsum(np.abs(point)[order], dtype=np.longdouble) - self._budget
        worst = np.flatnonzero(excess > ROUNDING * self._budget)
        worst = worst[np.argsort(-excess[worst], kind="stable")[:k]]
        signs = np.where(point[order] < 0.0, -1.0, 1.0)
        return [
            Atom(order[: i + 1], signs[: i + 1], float(self._budget[i]), float(excess[i]))
            for i in worst
        ]

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is one strength per column."""
        self._check_count(self.strengths, n_features, "strength")
