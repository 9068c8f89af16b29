"""Read the tables that the command is given: CSV, Parquet, Feather, NumPy and svmlight files.

Parquet, Feather and svmlight files are read by `rectiline.rows`. CSV files are read here, because
`rectiline.rows` needs pyarrow for them and the extra ``cli`` does not bring it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rectiline import rows
from rectiline._typing import Vector

__all__ = ["Table", "read_blocks", "read_table", "write_columns"]

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
    if ending in (*_ARROW, *_SVMLIGHT):
        return _joined(path, target, weight, names)
    if ending in (".csv", ".tsv"):
        columns = _csv(path, "," if ending == ".csv" else "\t")
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


def read_blocks(
    path: Path, target: str | None, weight: str | None, names: list[str] | None
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield ``(X, y, weight)`` block by block, so that a large file is never in memory as a whole.

    CSV and NumPy files are one block. Parameters are those of `read_table`.
    """
    if path.exists() and path.suffix.lower() in _ARROW:
        for block in _source(path, target, weight, names):
            yield block.X, block.y, block.weight
    else:
        table = read_table(path, target, weight, names)
        yield table.X, table.y, table.weight


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


def _source(
    path: Path, target: str | None, weight: str | None, names: list[str] | None
) -> rows.RowBlocks:
    """Return the rows of a Parquet, Feather or svmlight file; errors name the file."""
    try:
        if path.suffix.lower() in _ARROW:
            return rows.from_parquet(path, target, weight, names, cache=False)
        if weight is not None:
            raise ValueError("svmlight files have no weights.")
        return rows.from_svmlight(path, None if names is None else len(names), cache=False)
    except (ValueError, ImportError) as error:
        raise ValueError(f"{path}: {error}") from None


def _joined(path: Path, target: str | None, weight: str | None, names: list[str] | None) -> Table:
    source = _source(path, target, weight, names)
    try:
        whole = rows.join(list(source), source.n_features)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    listed = source.feature_names
    found = _numbered(source.n_features, names) if listed is None else list(listed)
    return Table(whole.X, found, None if target is None else whole.y, whole.weight)


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


def _numbered(count: int, names: list[str] | None) -> list[str]:
    if names is not None and len(names) != count:
        raise ValueError(f"The table has {count} features; the model has {len(names)}.")
    return names or [f"x{k}" for k in range(count)]
