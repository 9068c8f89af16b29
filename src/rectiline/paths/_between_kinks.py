"""Strengths whose answers may as well lie between two others, told by the path of a guide.

What such answers lose is bounded in `certify_between`. Here the same is estimated, for pairs that
lose nothing themselves: with a share that falls as the strength does any penalty ``s h`` then loses
at most ``t (1 - t) (s - s') (h(b') - h(b))``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import shares_between

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["anchors"]


def anchors(
    strengths: Vector, rho: Vector, l1: Vector, coefs: Matrix, q: Matrix, most: Vector
) -> list[int]:
    """Return the strengths to look at, from the first to the last.

    Parameters
    ----------
    strengths : ndarray of shape (k,)
        From large to small.
    rho, l1 : ndarray of shape (d,)
        Terms of the penalty at strength 1.
    coefs, q : ndarray of shape (k, d)
        Answers to a similar problem, and -X'g of their multipliers g.
    most : ndarray of shape (k,)
        What an answer may lose by lying between two others.
    """
    chosen = [0]
    while chosen[-1] < strengths.size - 1:
        first = chosen[-1]
        last = first + 1
        while last + 1 < strengths.size:
            some = slice(first, last + 2)
            ends = [first, last + 1]
            lost = _lost(strengths[some], rho, l1, coefs[ends], q[ends])
            if (lost > most[some][1:-1]).any():
                break
            last += 1
        chosen.append(last)
    return chosen


def _lost(strengths: Vector, rho: Vector, l1: Vector, coefs: Matrix, q: Matrix) -> Vector:
    """Return what answers between the first and the last are expected to lose."""
    before, after = coefs
    if l1.any():
        t = shares_between(strengths, strongly_convex=False)[:, 0]
        grown = l1 @ (np.abs(after) - np.abs(before)) + 0.5 * rho @ (after**2 - before**2)
        return np.asarray(t * (1 - t) * (strengths[0] - strengths[-1]) * max(grown, 0.0))
    t = shares_between(strengths, strongly_convex=True)
    rows = t * (1 - t) * abs(float((after - before) @ (q[1] - q[0])))
    # Columns: rho s / 2 times the square of b - q / (s rho), which is linear in the share.
    s = strengths[1:-1, None]
    at_first, at_last = before - q[0] / (s * rho), after - q[1] / (s * rho)
    squares = [
        np.einsum("j,kj,kj->k", rho, *pair)[:, None]
        for pair in ((at_first, at_first), (at_first, at_last), (at_last, at_last))
    ]
    off = (1 - t) ** 2 * squares[0] + 2 * t * (1 - t) * squares[1] + t**2 * squares[2]
    return np.asarray((rows + 0.5 * s * off).min(axis=1))
