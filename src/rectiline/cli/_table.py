"""From a file to X, y and weights: which columns are features, text as indicators, missing cells.

A text column becomes one column of zeros and ones per level, called ``column=level``. The names of
the features therefore say everything about the encoding: models and certificates keep them alone.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import dataset

from rectiline import rows
from rectiline._typing import Mask, Vector
from rectiline.backends import TableEncoder, column_values, split_level
from rectiline.cli._model import Asked

_ARROW = (".parquet", ".feather", ".arrow")
_SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt")
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
_SEPARATORS = ",;\t|"
_LEVELS_WITHOUT_QUESTION = 100  # levels of a text column, unless it is named as categorical


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
        if not isinstance(self.X, pa.Table):
            return self.X
        # A level without a name is one that the fit left out.
        return TableEncoder.of_names(self.names, self.X.column_names, "zero").numbers(self.X)

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
    if names is not None:  # which say what the features are made of
        asked = replace(asked, features=[], drop=[], categorical=[])
    if asked.missing not in ("error", "drop"):
        raise ValueError(f"--missing {asked.missing}: allowed are error and drop.")
    try:
        if str(path) == "-" or path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
            return _of_arrow(path, _read_csv(path, asked, names), asked, names)
        if path.is_dir() or path.suffix.lower() in _ARROW:
            return _of_arrow(path, _dataset(path).to_table(), asked, names)
        if path.suffix.lower() in (".npz", ".npy"):
            return _numpy(path, asked, names)
        if path.suffix.lower() in _SVMLIGHT:
            return _svmlight(path, asked, names)
    except (OSError, pa.ArrowInvalid) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path}: the file cannot be read: {reason}.") from None
    known = ", ".join([".csv", ".tsv", *_ARROW, ".npz", ".npy", *_SVMLIGHT])
    raise ValueError(f"{path}: the ending {path.suffix!r} is not one of {known}.")


def read_blocks(
    path: Path, asked: Asked, names: Sequence[str]
) -> Iterator[tuple[Any, Any, Vector | None]]:
    """Yield ``(X, y, weight)``: Parquet and Feather files batch by batch, others as one block."""
    if path.suffix.lower() in _ARROW and path.exists():
        batches = (batch for batch in _dataset(path).to_batches() if batch.num_rows)
        tables = map(pa.Table.from_batches, ([batch] for batch in batches))
        parts: Iterable[Table] = (_of_arrow(path, one, asked, names) for one in tables)
    else:
        parts = [read_table(path, asked, names)]
    for part in parts:
        yield part.numbers, part.y, part.weight


# ---- tables with named columns ----


def _dataset(path: Path) -> Any:
    """Return a Parquet or Feather file, or a folder of Parquet files."""
    is_parquet = path.is_dir() or path.suffix.lower() == ".parquet"
    return dataset.dataset(path, format="parquet" if is_parquet else "feather")


def _read_csv(path: Path, asked: Asked, names: Sequence[str] | None) -> pa.Table:
    """Return the columns of a CSV file, which may be compressed or come from the standard input."""
    content = _content(path, asked.encoding)
    first = content[: content.find("\n") + 1 or None]
    separator = asked.separator or max(_SEPARATORS, key=first.count)
    header = next(csv.reader([first], delimiter=separator), [])
    if not content[len(first) :].strip():
        raise ValueError(f"{path}: a header line and at least one row are needed.")
    columns = [name.strip() for name in header]
    texts = dict.fromkeys(_text_columns(asked, names, columns), pa.string())
    # Memory of Arrow: a thread of Arrow that lets go of an object of Python while Python ends would
    # abort the process.
    memory = pa.BufferOutputStream()
    memory.write(content.encode())
    return arrow_csv.read_csv(
        pa.BufferReader(memory.getvalue()),
        arrow_csv.ReadOptions(column_names=columns, skip_rows=1),
        arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            null_values=_MISSING, strings_can_be_null=True, column_types=texts
        ),
    )


def _content(path: Path, encoding: str) -> str:
    """Return the text of a file, or of the standard input, without a byte order mark."""
    if str(path) == "-":
        data = sys.stdin.buffer.read()
    else:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.name.lower().endswith(".gz") else data
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise ValueError(
            f"{path}: the text cannot be read as {encoding} ({error}); name its encoding, such as "
            "--encoding latin-1."
        ) from None


def _text_columns(asked: Asked, names: Sequence[str] | None, columns: list[str]) -> list[str]:
    """Return the columns whose cells are levels: those named, and those of known features."""
    known = [split_level(name, columns) for name in names or ()]
    return sorted({name for name, level in known if level is not None} | set(asked.categorical))


def _of_arrow(path: Path, table: pa.Table, asked: Asked, names: Sequence[str] | None) -> Table:
    name, count = Counter(table.column_names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{path}: {count} columns are called {name!r}; names must differ.")
    if not len(table):
        raise ValueError(f"{path}: there are no rows.")
    apart = [asked.target, asked.weight, *asked.drop]
    made = [split_level(name, table.column_names)[0] for name in names or ()]
    chosen = [one for one in asked.features or table.column_names if one not in apart]
    chosen = chosen if names is None else list(dict.fromkeys(made))
    for one in (*apart, *asked.categorical, *chosen):
        if one is not None and one not in table.column_names:
            listed = ", ".join(table.column_names[:12])
            raise ValueError(f"{path}: there is no column {one!r}; there are {listed}.")
    if not chosen:
        raise ValueError(f"{path}: no column is left as a feature.")
    for one in set(_text_columns(asked, names, table.column_names)) & set(table.column_names):
        place = table.column_names.index(one)
        table = table.set_column(place, one, table.column(one).cast(pa.string()))
    read = [one for one in dict.fromkeys([*chosen, *apart[:2]]) if one is not None]
    used = _complete(path, table.select(read), asked.missing)
    table = table if used.all() else table.filter(pa.array(used))
    X = table.select(chosen)
    names = _names(path, X, asked, table.column_names) if names is None else names
    y, weight = (None if one is None else _vector(table, one) for one in apart[:2])
    if weight is not None and weight.dtype == object:
        raise ValueError(
            f"{path}: column {asked.weight!r} must hold numbers; it holds {weight[0]!r}."
        )
    return Table(X, list(names), y, weight, used)


def _vector(table: pa.Table, name: str) -> Any:
    """Return a column of texts as objects, any other as numbers."""
    values = column_values(table, table.column_names.index(name))
    return values if values.dtype == object else values.astype(np.float64)


def _names(path: Path, X: pa.Table, asked: Asked, columns: list[str]) -> list[str]:
    """Return the columns of X; one of very many levels has to be named as categorical.

    `columns` are those of the table: none may be called like a level of another one.
    """
    encoder = TableEncoder.learn(X, categorical="onehot")
    for one in encoder.columns:
        levels: Any = () if one.levels is None else one.levels
        if len(levels) > _LEVELS_WITHOUT_QUESTION and one.name not in asked.categorical:
            raise ValueError(
                f"{path}: column {one.name!r} holds {len(levels)} different texts, such as "
                f"{str(levels[0])!r}; leave it out (--drop {one.name}) or take each as a level "
                f"(--categorical {one.name})."
            )
        for name in one.names:
            other = split_level(name, columns)[0]
            if other != one.name:
                raise ValueError(
                    f"{path}: {name!r} would be a level of column {one.name!r} and "
                    f"{'a' if other == name else 'a level of'} column {other!r}; rename a column "
                    "of the two."
                )
    return [str(name) for name in encoder.names]


def _complete(path: Path, table: pa.Table, missing: str) -> Mask:
    """Return which rows have no missing cell."""
    used = np.ones(len(table), dtype=bool)
    for name in table.column_names:
        here = TableEncoder.complete(table.select([name]))
        if missing == "error" and not here.all():
            raise ValueError(
                f"{path}: column {name!r}, data row {np.argmin(here) + 1} is missing; leave such "
                "rows out with --missing drop."
            )
        used &= here
    if not used.any():
        raise ValueError(f"{path}: every row has a missing cell.")
    return used


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
