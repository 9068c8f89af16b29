"""Ordinary statistics under frequency weights: a row of weight two counts as two equal rows."""

from __future__ import annotations

import numpy as np

from rectiline._typing import Vector

__all__ = ["at_ranks", "median_deviation", "quantile", "standard_deviation"]


def at_ranks(values: Vector, weight: Vector, ranks: Vector) -> Vector:
    """Return the entries of the sorted, repeated sample at ranks 1, 2, ...

    Row i is repeated ``weight[i]`` times; fractions of a row add up with their neighbours'.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    # Sums of fractions such as 0.1 must not miss a whole rank by rounding.
    places = np.searchsorted(reached * (1.0 + 1e-12), ranks, side="left")
    return np.asarray(values[order][np.minimum(places, values.size - 1)])


def quantile(values: Vector, weight: Vector, level: float, interpolate: bool = True) -> float:
    """Return a quantile of the repeated sample.

    With `interpolate` it is the linear one (type 7 of Hyndman and Fan, the default of NumPy and R),
    otherwise the inverse of the distribution function (type 1 of theirs).
    """
    total = float(weight.sum())
    if not interpolate:
        return float(
            at_ranks(values, weight, np.array([max(np.ceil(total * level - 1e-9), 1.0)]))[0]
        )
    position = 1.0 + (total - 1.0) * level
    low = np.floor(position + 1e-12)
    below, above = at_ranks(values, weight, np.array([low, min(low + 1.0, np.ceil(total))]))
    return float(below + (position - low) * (above - below))


def standard_deviation(values: Vector, weight: Vector) -> float:
    """Return the standard deviation with the divisor ``sum(weight) - 1``."""
    total = float(weight.sum())
    mean = float(weight @ values) / total
    return float(np.sqrt(weight @ (values - mean) ** 2 / max(total - 1.0, 1e-300)))


def median_deviation(values: Vector, weight: Vector) -> float:
    """Return the median absolute deviation from the median, without a factor."""
    middle = quantile(values, weight, 0.5)
    return quantile(np.abs(values - middle), weight, 0.5)
