"""Loaders of the data sets that ship with the package; each names its source and licence."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch


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
    apart = ("male", "white")
    return _read("adult_sample", "above_50k", return_X_y, as_frame, apart=apart, kind=np.int64)


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
    return _read("engel", "foodexp", return_X_y, as_frame)


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
    return _read("stackloss", "stack_loss", return_X_y, as_frame)


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
    return _read("statecrime", "murder", return_X_y, as_frame, apart=("state",))


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
    return _read("wine_quality_red", "quality", return_X_y, as_frame)


def _read(
    file: str,
    target: str,
    return_X_y: bool,
    as_frame: bool,
    *,
    apart: Sequence[str] = (),
    kind: type = np.float64,
) -> Any:
    """Return a Bunch, or ``(data, target)``.

    Parameters
    ----------
    file : str
        Name of the files without their endings: .csv, whose first line names the columns, and .txt
        with a description.
    target : str
        Column of the targets.
    apart : sequence of str
        Columns that are no features; they become fields of the Bunch.
    kind : type
        Type of the targets.
    """
    folder = resources.files("rectiline.datasets") / "data"
    text = (folder / f"{file}.csv").read_text("utf-8")
    header, *rows = csv.reader(text.splitlines())
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    names = [name for name in header if name != target and name not in apart]
    data: Any = np.ascontiguousarray(
        np.array([columns[name] for name in names], dtype=np.float64).T
    )
    values: Any = np.array(columns[target], dtype=np.float64).astype(kind)
    others: dict[str, Any] = {name: _typed(columns[name]) for name in apart}
    if as_frame:
        import pandas as pd

        data = pd.DataFrame(data, columns=names)
        values = pd.Series(values, name=target)
        others = {name: pd.Series(column, name=name) for name, column in others.items()}
    if return_X_y:
        return data, values
    return Bunch(
        data=data,
        target=values,
        feature_names=names,
        target_name=target,
        DESCR=(folder / f"{file}.txt").read_text("utf-8"),
        **others,
    )


def _typed(column: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return numbers where all entries are numbers, else strings."""
    try:
        return np.array(column, dtype=np.float64)
    except ValueError:
        return np.array(column)
