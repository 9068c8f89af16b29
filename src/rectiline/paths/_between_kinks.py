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

    def is_enough(first: int, last: int) -> bool:
        """Whether all answers between the two will do."""
        some, ends = slice(first, last + 1), [first, last]
        limit = most[some][1:-1]
        if q is None:
            lost = _lost_by_any(strengths[some], rho, l1, coefs[ends])
        else:
            lost = _lost_by_ridge(strengths[some], rho, coefs[ends], q[ends], limit)
        return not (lost > limit).any()

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


def _lost_by_any(strengths: Vector, rho: Vector, l1: Vector, coefs: Matrix) -> Vector:
    """Return what answers between the first and the last are expected to lose."""
    before, after = coefs
    t = shares_between(strengths[1:-1], strengths[0], strengths[-1], strongly_convex=False)[:, 0]
    grown = l1 @ (np.abs(after) - np.abs(before)) + 0.5 * rho @ (after**2 - before**2)
    return np.asarray(t * (1 - t) * (strengths[0] - strengths[-1]) * max(float(grown), 0.0))


def _lost_by_ridge(
    strengths: Vector, rho: Vector, coefs: Matrix, q: Matrix, most: Vector
) -> Vector:
    """Return the same for a ridge penalty, with the best shares, or part of it if above `most`."""
    t = shares_between(strengths[1:-1], strengths[0], strengths[-1], strongly_convex=True)
    rows = t * (1 - t) * abs(float((coefs[1] - coefs[0]) @ (q[1] - q[0])))
    if (rows.min(axis=1) > most).any():  # columns can only add to that
        return np.asarray(rows.min(axis=1))
    # Columns: rho s / 2 times the square of b - q / (s rho), which is linear in the share.
    s = strengths[1:-1, None]
    first, last = coefs[0] - q[0] / (s * rho), coefs[1] - q[1] / (s * rho)
    squares = (1 - t) ** 2 * _size(rho, first, first) + t**2 * _size(rho, last, last)
    off = squares + 2 * t * (1 - t) * _size(rho, first, last)
    return np.asarray((rows + 0.5 * s * off).min(axis=1))


def _size(rho: Vector, one: Matrix, other: Matrix) -> Matrix:
    return np.asarray(np.einsum("j,kj,kj->k", rho, one, other)[:, None])
