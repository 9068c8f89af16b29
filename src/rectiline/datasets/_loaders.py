"""Loaders of the data sets that ship with the package; each names its source and licence."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.datasets._read import read

__all__ = [
    "load_adult_sample",
    "load_engel",
    "load_stackloss",
    "load_statecrime",
    "load_wine_quality",
]

_ADULT = """4,000 of the 48,842 people of the Adult census data, drawn at random, USA 1994.

Features: age, years of education, hours of work per week, capital gain and loss in dollars, and
whether somebody is married, self-employed or employed by a government. Target: whether the income
is above 50,000 dollars. Apart: male, white (1 or 0).

Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository, doi:10.24432/C5XW20.
Licence: CC BY 4.0. Changed here: a sample, fewer columns, categories joined.
"""
_ENGEL = """Income and food expenditure of 235 Belgian working-class households, in francs a year.

Engel, E. (1857). Die Productions- und Consumptionsverhaeltnisse des Koenigreichs Sachsen. Public
domain; used by Koenker and Bassett (1982), Robust tests for heteroscedasticity based on regression
quantiles, Econometrica 50, 43-61.
"""
_STACKLOSS = """21 days of a plant that oxidises ammonia to nitric acid.

Features: flow of air, temperature of the cooling water, concentration of the acid. Target: ten
times the percentage of ammonia that escapes. Days 1, 3, 4 and 21 are known as outliers.

Brownlee, K. A. (1965). Statistical Theory and Methodology in Science and Engineering, 2nd edition,
Wiley. Public domain.
"""
_STATECRIME = """Murder rates of the 50 states of the USA and of Washington, D.C., in 2009.

Features, in percent: people with a high school degree, people below the poverty line, families of
single parents, people in urban areas. Target: murders per 100,000 people. Apart: state.

U.S. Census Bureau, Statistical Abstract of the United States, and American Community Survey 2009.
Public domain.
"""
_WINE = """1,599 red vinhos verdes from Portugal: eleven laboratory values and a mark by tasters.

Target: the median mark of at least three tasters, from 0 (very bad) to 10 (excellent).

Cortez, P., Cerdeira, A., Almeida, F., Matos, T. and Reis, J. (2009). Modeling wine preferences by
data mining from physicochemical properties, Decision Support Systems 47, 547-553. Wine Quality,
UCI Machine Learning Repository, doi:10.24432/C56S3T. Licence: CC BY 4.0.
"""


def load_adult_sample(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load 4,000 people of the Adult census data: who earns more than 50,000 dollars (CC BY 4.0).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Return pandas objects.

    Returns
    -------
    Bunch or tuple
        ``data`` of shape (4000, 8); ``target`` of shape (4000,), 0 or 1; ``male`` and ``white``,
        which are not among the features; ``feature_names``, ``target_name`` and ``DESCR``.

    Examples
    --------
    >>> from rectiline.datasets import load_adult_sample
    >>> people = load_adult_sample()
    >>> people.data.shape, round(float(people.target.mean()), 3)
    ((4000, 8), 0.237)
    """
    return read(
        "adult_sample.csv",
        "above_50k",
        _ADULT,
        return_X_y,
        as_frame,
        apart=("male", "white"),
        kind=np.int64,
    )


def load_engel(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load income and food expenditure of 235 households (Engel 1857, public domain).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Return pandas objects with the column names "income" and "foodexp".

    Returns
    -------
    Bunch or tuple
        ``data`` of shape (235, 1): income; ``target`` of shape (235,): food expenditure;
        ``feature_names``, ``target_name`` and ``DESCR``.

    Examples
    --------
    >>> from rectiline.datasets import load_engel
    >>> X, y = load_engel(return_X_y=True)
    >>> X.shape, round(float(y.mean()), 2)
    ((235, 1), 624.15)
    """
    return read("engel.csv", "foodexp", _ENGEL, return_X_y, as_frame)


def load_stackloss(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load 21 days of a chemical plant, four of them outliers (Brownlee 1965, public domain).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Return pandas objects.

    Returns
    -------
    Bunch or tuple
        ``data`` of shape (21, 3); ``target`` of shape (21,); ``feature_names``, ``target_name`` and
        ``DESCR``.

    Examples
    --------
    >>> from rectiline.datasets import load_stackloss
    >>> load_stackloss().feature_names
    ['air_flow', 'water_temperature', 'acid_concentration']
    """
    return read("stackloss.csv", "stack_loss", _STACKLOSS, return_X_y, as_frame)


def load_statecrime(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the murder rates of 50 states and Washington, D.C., an outlier (2009, public domain).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Return pandas objects.

    Returns
    -------
    Bunch or tuple
        ``data`` of shape (51, 4); ``target`` of shape (51,); ``state``, the names;
        ``feature_names``, ``target_name`` and ``DESCR``.

    Examples
    --------
    >>> from rectiline.datasets import load_statecrime
    >>> crime = load_statecrime()
    >>> print(crime.state[crime.target.argmax()], crime.target.max())
    District of Columbia 24.2
    """
    return read("statecrime.csv", "murder", _STATECRIME, return_X_y, as_frame, apart=("state",))


def load_wine_quality(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load eleven laboratory values and the marks of 1,599 red wines (CC BY 4.0).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Return pandas objects.

    Returns
    -------
    Bunch or tuple
        ``data`` of shape (1599, 11); ``target`` of shape (1599,): marks from 3 to 8;
        ``feature_names``, ``target_name`` and ``DESCR``.

    Examples
    --------
    >>> from rectiline.datasets import load_wine_quality
    >>> X, y = load_wine_quality(return_X_y=True)
    >>> X.shape, round(float(y.mean()), 3)
    ((1599, 11), 5.636)
    """
    return read("wine_quality_red.csv", "quality", _WINE, return_X_y, as_frame)
