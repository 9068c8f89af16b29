"""From a file to X, y and weights: which columns are features, text as indicators, missing cells.

A text column becomes one column of zeros and ones per level, called ``column=level``. The names of
the features therefore say everything about the encoding: models and certificates keep them alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from rectiline import rows
from rectiline._typing import Mask, Vector
from rectiline.backends import TableEncoder
from rectiline.cli._read import ARROW, Columns, is_csv, read_batches, read_columns

__all__ = ["Asked", "Frame", "Table", "read_blocks", "read_table"]

_SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt")
_LEVELS_WITHOUT_QUESTION = 100  # levels of a text column, unless it is named as categorical


@dataclass(frozen=True)
class Asked:
    """What the options of the command say about the columns."""

    target: str | None = None
    weight: str | None = None
    features: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    categorical: list[str] = field(default_factory=list)
    missing: str = "error"
    separator: str | None = None
    encoding: str = "utf-8"

    def without_target(self) -> Asked:
        """Return what is needed to predict."""
        return replace(self, target=None, weight=None, features=[], drop=[], categorical=[])


@dataclass(frozen=True, eq=False)
class Table:
    """Features, their names, targets and weights where they were asked for, and the rows used."""

    X: Any
    names: list[str]
    y: Any
    weight: Vector | None
    used: Mask  # rows without a missing cell

    @property
    def numbers(self) -> Any:
        """X as a matrix."""
        if not isinstance(self.X, Frame):
            return self.X
        return TableEncoder.of_names(self.names, self.X.columns).numbers(self.X)

    @property
    def n_dropped(self) -> int:
        """Rows left out because a cell is missing."""
        return int(self.used.size - self.used.sum())


def read_table(path: Path, asked: Asked, names: Sequence[str] | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    path : Path
        The ending tells the format: .csv, .tsv (also .gz), .parquet, .feather, .npz, .npy,
        .svmlight; "-" is CSV from the standard input.
    asked : Asked
    names : sequence of str, optional
        Features to make, in this order; by default all columns that are not excluded.
    """
    if str(path) != "-" and not path.exists():
        raise ValueError(f"{path}: there is no such file.")
    if asked.missing not in ("error", "drop"):
        raise ValueError(f"--missing {asked.missing}: allowed are error and drop.")
    try:
        if is_csv(path) or path.is_dir() or path.suffix.lower() in ARROW:
            texts = _text_columns(asked, names)
            columns = read_columns(path, texts, asked.separator, asked.encoding)
            return _from_columns(path, columns, asked, names)
        if path.suffix.lower() in (".npz", ".npy"):
            return _numpy(path, asked, names)
        if path.suffix.lower() in _SVMLIGHT:
            return _svmlight(path, asked, names)
    except OSError as error:
        raise ValueError(f"{path}: the file cannot be read: {error.strerror or error}.") from None
    known = ", ".join([".csv", ".tsv", *ARROW, ".npz", ".npy", *_SVMLIGHT])
    raise ValueError(f"{path}: the ending {path.suffix!r} is not one of {known}.")


def read_blocks(
    path: Path, asked: Asked, names: Sequence[str]
) -> Iterator[tuple[Any, Any, Vector | None]]:
    """Yield ``(X, y, weight)``: Parquet and Feather files batch by batch, others as one block."""
    if path.suffix.lower() in ARROW and path.exists():
        for columns in read_batches(path, _text_columns(asked, names)):
            part = _from_columns(path, columns, asked, names)
            yield part.numbers, part.y, part.weight
    else:
        table = read_table(path, asked, names)
        yield table.numbers, table.y, table.weight


def _text_columns(asked: Asked, names: Sequence[str] | None) -> list[str]:
    """Return the columns whose cells are levels: those named, and those of known features."""
    known = {name.partition("=")[0] for name in names or () if "=" in name}
    return sorted(known | set(asked.categorical))


class Frame:
    """Columns by name as the encoder of the estimators reads them."""

    def __init__(self, columns: Columns, names: Sequence[str], used: Mask | None = None) -> None:
        self.columns = list(names)
        self._values = {one: columns[one] if used is None else columns[one][used] for one in names}
        self.shape = (len(self._values[self.columns[0]]), len(self.columns))

    def get_column(self, name: str) -> Any:
        """Return a column, as a library of tables does."""
        return SimpleNamespace(to_numpy=lambda: self._values[name])


