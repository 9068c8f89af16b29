"""The model without coefficients: its best intercept, exactly, and the multipliers it leaves open.

The loss of a constant prediction is a convex piecewise linear-quadratic function of one number. Its
minimisers form an interval, found by a binary search over the places where some loss bends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline.losses import Loss
from rectiline.problems import Problem

Vector = NDArray[np.float64]

__all__ = ["NullModel", "best_intercept", "middle_intercept", "null_model", "rough_null_model"]

_EPS = float(np.finfo(np.float64).eps)
_HALVINGS = 24  # of the range of a rough intercept
_ROUGH = 1e-6  # of that range
_ZERO_SLOPE = 1e-13  # sums of slopes below this share of their terms are zero up to rounding


@dataclass(frozen=True, eq=False)
class NullModel:
    """A best constant prediction and the range of slopes of each sample's loss there.

    Any ``g`` with ``low <= g <= high`` (and ``sum(g) == 0`` with an intercept) is an optimal dual
    point of the problem without coefficients, and there are no others.
    """

    intercept: float
    low: Vector
    high: Vector


class _Shifts:
    """``F(s) = sum_i w_i phi_i(t_i + p_i s)`` with its one-sided derivatives."""

    def __init__(
        self,
        losses: tuple[Loss, ...],
        index: NDArray[np.uint8] | None,
        t: Vector,
        p: Vector,
        weight: Vector,
    ) -> None:
        used = weight > 0
        self.t, self.p, self.w = t[used], p[used], weight[used]
        self.curves = [one.curve for one in losses]
        self.index = None if index is None else index[used]

    def mirrored(self) -> _Shifts:
        """Return ``s -> F(-s)``."""
        other = object.__new__(_Shifts)
        other.__dict__.update(self.__dict__, p=-self.p)
        return other

    def bends(self) -> Vector:
        """Return every s at which some loss has a knot, in order."""
        found = []
        for k, curve in enumerate(self.curves):
            rows = slice(None) if self.index is None else self.index == k
            t, p = self.t[rows], self.p[rows]
            found.append(((curve.knots - t[:, None]) * p[:, None]).ravel())
        return np.unique(np.concatenate(found))

    def each(self, s: float) -> tuple[Vector, Vector]:
        """Return the left and the right derivative of every term at s, without the weight."""
        moved = self.t + self.p * s
        low, high = np.empty_like(moved), np.empty_like(moved)
        for k, curve in enumerate(self.curves):
            rows = slice(None) if self.index is None else self.index == k
            at = moved[rows]
            size = np.abs(self.t[rows]) + abs(s)
            for knot in curve.knots:  # a bend is a knot again after rounding there and back
                at = np.where(np.abs(at - knot) <= 4 * _EPS * (size + abs(knot)), knot, at)
            low[rows], high[rows] = curve.derivative(at)
        up = self.p > 0
        return np.where(up, low, -high), np.where(up, high, -low)

    def slopes(self, s: float) -> tuple[float, float]:
        """Return the left and the right derivative of F, with rounding taken for zero."""
        ends = []
        for terms in self.each(s):
            total = float(np.sum(self.w * terms))
            scale = float(np.sum(self.w * np.abs(terms)))
            ends.append(0.0 if abs(total) <= _ZERO_SLOPE * scale else total)
        return ends[0], ends[1]

    def curvature(self, side: int) -> float:
        """Return the second derivative of F beyond its last bend on one side (-1 or 1)."""
        total = 0.0
        for k, curve in enumerate(self.curves):
            rows = slice(None) if self.index is None else self.index == k
            outer = np.where(self.p[rows] * side > 0, curve.curvature[-1], curve.curvature[0])
            total += float(np.sum(self.w[rows] * outer))
        return total

    def middle_minimiser(self, near: float | None = None) -> float:
        """Return the middle of the interval of minimisers; its finite end, or 0, if it has none.

        With a guess that it is `near` some place, the search begins there.
        """
        low = self.first_minimiser(near)
        if np.isfinite(low) and self.slopes(low)[1] > 0:  # there are no others
            return low
        high = -self.mirrored().first_minimiser(None if near is None else -near)
        if np.isfinite(low) and np.isfinite(high):
            return low if low == high else 0.5 * (low + high)
        return low if np.isfinite(low) else high if np.isfinite(high) else 0.0

    def first_minimiser(self, near: float | None = None) -> float:
        """Return the smallest minimiser of F; minus infinity if there is none."""
        bends = self.bends()
        if self.slopes(float(bends[0]))[1] >= 0:
            left = self.slopes(float(bends[0]))[0]
            if left < 0:
                return float(bends[0])
            bend = self.curvature(-1)
            return float(bends[0]) - left / bend if bend > 0 else -np.inf
        under, over = (0, bends.size) if near is None else self._bracket(bends, near)
        while over - under > 1:  # the right slope is negative at `under` and not at `over`
            middle = (under + over) // 2
            if self.slopes(float(bends[middle]))[1] >= 0:
                over = middle
            else:
                under = middle
        start, slope = float(bends[under]), self.slopes(float(bends[under]))[1]
        if over == bends.size:
            return start - slope / self.curvature(1)
        end, left = float(bends[over]), self.slopes(float(bends[over]))[0]
        return end if left <= 0 else start + (end - start) * slope / (slope - left)

    def _bracket(self, bends: Vector, near: float) -> tuple[int, int]:
        """Return places of bends around the first minimiser, by strides away from a guess."""
        under, over = 0, bends.size
        place, stride = int(np.searchsorted(bends, near)), 1
        while under < place < over:
            if self.slopes(float(bends[place]))[1] >= 0:
                over, place = place, place - stride
            else:
                under, place = place, place + stride
            if under > 0 and over < bends.size:
                break
            stride *= 4
        return under, over


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
    return _Shifts((loss,), None, t, p, weight).middle_minimiser()


def middle_intercept(problem: Problem, coef: Vector, near: float | None = None) -> float:
    """Return the best intercept for these coefficients, the middle one of several.

    `near` may say where to look for it first.

    Piecewise-linear losses can leave an interval of best intercepts; its middle does not depend on
    the order of the samples or on the way a solver came.
    """
    p = problem.direction
    t = p * problem.design.dot(coef) + problem.offset
    shifts = _Shifts(problem.losses, problem.loss_index, t, p, problem.weight)
    return shifts.middle_minimiser(near)


def null_model(problem: Problem) -> NullModel:
    """Return the best model with all coefficients zero."""
    p = problem.direction
    shifts = _Shifts(problem.losses, problem.loss_index, problem.offset, p, problem.weight)
    intercept = 0.0
    if problem.fit_intercept:
        intercept = shifts.middle_minimiser()
    return _null_at(problem, shifts, intercept)


def rough_null_model(problem: Problem) -> NullModel:
    """Return `null_model` with an intercept by bisection: good to about 1e-6, without sorting."""
    p = problem.direction
    shifts = _Shifts(problem.losses, problem.loss_index, problem.offset, p, problem.weight)
    if not problem.fit_intercept:
        return _null_at(problem, shifts, 0.0)
    ends = [bend for curve in shifts.curves for bend in _extremes(curve.knots, shifts)]
    least, most = min(ends), max(ends)
    reach = max(most - least, 1e-12 * max(abs(least), abs(most)), 1e-300)
    first, last = (_crossing(problem, least - reach, most + reach, sign) for sign in (-1, 1))
    middle = 0.5 * (first + last)
    # Where a whole class sits on its margin, it should do so exactly.
    bends = [((curve.knots - shifts.t[:, None]) * shifts.p[:, None]) for curve in shifts.curves]
    near = min((abs(float(bend) - middle), float(bend)) for bend in map(_nearest(middle), bends))
    return _null_at(problem, shifts, near[1] if near[0] <= _ROUGH * reach else middle)


def _extremes(knots: Vector, shifts: _Shifts) -> tuple[float, float]:
    """Return bounds on the shifts at which some loss has a knot."""
    size = float(np.abs(knots).max() if knots.size else 0.0)
    t = shifts.t * -shifts.p
    return float(t.min()) - size, float(t.max()) + size


def _nearest(place: float) -> Callable[[NDArray[np.float64]], float]:
    return lambda bends: bends.flat[np.argmin(np.abs(bends - place))]


def _crossing(problem: Problem, low: float, high: float, sign: int) -> float:
    """Return where the slope of the loss of constants stops to be negative, or gets positive."""
    size = float(problem.weight.sum()) * problem.slope_width[0]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        slope = float(problem.rows.slopes(np.full(problem.n_samples, middle)).sum())
        if slope < sign * _ZERO_SLOPE * size if sign < 0 else slope <= _ZERO_SLOPE * size:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _null_at(problem: Problem, shifts: _Shifts, intercept: float) -> NullModel:
    low, high = np.zeros(problem.n_samples), np.zeros(problem.n_samples)
    used = problem.weight > 0
    low[used], high[used] = (shifts.w * part for part in shifts.each(intercept))
    return NullModel(intercept, low, high)
