"""The upper envelope of quadratics, for losses that are given as a maximum.

A walk from left to right: the quadratic on top stays there until the first of the others overtakes
it, where their difference goes from below zero to above. Each step looks at all of them, so that m
quadratics take O(m^2) operations, on arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector

_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 64 * _EPS


def upper_envelope(quadratics: ArrayLike) -> tuple[Vector, NDArray[np.float64]]:
    """Return the knots and the rows (a, b, c) of the pieces of the maximum of ``quadratics``."""
    abc = np.array(quadratics, dtype=np.float64)
    if abc.ndim != 2 or abc.shape[1] != 3 or abc.shape[0] == 0:
        raise ValueError(
            f"quadratics must be one or more rows (a, b, c), got an array of shape {abc.shape}."
        )
    if not np.isfinite(abc).all():
        k = int(np.argmin(np.isfinite(abc).all(axis=1)))
        raise ValueError(f"quadratics[{k}] is {abc[k].tolist()}; coefficients must be finite.")
    # Towards minus infinity the leading coefficients decide.
    who = [int(np.lexsort((abc[:, 2], -abc[:, 1], abc[:, 0]))[-1])]
    edges: list[float] = []
    at, met = -np.inf, np.zeros(len(abc), dtype=bool)  # the last edge, and who was on top there
    while True:
        cuts, errors = _overtaking(abc, abc[who[-1]])
        # Rounding may put another one on top over a tiny interval, which the next one replaces.
        is_here = cuts <= at + errors
        cuts[~(cuts >= at - errors) | (is_here & met)] = np.inf
        first = float(cuts.min())
        if first == np.inf:
            return np.array(edges), abc[who]
        # Of several at one place the steepest, and of equally steep ones the most curved.
        close = np.flatnonzero(cuts <= first + errors)
        a, b = 2.0 * abc[close, 0] * first, abc[close, 1]
        steep = a + b >= (a + b).max() - _ROUNDING * (np.abs(a) + np.abs(b))
        best = int(close[np.argmax(np.where(steep, abc[close, 0], -np.inf))])
        if is_here[best]:
            who[-1] = best
        else:
            edges.append(first)
            who.append(best)
            at = first
            met[:] = False
        met[best] = True


def _overtaking(abc: NDArray[np.float64], top: Vector) -> tuple[Vector, Vector]:
    """Where each quadratic rises above the one on top, NaN for nowhere, and bounds on the errors.

    What is only rounding of the coefficients, or of a touch without crossing, counts as nothing.
    """
    difference, sizes = abc - top, np.maximum(np.abs(abc), np.abs(top))
    difference[np.abs(difference) <= 4 * _EPS * sizes] = 0.0
    scale = np.abs(difference).max(axis=1, keepdims=True)
    scale[scale == 0.0] = 1.0
    (a, b, c), (A, B, C) = (difference / scale).T, (sizes / scale).T
    with np.errstate(all="ignore"):
        square = b * b - 4.0 * a * c
        noise = np.abs(b) * B + A * np.abs(c) + np.abs(a) * C
        rise = np.sqrt(np.where(square > _ROUNDING * noise, square, np.nan))  # the slope there
        # The sum of two numbers of one sign: nothing cancels.
        q = -0.5 * (b + np.where(b > 0, rise, -rise))
        cuts = np.where(b > 0, c / q, q / a)
        errors = _ROUNDING * ((A * np.abs(cuts) + B) * np.abs(cuts) + C) / rise
    return np.where(np.isfinite(cuts), cuts, np.nan), errors
