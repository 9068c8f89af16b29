"""Read the tables that the command is given: CSV, Parquet, Feather, NumPy and svmlight files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rectiline._typing import Vector

__all__ = ["Table", "read_table", "write_columns"]

_SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt")
_ARROW = (".parquet", ".feather", ".arrow")


@dataclass(frozen=True, eq=False)
class Table:
    """Features, names of the features, and targets and weights where they were asked for."""

    X: Any
    names: list[str]
    y: Any
    weight: Vector | None


def read_table(
    path: Path,
    target: str | None = None,
    weight: str | None = None,
    names: list[str] | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : Path
        The ending tells the format: .csv, .tsv, .parquet, .feather, .npz, .npy, .svmlight.
    target, weight : str, optional
        Columns of targets and of weights (arrays of an .npz file; svmlight has its own targets, and
        the last column of an .npy file is the target). None: not needed.
    names : list of str, optional
        Features to use, in this order; by default all other columns.
    """
    if not path.exists():
        raise ValueError(f"{path}: there is no such file.")
    ending = path.suffix.lower()
    if ending in (".npz", ".npy"):
        return _numpy(path, target, weight, names)
    if ending in _SVMLIGHT:
        return _svmlight(path, target, weight, names)
    if ending in (".csv", ".tsv"):
        columns = _csv(path, "," if ending == ".csv" else "\t")
    elif ending in _ARROW:
        columns = _arrow(path)
    else:
        known = ", ".join([".csv", ".tsv", *_ARROW, ".npz", ".npy", *_SVMLIGHT])
        raise ValueError(f"{path}: the ending {ending!r} is not one of {known}.")
    for name in (target, weight, *(names or [])):
        if name is not None and name not in columns:
            listed = ", ".join(list(columns)[:12])
            raise ValueError(f"{path}: there is no column {name!r}; there are {listed}.")
    chosen = names or [name for name in columns if name not in (target, weight)]
    X = np.column_stack([_numbers(path, name, columns[name]) for name in chosen])
    return Table(
        X,
        chosen,
        None if target is None else columns[target],
        None if weight is None else _numbers(path, weight, columns[weight]),
    )


def write_columns(path: Path, columns: dict[str, Any]) -> None:
    """Write columns of equal length as CSV with a header line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(one).tolist() for one in columns.values()), strict=True))


def _numbers(path: Path, name: str, values: Any) -> Vector:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{path}: column {name!r} holds {values[0]!r}; features must be numbers (encode "
            f"categories first, or leave the column out)."
        ) from None
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{path}: column {name!r}, row {row}: {numbers[row]} is not finite.")
    return numbers


def _csv(path: Path, delimiter: str) -> dict[str, Any]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file, delimiter=delimiter))
    if len(rows) < 2:
        raise ValueError(f"{path}: a header line and at least one row are needed.")
    width = len(rows[0])
    for k, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"{path}: line {k + 1} has {len(row)} fields, the header {width}.")
    columns: dict[str, Any] = {}
    for name, *values in zip(*rows, strict=True):
        try:
            columns[name.strip()] = np.array(values, dtype=np.float64)
        except ValueError:
            columns[name.strip()] = np.array(values)
    return columns


def _arrow(path: Path) -> dict[str, Any]:
    try:
        import pyarrow.dataset
    except ImportError:
        raise ValueError(f"{path}: reading it needs pyarrow; install rectiline[arrow].") from None
    kind = "parquet" if path.suffix.lower() == ".parquet" else "ipc"
    table = pyarrow.dataset.dataset(path, format=kind).to_table()
    for name in table.column_names:
        if table[name].null_count:
            raise ValueError(f"{path}: column {name!r} has missing values.")
    return {name: table[name].to_numpy() for name in table.column_names}


def _numpy(path: Path, target: str | None, weight: str | None, names: list[str] | None) -> Table:
    if path.suffix == ".npy":
        whole = np.load(path, mmap_mode="r", allow_pickle=False)
        if whole.ndim != 2:
            raise ValueError(f"{path}: an array with two axes is needed, got {whole.ndim}.")
        y = None if target is None else np.asarray(whole[:, -1])
        X = whole if target is None else whole[:, :-1]
        return Table(np.ascontiguousarray(X), _numbered(X.shape[1], names), y, None)
    with np.load(path, allow_pickle=False) as file:
        for name in ("X", target, weight):
            if name is not None and name not in file:
                raise ValueError(f"{path}: there is no array {name!r}; there are {file.files}.")
        X = file["X"]
        listed = [str(one) for one in file["names"]] if "names" in file else None
        return Table(
            X,
            listed or _numbered(X.shape[1], names),
            None if target is None else file[target],
            None if weight is None else np.asarray(file[weight], dtype=np.float64),
        )


def _svmlight(path: Path, target: str | None, weight: str | None, names: list[str] | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    if weight is not None:
        raise ValueError(f"{path}: svmlight files have no weights.")
    X, y = load_svmlight_file(str(path), n_features=None if names is None else len(names))
    return Table(X, _numbered(X.shape[1], names), None if target is None else y, None)


def _numbered(count: int, names: list[str] | None) -> list[str]:
    if names is not None and len(names) != count:
        raise ValueError(f"The table has {count} features; the model has {len(names)}.")
    return names or [f"x{k}" for k in range(count)]
