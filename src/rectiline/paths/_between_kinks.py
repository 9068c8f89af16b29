"""Strengths whose answers may as well lie between two others, told by the path of a guide.

What such answers lose is bounded in `certify_between`. Here the same is estimated, for pairs that
lose nothing themselves: with a share that falls as the strength does any penalty ``s h`` then loses
at most ``t (1 - t) (s - s') (h(b') - h(b))``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import shares_between

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["anchors"]


def anchors(
    strengths: Vector, rho: Vector, l1: Vector, coefs: Matrix, q: Matrix | None, most: Vector
) -> list[int]:
    """Return the strengths to look at, from the first to the last.

    Parameters
    ----------
    strengths : ndarray of shape (k,)
        From large to small.
    rho, l1 : ndarray of shape (d,)
        Terms of the penalty at strength 1.
    coefs : ndarray of shape (k, d)
        Answers to a similar problem.
    q : ndarray of shape (k, d), optional
        -X'g of their multipliers g, which ridge penalties ask for.
    most : ndarray of shape (k,)
        What an answer may lose by lying between two others.
    """
    if q is None:
        lost = _lost_by_any(strengths, rho, l1, coefs)
    else:
        lost = _lost_by_ridge(strengths, rho, coefs, q, most)

    def is_enough(first: int, last: int) -> bool:
        """Whether all answers between the two will do."""
        return not (lost(first, last) > most[first + 1 : last]).any()

    chosen, end = [0], strengths.size - 1
    while chosen[-1] < end:
        chosen.append(_farthest(is_enough, chosen[-1], end))
    return chosen


def _farthest(is_enough: Callable[[int, int], bool], first: int, end: int) -> int:
    """Return the farthest place from `first` on that is near enough; the next one always is."""
    last, step, beyond = first + 1, 1, end + 1
    while last < end and beyond > end:  # longer and longer strides
        reached = min(last + step, end)
        if is_enough(first, reached):
            last, step = reached, 2 * step
        else:
            beyond = reached
    while beyond - last > 1 and beyond <= end:
        middle = (last + beyond) // 2
        if is_enough(first, middle):
            last = middle
        else:
            beyond = middle
    return last


Lost = Callable[[int, int], Vector]  # what answers between two places are expected to lose


def _lost_by_any(strengths: Vector, rho: Vector, l1: Vector, coefs: Matrix) -> Lost:
    paid = np.abs(coefs) @ l1 + 0.5 * coefs**2 @ rho

    def lost(first: int, last: int) -> Vector:
        before, after = strengths[first], strengths[last]
        t = shares_between(strengths[first + 1 : last], before, after, strongly_convex=False)[:, 0]
        return np.asarray(t * (1 - t) * (before - after) * max(paid[last] - paid[first], 0.0))

    return lost


def _lost_by_ridge(strengths: Vector, rho: Vector, coefs: Matrix, q: Matrix, most: Vector) -> Lost:
    """The same with the best shares, or part of it if above `most`."""
    bb, bq, qq = (coefs * rho) @ coefs.T, coefs @ q.T, (q / rho) @ q.T

    def lost(first: int, last: int) -> Vector:
        inner = slice(first + 1, last)
        t = shares_between(strengths[inner], strengths[first], strengths[last], True)
        apart = bq[last, last] - bq[last, first] - bq[first, last] + bq[first, first]
        rows = t * (1 - t) * abs(float(apart))
        if (rows.min(axis=1) > most[inner]).any():  # columns can only add to that
            return np.asarray(rows.min(axis=1))
        s = strengths[inner, None]

        def product(i: int, j: int) -> Matrix:
            """Of b - q / (s rho) at two places, in the metric of rho."""
            return np.asarray(bb[i, j] - (bq[i, j] + bq[j, i]) / s + qq[i, j] / s**2)

        # Columns: rho s / 2 times the square of b - q / (s rho), which is linear in the share.
        squares = (1 - t) ** 2 * product(first, first) + t**2 * product(last, last)
        off = squares + 2 * t * (1 - t) * product(first, last)
        return np.asarray((rows + 0.5 * s * off).min(axis=1))

    return lost
