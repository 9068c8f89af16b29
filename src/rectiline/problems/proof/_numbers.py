"""Bounds on rounding errors of sums and products in double precision.

A sum of k products is off by at most ``gamma(k)`` times the sum of their absolute values, for any
order of summation (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rectiline._typing import Vector

UNIT = 2.0**-53  # largest relative error of one operation
UNDERFLOW = 2.0**-1000  # more than products that underflow can lose
_MINIMUM = 2.0**-1022  # products below this may lose all their digits


class Bounded(NamedTuple):
    """Numbers, and how far the exact ones may be from them."""

    value: Vector
    error: Vector


def gamma(count: int) -> float:
    """Return the largest relative error of a sum of `count` products, with a small margin."""
    return 1.01 * (count + 4) * UNIT


def norm_of(values: Vector) -> float:
    """Return an upper bound on the Euclidean norm; infinite where squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(values, values)) + values.size * _MINIMUM
        return float(np.sqrt(total) * (1.0 + gamma(values.size))) if total < np.inf else np.inf


def or_infinite(errors: Vector) -> Vector:
    """Return the errors with undefined ones infinite."""
    return np.where(errors >= 0.0, errors, np.inf)