def _from_columns(path: Path, columns: Columns, asked: Asked, names: Sequence[str] | None) -> Table:
    given = [*asked.features, *asked.drop, *asked.categorical]
    for name in (asked.target, asked.weight, *given):
        if name is not None and name not in columns:
            raise _no_column(path, name, columns)
    if names is None:
        apart = {asked.target, asked.weight, *asked.drop}
        chosen = [one for one in asked.features or columns if one not in apart]
        if not chosen:
            raise ValueError(f"{path}: no column is left as a feature.")
        for one in chosen:
            _refuse_identifiers(path, one, columns[one], asked)
    else:
        chosen = list(dict.fromkeys(_source(path, name, columns) for name in names))
    read = [one for one in dict.fromkeys([*chosen, asked.target, asked.weight]) if one is not None]
    used = _complete(path, columns, read, asked.missing)
    frame = Frame(columns, chosen, used)
    if names is None:
        names = TableEncoder.learn(frame, categorical="onehot").names.tolist()
    y = None if asked.target is None else columns[asked.target][used]
    weight = None if asked.weight is None else _numbers(path, asked.weight, columns)[used]
    return Table(frame, list(names), y, weight, used)


def _source(path: Path, name: str, columns: Columns) -> str:
    """Return the column that a feature is made from."""
    column = name if name in columns else name.partition("=")[0]
    if column not in columns:
        raise _no_column(path, column, columns)
    return column


def _no_column(path: Path, name: str, columns: Columns) -> ValueError:
    listed = ", ".join(list(columns)[:12])
    return ValueError(f"{path}: there is no column {name!r}; there are {listed}.")


def _refuse_identifiers(path: Path, name: str, values: Any, asked: Asked) -> None:
    """Refuse a text column with very many levels, unless it is named as categorical."""
    if values.dtype != object or name in asked.categorical:
        return
    levels = sorted({value for value in values.tolist() if value is not None})
    if len(levels) > _LEVELS_WITHOUT_QUESTION:
        raise ValueError(
            f"{path}: column {name!r} holds {len(levels)} different texts, such as {levels[0]!r}; "
            f"leave it out (--drop {name}) or take each as a level (--categorical {name})."
        )


def _complete(path: Path, columns: Columns, read: list[str], missing: str) -> Mask:
    """Return which rows have no missing cell in the columns that are read."""
    if missing == "error":
        for name in read:
            here = TableEncoder.complete(Frame(columns, [name]))
            if not here.all():
                row = int(np.argmin(here))
                raise ValueError(
                    f"{path}: column {name!r}, data row {row + 1} is missing; leave such rows "
                    "out with --missing drop."
                )
    used = TableEncoder.complete(Frame(columns, read))
    if not used.any():
        raise ValueError(f"{path}: every row has a missing cell.")
    return used


def _numbers(path: Path, name: str, columns: Columns) -> Vector:
    values = columns[name]
    if values.dtype == object:
        text = next(one for one in values.tolist() if one is not None)
        raise ValueError(f"{path}: column {name!r} must hold numbers; it holds {text!r}.")
    return np.asarray(values, dtype=np.float64)


# ---- files that hold matrices ----


def _numpy(path: Path, asked: Asked, names: Sequence[str] | None) -> Table:
    if path.suffix == ".npy":
        whole = np.load(path, mmap_mode="r", allow_pickle=False)
        if whole.ndim != 2:
            raise ValueError(f"{path}: an array with two axes is needed, got {whole.ndim}.")
        y = None if asked.target is None else np.asarray(whole[:, -1])
        X = np.ascontiguousarray(whole if y is None else whole[:, :-1])
        return _matrix(path, X, y, None, asked, names)
    with np.load(path, allow_pickle=False) as file:
        for name in ("X", asked.target, asked.weight):
            if name is not None and name not in file:
                raise ValueError(f"{path}: there is no array {name!r}; there are {file.files}.")
        y = None if asked.target is None else file[asked.target]
        weight = None if asked.weight is None else np.asarray(file[asked.weight], dtype=np.float64)
        listed = [str(one) for one in file["names"]] if "names" in file else None
        table = _matrix(path, file["X"], y, weight, asked, names)
        return table if listed is None else replace(table, names=listed)


def _svmlight(path: Path, asked: Asked, names: Sequence[str] | None) -> Table:
    if asked.weight is not None:
        raise ValueError(f"{path}: svmlight files have no weights.")
    try:
        source = rows.from_svmlight(path, None if names is None else len(names), cache=False)
        whole = rows.join(list(source), source.n_features)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    y = None if asked.target is None else whole.y
    return _matrix(path, whole.X, y, None, asked, names)


def _matrix(
    path: Path, X: Any, y: Any, weight: Any, asked: Asked, names: Sequence[str] | None
) -> Table:
    if asked.features or asked.drop or asked.categorical:
        raise ValueError(
            f"{path}: columns have no names here; select them in a CSV or Parquet file."
        )
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(
            f"{path}: the table has {X.shape[1]} features; the model has {len(names)}."
        )
    made = [f"x{k}" for k in range(X.shape[1])] if names is None else list(names)
    return Table(X, made, y, weight, np.ones(X.shape[0], dtype=bool))
