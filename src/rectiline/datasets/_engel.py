"""Load the household budgets of Engel (1857), which the inference tests and examples use."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = ["load_engel"]

_SOURCE = """Income and food expenditure of 235 Belgian working-class households, in francs a year.

Engel, E. (1857). Die Productions- und Consumptionsverhaeltnisse des Koenigreichs Sachsen. Public
domain; used by Koenker and Bassett (1982), Robust tests for heteroscedasticity based on regression
quantiles, Econometrica 50, 43-61.
"""


def load_engel(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load income and food expenditure of 235 households (Engel 1857).

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
    file = resources.files("rectiline.datasets") / "data" / "engel.csv"
    table = np.array(
        [line.split(",") for line in file.read_text("utf-8").splitlines()[1:]], dtype=np.float64
    )
    data: Any = np.ascontiguousarray(table[:, :1])
    target: Any = np.ascontiguousarray(table[:, 1])
    if as_frame:
        import pandas as pd

        data = pd.DataFrame(data, columns=["income"])
        target = pd.Series(target, name="foodexp")
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=["income"],
        target_name="foodexp",
        DESCR=_SOURCE,
    )
