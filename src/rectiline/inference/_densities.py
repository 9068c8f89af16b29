"""Densities of residuals: bandwidths, quantiles under weights, and the sparsity 1 / f(0)."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import norm

from rectiline._typing import Vector
from rectiline.losses import Pinball
from rectiline.problems import Problem
from rectiline.solvers import solve


def hall_sheather(level: float, n: float, alpha: float = 0.05) -> float:
    """Return the bandwidth of Hall and Sheather (1988), best for tests at level `alpha`.

    Parameters
    ----------
    level : float
        The quantile, strictly between 0 and 1.
    n : float
        Number of samples.
    alpha : float, default=0.05
        Size of the tests it is tuned for.

    Returns
    -------
    float

    Examples
    --------
    >>> from rectiline.inference import hall_sheather
    >>> round(hall_sheather(0.5, 235), 6)
    0.157439
    """
    q = float(norm.ppf(level))
    density = float(norm.pdf(q))
    cut = float(norm.ppf(1.0 - 0.5 * alpha))
    shape = 1.5 * density**2 / (2.0 * q * q + 1.0)
    return float(n ** (-1.0 / 3.0) * cut ** (2.0 / 3.0) * shape ** (1.0 / 3.0))


def bofinger(level: float, n: float) -> float:
    """Return the bandwidth of Bofinger (1975), best for the mean squared error of the sparsity.

    Parameters
    ----------
    level : float
        The quantile, strictly between 0 and 1.
    n : float
        Number of samples.

    Returns
    -------
    float

    Examples
    --------
    >>> from rectiline.inference import bofinger
    >>> round(bofinger(0.5, 235), 6)
    0.217349
    """
    q = float(norm.ppf(level))
    density = float(norm.pdf(q))
    return float(n**-0.2 * (4.5 * density**4 / (2.0 * q * q + 1.0) ** 2) ** 0.2)


def bandwidth(rule: Any, level: float, n: float) -> float:
    """Return the bandwidth of a rule or number, halved until ``level +- h`` lies in (0, 1)."""
    if isinstance(rule, Real) and not isinstance(rule, bool):
        h = float(rule)
        if not 0.0 < h < 0.5:
            raise ValueError(f"bandwidth={rule!r}: a number must lie strictly between 0 and 0.5.")
    elif rule in _RULES:
        h = _RULES[rule](level, n)
    else:
        raise ValueError(f"bandwidth={rule!r}: must be one of {sorted(_RULES)} or a number.")
    while level - h <= 0.0 or level + h >= 1.0:
        h *= 0.5
    return h


_RULES = {"hall-sheather": hall_sheather, "bofinger": bofinger}


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
        rank = max(np.ceil(total * level - 1e-9), 1.0)
        return float(at_ranks(values, weight, np.array([rank]))[0])
    position = 1.0 + (total - 1.0) * level
    low = np.floor(position + 1e-12)
    below, above = at_ranks(values, weight, np.array([low, min(low + 1.0, np.ceil(total))]))
    return float(below + (position - low) * (above - below))


def standard_deviation(values: Vector, weight: Vector) -> float:
    """Return the standard deviation with the divisor ``sum(weight) - 1``."""
    total = float(weight.sum())
    mean = float(weight @ values) / total
    return float(np.sqrt(weight @ (values - mean) ** 2 / max(total - 1.0, 1e-300)))


def spread(values: Vector, weight: Vector, interpolate: bool = True) -> float:
    """Return the standard deviation, or the one that the quartiles stand for if it is smaller."""
    high, low = (quantile(values, weight, share, interpolate) for share in (0.75, 0.25))
    return min(standard_deviation(values, weight), (high - low) / 1.34)


def median_deviation(values: Vector, weight: Vector) -> float:
    """Return the median absolute deviation from the median, without a factor."""
    middle = quantile(values, weight, 0.5)
    return quantile(np.abs(values - middle), weight, 0.5)


KERNELS: dict[str, Callable[[Vector], Vector]] = {
    "epanechnikov": lambda u: np.where(np.abs(u) <= 1.0, 0.75 * (1.0 - u * u), 0.0),
    "biweight": lambda u: np.where(np.abs(u) <= 1.0, 0.9375 * (1.0 - u * u) ** 2, 0.0),
    "gaussian": lambda u: np.asarray(norm.pdf(u)),
}
_INSIDE_RANGE = 1e-7  # a multiplier this far from the ends of its range, -1/2 and 1/2, is inside


def order_sparsity(residual: Vector, weight: Vector, p: int, h: float) -> tuple[float, bool]:
    """Return the slope of a median regression of central order statistics on their rank.

    The second value says whether that slope is unique; where it is not, another program for the
    same median regression may find another one.

    The residuals nearest to zero, those on the fitted plane left out, are regressed on
    ``rank / (n - p)`` (Koenker and Bassett 1978, as summarised in Koenker 2005, 3.4.1).

    Parameters
    ----------
    residual, weight : ndarray of shape (n,)
    p : int
        Number of coefficients.
    h : float
        Bandwidth in the level.
    """
    n = float(weight.sum())
    size = np.abs(residual)
    on_plane = float(weight[size == 0.0].sum())
    count = max(p + 1, math.ceil(n * h)) + 1
    ranks = on_plane + np.arange(1.0, count + 1.0)
    ranks = ranks[ranks <= n + 1e-9]
    order = np.argsort(size, kind="stable")
    # The repeated sample in order of absolute value, then its central part in signed order.
    near = at_ranks(np.arange(residual.size, dtype=np.float64), weight[order], ranks)
    central = np.sort(residual[order][near.astype(np.intp)])
    problem = Problem((ranks / (n - p))[:, None], central, Pinball(0.5), penalty=None)
    solution = solve(problem, tol=1e-9, polish=True)
    # Points whose multiplier is strictly inside its range lie on every optimal line.
    pins = np.abs(solution.dual.sample) < 0.5 - _INSIDE_RANGE
    # Both are sorted, so that the slope is not negative, except for rounding.
    return abs(float(solution.coef[0])), np.unique(ranks[pins]).size >= 2


def kernel_width(
    residual: Vector, weight: Vector, level: float, h: float, interpolate: bool = True
) -> float:
    """Return the width of a kernel on residuals that a bandwidth in the level stands for.

    It is ``(Phi^-1(level + h) - Phi^-1(level - h)) min(sd, IQR / 1.34)``. Quartiles are
    interpolated as in R, or not, as in Stata.
    """
    scale = spread(residual, weight, interpolate)
    return float((norm.ppf(level + h) - norm.ppf(level - h)) * scale)


def kernel_sparsity(residual: Vector, weight: Vector, level: float, h: float, kernel: str) -> float:
    """Return one over a kernel estimate of the residuals' density at zero, as Stata's qreg does."""
    width = kernel_width(residual, weight, level, h, interpolate=False)
    density = float(weight @ KERNELS[kernel](residual / width)) / (float(weight.sum()) * width)
    if not density > 0.0:
        raise ValueError(
            f"The {kernel} kernel of width {width:g} finds no residuals near zero; "
            "choose sparsity='gaussian' or a larger bandwidth."
        )
    return 1.0 / density
