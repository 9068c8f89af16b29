"""Bandwidths in the level of a quantile, for densities from differences of quantiles."""

from __future__ import annotations

from numbers import Real
from typing import Any

from scipy.stats import norm

__all__ = ["bandwidth", "bofinger", "hall_sheather"]


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
