"""Best intercepts for given coefficients, exactly; used by the polish of `solve` and by `paths`.

The loss of predictions shifted by a constant is a convex piecewise linear-quadratic function of it.
Its minimisers form an interval, found by a binary search over the places where some loss bends.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._typing import Vector
from rectiline.losses import Loss
from rectiline.problems._inputs import row_functions
from rectiline.problems._problem import Problem

__all__ = ["ShiftedLosses", "best_intercept", "best_shift", "middle_intercept"]

_ZERO_SLOPE = 1e-13  # sums of slopes below this share of their terms are zero up to rounding


class ShiftedLosses:
    """``F(s) = sum_i w_i phi_i(t_i + p_i s)`` with its one-sided derivatives."""

    def __init__(
        self,
        losses: tuple[Loss, ...],
        index: NDArray[np.uint8] | None,
        t: Vector,
        p: Vector,
        weight: Vector,
    ) -> None:
        self._rows = row_functions(losses, index, p, t, weight)
        used = weight > 0
        self.t, self.p, self.w = t[used], p[used], weight[used]
        self.curves = [one.curve for one in losses]
        self.index = None if index is None else index[used]
        self._turn = 1.0
        self._bends: Vector | None = None

    def mirrored(self) -> ShiftedLosses:
        """Return ``s -> F(-s)``."""
        other = object.__new__(ShiftedLosses)
        bends = -self.bends()[::-1]
        other.__dict__.update(self.__dict__, p=-self.p, _turn=-self._turn, _bends=bends)
        return other

    def bends(self) -> Vector:
        """Return every s at which some loss has a knot, in order."""
        if self._bends is None:
            found = []
            for k, curve in enumerate(self.curves):
                rows = slice(None) if self.index is None else self.index == k
                t, p = self.t[rows], self.p[rows]
                found.append(((curve.knots - t[:, None]) * p[:, None]).ravel())
            self._bends = np.unique(np.concatenate(found))
        return self._bends

    def slopes(self, s: float) -> tuple[float, float]:
        """Return the left and the right derivative of F, with rounding taken for zero."""
        sums = map(_core.twofold_sum, self._rows.slope_ranges(self._turn * s))
        (low, _, _, low_size), (high, _, _, high_size) = sums
        low = 0.0 if abs(low) <= _ZERO_SLOPE * low_size else low
        high = 0.0 if abs(high) <= _ZERO_SLOPE * high_size else high
        return (low, high) if self._turn > 0 else (-high, -low)

    def curvature(self, side: int) -> float:
        """Return the second derivative of F beyond its last bend on one side (-1 or 1)."""
        total = 0.0
        for k, curve in enumerate(self.curves):
            rows = slice(None) if self.index is None else self.index == k
            outer = np.where(self.p[rows] * side > 0, curve.curvature[-1], curve.curvature[0])
            total += float(np.sum(self.w[rows] * outer))
        return total

    def middle_minimiser(self) -> float:
        """Return the middle of the interval of minimisers; its finite end, or 0, if it has none."""
        low = self.first_minimiser()
        if np.isfinite(low) and self.slopes(low)[1] > 0:  # there are no others
            return low
        high = -self.mirrored().first_minimiser()
        if np.isfinite(low) and np.isfinite(high):
            return low if low == high else 0.5 * (low + high)
        return low if np.isfinite(low) else high if np.isfinite(high) else 0.0

    def first_minimiser(self) -> float:
        """Return the smallest minimiser of F; minus infinity if there is none."""
        bends = self.bends()
        # Binary search for the first bend from which on F does not fall.
        over = bisect_left(bends, True, key=lambda s: self.slopes(float(s))[1] >= 0)
        start = float(bends[max(over - 1, 0)])
        left, right = self.slopes(start)
        if over == 0 and left >= 0:
            bend = self.curvature(-1)
            return start - left / bend if bend > 0 else -np.inf
        if over == 0:
            return start
        if over == bends.size:
            return start - right / self.curvature(1)
        end = float(bends[over])
        left = self.slopes(end)[0]
        return end if left <= 0 else start + (end - start) * right / (right - left)


def best_intercept(loss: Loss, y: Vector, weight: Vector) -> float:
    """Return the constant prediction with the smallest loss, the middle one of several.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.losses import Absolute
    >>> best_intercept(Absolute(), np.array([1.0, 2.0, 4.0, 9.0]), np.ones(4))
    3.0
    """
    p, t = loss.encode(y)
    return ShiftedLosses((loss,), None, t, p, weight).middle_minimiser()


def middle_intercept(problem: Problem, coef: Vector) -> float:
    """Return the best intercept for these coefficients, the middle one of several.

    Piecewise-linear losses can leave an interval of best intercepts; its middle does not depend on
    the order of the samples or on the way a solver came.
    """
    return best_shift(problem, problem.design.dot(coef))


def best_shift(problem: Problem, z: Vector) -> float:
    """Return the intercept that is best for the predictions z, see `middle_intercept`."""
    p = problem.direction
    t = p * z + problem.offset
    shifts = ShiftedLosses(problem.losses, problem.loss_index, t, p, problem.weight)
    return shifts.middle_minimiser()
