"""Best intercepts for given coefficients, exactly; used by the polish of `solve` and by `paths`.

The loss of predictions shifted by a constant is a convex piecewise linear-quadratic function of it.
Its minimisers form an interval, found by a binary search over the places where some loss bends.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rectiline import _core
from rectiline._typing import Vector
from rectiline.losses import Loss
from rectiline.problems._problem import Problem
from rectiline.problems._samples import Samples

__all__ = ["best_intercept", "best_shift", "middle_intercept", "middle_minimiser"]

_ZERO_SLOPE = 1e-13  # sums of slopes below this share of their terms are zero up to rounding


def middle_minimiser(samples: Samples) -> float:
    """Return the constant prediction with the smallest loss, the middle one of several.

    That is the finite end of the interval of minimisers, or 0, if it has no middle.
    """
    used = samples.take(samples.weight > 0)
    p, t = used.direction, used.offset
    found = [((curve.knots - t[i][:, None]) * p[i][:, None]).ravel() for curve, i in used.by_loss]
    bends = np.unique(np.concatenate(found))

    def slopes(s: float) -> tuple[float, float]:  # left and right, with rounding taken for zero
        sums = map(_core.twofold_sum, used.rows.slope_ranges(s))
        (low, _, _, low_size), (high, _, _, high_size) = sums
        low = 0.0 if abs(low) <= _ZERO_SLOPE * low_size else low
        return low, 0.0 if abs(high) <= _ZERO_SLOPE * high_size else high

    def curvature(side: int) -> float:  # beyond the last bend on one side, -1 or 1
        total = 0.0
        for curve, i in used.by_loss:
            outer = np.where(p[i] * side > 0, curve.curvature[-1], curve.curvature[0])
            total += float(np.sum(used.weight[i] * outer))
        return total

    first = _minimiser(bends, slopes, curvature, is_last=False)
    if np.isfinite(first) and slopes(first)[1] > 0:  # there are no others
        return first
    last = _minimiser(bends, slopes, curvature, is_last=True)
    if np.isfinite(first) and np.isfinite(last):
        return first if first == last else 0.5 * (first + last)
    return first if np.isfinite(first) else last if np.isfinite(last) else 0.0


def _minimiser(
    bends: Vector,
    slopes: Callable[[float], tuple[float, float]],
    curvature: Callable[[int], float],
    is_last: bool,
) -> float:
    """Return the first or the last minimiser of a sum of losses; infinite if there is none."""
    # Binary search for the first bend from which on the sum rises, or at least does not fall.
    rises = operator.gt if is_last else operator.ge
    over = bisect_left(bends, True, key=lambda s: rises(slopes(float(s))[1], 0.0))
    start = float(bends[max(over - 1, 0)])
    left, right = slopes(start)
    if over == 0 and left >= 0:
        bend = curvature(-1)
        flat_end = start if is_last and left == 0 else -np.inf
        return start - left / bend if bend > 0 else flat_end
    if over == 0:
        return start
    if over == bends.size:
        bend = curvature(1)
        return start - right / bend if bend > 0 else np.inf
    end = float(bends[over])
    left = slopes(end)[0]
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
    return middle_minimiser(Samples((loss,), None, *loss.encode(y), weight, False))


def middle_intercept(problem: Problem, coef: Vector) -> float:
    """Return the best intercept for these coefficients, the middle one of several.

    Piecewise-linear losses can leave an interval of best intercepts; its middle does not depend on
    the order of the samples or on the way a solver came.
    """
    return best_shift(problem, problem.design.dot(coef))


def best_shift(problem: Problem, z: Vector) -> float:
    """Return the intercept that is best for the predictions z, see `middle_intercept`."""
    samples = problem.data.samples
    return middle_minimiser(replace(samples, offset=samples.direction * z + samples.offset))
