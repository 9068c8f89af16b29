"""Generators of data with known properties, for examples whose real data cannot be shipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rectiline._typing import Matrix, Vector


def make_demand(
    n_days: int = 400, *, noise: float = 12.0, random_state: Any = 0
) -> tuple[Vector, Vector]:
    """Make daily sales of a bakery: warm days and weekends sell more and are less predictable.

    Parameters
    ----------
    n_days : int, default=400
    noise : float, default=12.0
        Spread of the demand on a weekday of 10 degrees.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    X : ndarray of shape (n_days, 3)
        Temperature in degrees, whether it is a weekend, whether there is a holiday.
    y : ndarray of shape (n_days,)
        Loaves that customers asked for.

    Examples
    --------
    >>> from rectiline.datasets import make_demand
    >>> X, y = make_demand(5)
    >>> X.shape, bool((y >= 0).all())
    ((5, 3), True)
    """
    if n_days < 1:
        raise ValueError(f"n_days={n_days!r}: must be a positive integer.")
    rng = check_random_state(random_state)
    day = np.arange(n_days)
    temperature = 12.0 - 9.0 * np.cos(2 * np.pi * day / 365) + 3.0 * rng.standard_normal(n_days)
    weekend = (day % 7 >= 5).astype(float)
    holiday = (rng.random_sample(n_days) < 0.04).astype(float)
    mean = 90.0 + 2.0 * temperature + 35.0 * weekend - 40.0 * holiday
    spread = noise * (1.0 + 0.05 * (temperature - 10.0).clip(0) + 0.8 * weekend)
    # Demand has a long upper tail: a gamma variable of mean 0 and variance 1.
    shock = (rng.gamma(4.0, size=n_days) - 4.0) / 2.0
    return np.column_stack([temperature, weekend, holiday]), np.maximum(mean + spread * shock, 0.0)


def make_returns(n_days: int = 750, n_assets: int = 12, *, random_state: Any = 0) -> Matrix:
    """Make daily returns of assets: one market factor, two sectors, heavy tails.

    Parameters
    ----------
    n_days, n_assets : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_days, n_assets)
        Returns in percent.

    Examples
    --------
    >>> from rectiline.datasets import make_returns
    >>> make_returns(100, 4).shape
    (100, 4)
    """
    for name, value in (("n_days", n_days), ("n_assets", n_assets)):
        if value < 1:
            raise ValueError(f"{name}={value!r}: must be a positive integer.")
    rng = check_random_state(random_state)
    market = 0.03 + 0.8 * rng.standard_t(4, n_days)
    sectors = 0.5 * rng.standard_t(4, (n_days, 2))
    exposure = rng.uniform(0.4, 1.4, n_assets)
    sector = np.arange(n_assets) % 2
    own = rng.uniform(0.3, 1.2, n_assets)
    drift = 0.01 + 0.02 * exposure
    shocks = rng.standard_t(5, (n_days, n_assets))
    returns: Vector = drift + market[:, None] * exposure + sectors[:, sector] + own * shocks
    return returns
