"""Read a CSV file of this folder into scikit-learn's Bunch; used by the loaders."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch


def read(
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
