"""Loaders of the data sets that ship with the package; each names its source and licence."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.datasets._read import read


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
        "adult_sample",
        "above_50k",
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
    return read("engel", "foodexp", return_X_y, as_frame)


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
    return read("stackloss", "stack_loss", return_X_y, as_frame)


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
    return read("statecrime", "murder", return_X_y, as_frame, apart=("state",))


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
    return read("wine_quality_red", "quality", return_X_y, as_frame)
