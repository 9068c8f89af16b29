"""What is done row by row: one boxed dual variable per row and part, and its Newton step.

A convex piecewise linear-quadratic function of a row's argument t is a sum of *parts*

    part(t) = max over low <= a <= high of  a (t - knot) - soft a^2 / 2

with multipliers p, q > 0 of the two bounds, where they are finite. A pair is optimal when

    soft a + knot - t - p + q = 0,     p (a - low) = 0,     q (high - a) = 0

and the arguments' duals a add up to zero on every column. The distances ``a - low`` and ``high -
a`` are iterates of their own: as differences they would lose all digits near the end.

Everything here is elementwise or a sum over rows, so that rows can live in partitions, in streamed
blocks or on another device: the central step needs from them only the numbers that `Totals` adds
up, and the products with the transposed rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Numbers = Vector | float

__all__ = ["Part", "Totals"]

_NONE = np.zeros(0)
_SLACK = 1.0  # of the multipliers at the start, in the unit of the arguments
_MARGIN = 0.1  # share of a box that a given dual variable stays away from its bounds
_BAND = 0.5  # products between this and its inverse times the mean are left alone


@dataclass(slots=True)
class Totals:
    """Sums over rows that the central step decides on."""

    products: float = 0.0  # sum of the complementarity products
    count: int = 0  # and their number
    value: float = 0.0  # what the rows cost
    gap: float = 0.0  # sum of Fenchel-Young terms
    violation: float = 0.0  # largest violation of a row that must be satisfied


class Part:
    """One boxed dual variable on each of m rows, and its multipliers.

    Parameters
    ----------
    knot : ndarray of shape (m,) or float
        Where the part starts to bend.
    low, high : ndarray of shape (m,), or None
        Box of the dual variable; None stands for infinity.
    soft : ndarray of shape (m,) or float
        Inverse curvature: zero for a kink.
    argument : ndarray of shape (m,)
        Where the rows are at the start.
    shift : float
        How far inside a half-open box the dual variable starts.
    where : ndarray of indices, optional
        The rows of the block that have this part; all of them by default.
    """

    def __init__(
        self,
        knot: Numbers,
        low: Vector | None,
        high: Vector | None,
        soft: Numbers,
        argument: Vector,
        shift: float,
        where: NDArray[np.intp] | None = None,
    ) -> None:
        self.where = where
        self.knot, self.low, self.high, self.soft, self.shift = knot, low, high, soft, shift
        self.curved = not (isinstance(soft, float) and soft == 0.0)
        self.lift_p: Numbers = 0.0
        self.lift_q: Numbers = 0.0
        self.begin(argument)

    def begin(self, argument: Vector, slack: float = _SLACK) -> None:
        """Set the dual variables well inside, and the multipliers to match but for some slack."""
        low, high, soft = self.low, self.high, self.soft
        u = argument - self.knot
        if low is not None and high is not None:
            a = 0.5 * (low + high)
        elif low is not None:
            a = low + self.shift
            if self.curved:
                a = a + np.maximum(u / soft - low, 0.0)
        elif high is not None:
            a = high - self.shift
            if self.curved:
                a = a - np.maximum(high - u / soft, 0.0)
        else:
            a = u / soft if self.curved else np.zeros_like(argument)
        self.a: Vector = a
        pull = soft * a - u
        self.below = a - low if low is not None else _NONE
        self.above = high - a if high is not None else _NONE
        self.p = np.maximum(pull, 0.0) + slack if low is not None else _NONE
        self.q = np.maximum(-pull, 0.0) + slack if high is not None else _NONE

    def begin_near(self, dual: Vector) -> None:
        """Move the dual variables of a finite box close to given ones."""
        if self.low is None or self.high is None:
            return
        margin = _MARGIN * (self.high - self.low)
        self.a = np.clip(dual, self.low + margin, self.high - margin)
        self.below, self.above = self.a - self.low, self.high - self.a

    def begin_inside(self, argument: Vector) -> None:
        """Take over a positive slack of rows that must not be negative, with duals to match."""
        assert self.high is not None and self.low is None
        self.q = argument - self.knot
        self.above = self.shift / self.q
        self.a = self.high - self.above

    def own(self, values: Vector) -> Vector:
        """Return the entries of a vector over the block's rows that belong to this part."""
        return values if self.where is None else values[self.where]

    @property
    def is_steady(self) -> bool:
        """Whether the weights of the rows stay the same: a parabola without bounds on the dual."""
        return self.curved and self.low is None and self.high is None

    # ---- one step -----------------------------------------------------------------------------

    def linearise(self, argument: Vector, least: float) -> Vector:
        """Take the arguments in and return the weight of each row in the normal equations."""
        pull = argument - self.knot
        if self.curved:
            pull -= self.soft * self.a
        self.pull = pull
        own = 0.0 if self.is_steady else np.abs(self.a)
        stiffness = least / (1.0 + own) + self.soft + np.zeros_like(self.a)
        if self.low is not None:
            self.ratio_p = self.p / self.below
            stiffness += self.ratio_p
        if self.high is not None:
            self.ratio_q = self.q / self.above
            stiffness += self.ratio_q
        self.weight: Vector = 1.0 / stiffness
        return self.weight

    def aim_at_boundary(self) -> Vector:
        """Set the predictor's target, zero products; return what it contributes per row."""
        self.lift_p, self.lift_q, self.drive = 0.0, 0.0, self.pull
        return self.drive * self.weight

    def save_error(self) -> None:
        """Keep the second-order error of the predictor."""
        if self.low is not None:
            self.error_p = self.dp * self.da
        if self.high is not None:
            self.error_q = self.dq * self.da

    def aim_at_centre(self, product: float, share: float) -> Vector:
        """Set the corrector's target after a predictor; return what it contributes per row.

        `share` says how much of the predictor's second-order error to make up for.
        """
        self.drive = self.pull
        if self.low is not None:
            self.lift_p = (product - share * self.error_p) / self.below
            self.drive = self.drive + self.lift_p
        if self.high is not None:
            self.lift_q = (product + share * self.error_q) / self.above
            self.drive = self.drive - self.lift_q
        return self.drive * self.weight

    def aim_at_outliers(self, product: float, dual: float, primal: float) -> Vector:
        """Change the target where a step would leave products far from their mean.

        Returns what the new target contributes per row.
        """
        if self.low is not None:
            after = (self.p + primal * self.dp) * (self.below + dual * self.da)
            lift = _towards(after, product) / self.below
            self.lift_p = self.lift_p + lift
            self.drive = self.drive + lift
        if self.high is not None:
            after = (self.q + primal * self.dq) * (self.above - dual * self.da)
            lift = _towards(after, product) / self.above
            self.lift_q = self.lift_q + lift
            self.drive = self.drive - lift
        return self.drive * self.weight

    def turn(self, change: Vector) -> None:
        """Set the direction that belongs to a change of the arguments."""
        self.da = (change + self.drive) * self.weight
        self._follow()

    def correct(self, change: Vector) -> None:
        """Add a further change of the arguments to the direction."""
        self.da = self.da + change * self.weight
        self._follow()

    def _follow(self) -> None:
        if self.low is not None:
            self.dp = self.lift_p - self.p - self.ratio_p * self.da
        if self.high is not None:
            self.dq = self.lift_q - self.q + self.ratio_q * self.da

    def direction(self) -> tuple[Any, ...]:
        """Return the direction and its target, for `restore`."""
        dp = self.dp if self.low is not None else None
        dq = self.dq if self.high is not None else None
        return self.da, dp, dq, self.lift_p, self.lift_q, self.drive

    def restore(self, direction: tuple[Any, ...]) -> None:
        """Go back to a direction."""
        self.da, self.dp, self.dq, self.lift_p, self.lift_q, self.drive = direction

    def longest(self) -> tuple[float, float]:
        """Return the steps at which a dual variable, and a multiplier, first reaches a bound."""
        dual = primal = np.inf
        if self.low is not None:
            dual = min(dual, _reach(self.below, self.da))
            primal = min(primal, _reach(self.p, self.dp))
        if self.high is not None:
            dual = min(dual, _reach(self.above, -self.da))
            primal = min(primal, _reach(self.q, self.dq))
        return dual, primal

    def products_after(self, dual: float, primal: float) -> float:
        """Return the sum of the complementarity products after steps of the given lengths."""
        total = 0.0
        if self.low is not None:
            total += float((self.p + primal * self.dp) @ (self.below + dual * self.da))
        if self.high is not None:
            total += float((self.q + primal * self.dq) @ (self.above - dual * self.da))
        return total

    def move(self, dual: float, primal: float) -> None:
        """Take the step."""
        step = dual * self.da
        self.a = self.a + step
        if self.low is not None:
            self.below = self.below + step
            self.p = self.p + primal * self.dp
        if self.high is not None:
            self.above = self.above - step
            self.q = self.q + primal * self.dq

    # ---- sums ---------------------------------------------------------------------------------

    def count(self, totals: Totals) -> None:
        """Add the complementarity products."""
        if self.low is not None:
            totals.products += float(self.p @ self.below)
            totals.count += self.p.size
        if self.high is not None:
            totals.products += float(self.q @ self.above)
            totals.count += self.q.size

    def judge(self, argument: Vector, totals: Totals) -> None:
        """Add the cost at the arguments and the Fenchel-Young terms; note violations."""
        u = argument - self.knot
        if self.curved:
            best = u / self.soft
            if self.low is not None or self.high is not None:
                best = np.clip(best, self.low, self.high)
            totals.value += float(np.sum(best * (u - 0.5 * self.soft * best)))
            totals.gap += float(np.sum((best - self.a) * (u - 0.5 * self.soft * (best + self.a))))
            return
        up, down = np.maximum(u, 0.0), np.maximum(-u, 0.0)
        # Without a bound on that side the row must not be there: a violation, charged at its dual.
        if self.high is not None:
            totals.value += float(self.high @ up)
            totals.gap += float(self.above @ up)
        else:
            totals.gap += float(np.abs(self.a) @ up)
            totals.violation = max(totals.violation, float(np.max(up, initial=0.0)))
        if self.low is not None:
            totals.value -= float(self.low @ down)
            totals.gap += float(self.below @ down)
        else:
            totals.gap += float(np.abs(self.a) @ down)
            totals.violation = max(totals.violation, float(np.max(down, initial=0.0)))


def _towards(products: Vector, mean: float) -> Vector:
    """Return the change that takes outlying products back into a band around the mean."""
    change = np.clip(products, _BAND * mean, mean / _BAND) - products
    return np.maximum(change, -mean / _BAND)


def _reach(value: Vector, change: Vector) -> float:
    """Return the largest step that keeps ``value + step * change`` non-negative."""
    least = float(np.min(change / value, initial=0.0))
    return -1.0 / least if least < 0.0 else np.inf
