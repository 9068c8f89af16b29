"""Read CSV, Parquet and Feather files into columns by name.

CSV files may be compressed or come from the standard input. They are read by pyarrow where it is
installed, else by NumPy (tables of numbers) or the standard library (tables with text). A column is
a vector of numbers, NaN where a cell is missing, or of texts, None where a cell is missing.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from rectiline._typing import Vector

__all__ = ["ARROW", "Columns", "is_csv", "read_batches", "read_columns", "write_columns"]

Columns = dict[str, Any]
ARROW = (".parquet", ".feather", ".arrow")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
_SEPARATORS = ",;\t|"
_ROWS_OF_SAMPLE = 200  # rows that decide whether a file holds numbers alone


def is_csv(path: Path) -> bool:
    """Whether a path names a CSV file: the standard input is one."""
    name = path.name.lower().removesuffix(".gz")
    return str(path) == "-" or name.endswith((".csv", ".tsv"))


def read_columns(path: Path, texts: list[str], separator: str | None, encoding: str) -> Columns:
    """Read all columns of a file; those in `texts` are kept as they are written."""
    if is_csv(path):
        return _read_csv(path, texts, separator, encoding)
    parts = list(read_batches(path, texts))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def read_batches(path: Path, texts: list[str]) -> Iterator[Columns]:
    """Yield the columns of a Parquet or Feather file, or of a folder of them, batch by batch."""
    dataset = _arrow("dataset")
    form = "parquet" if path.is_dir() or path.suffix.lower() == ".parquet" else "feather"
    source = dataset.dataset(path, format=form)
    _refuse_twins(path, source.schema.names)
    empty = True
    for batch in source.to_batches():
        if batch.num_rows:
            empty = False
            yield {
                name: _from_arrow(batch.column(name), name in texts) for name in source.schema.names
            }
    if empty:
        raise ValueError(f"{path}: there are no rows.")


def _arrow(part: str) -> Any:
    try:
        return __import__(f"pyarrow.{part}", fromlist=["x"])
    except ImportError:
        raise ValueError(
            'Parquet and Feather files need pyarrow: pip install pyarrow (the extra "arrow").'
        ) from None


def _read_csv(path: Path, texts: list[str], separator: str | None, encoding: str) -> Columns:
    content = _content(path, encoding)
    first = content[: content.find("\n") + 1 or None]
    names_line = next(iter(csv.reader([first], delimiter=separator or ",")), [])
    if separator is None:
        separator = max(_SEPARATORS, key=first.count)
        names_line = next(csv.reader([first], delimiter=separator), [])
    names = [name.strip() for name in names_line]
    _refuse_twins(path, names)
    if not content[len(first) :].strip():
        raise ValueError(f"{path}: a header line and at least one row are needed.")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return _parsed(path, content[len(first) :], names, texts, separator)
    return _parsed_by_arrow(path, content, names, texts, separator)


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


def _refuse_twins(path: Path, names: list[str]) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{path}: {count} columns are called {name!r}; names must differ.")


def _parsed_by_arrow(
    path: Path, content: str, names: list[str], texts: list[str], separator: str
) -> Columns:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    convert = arrow_csv.ConvertOptions(
        null_values=MISSING,
        strings_can_be_null=True,
        column_types=dict.fromkeys(texts, pa.string()),
    )
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(content.encode()),
            arrow_csv.ReadOptions(column_names=names, skip_rows=1),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert,
        )
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None
    return {name: _from_arrow(table.column(name), name in texts) for name in names}


def _from_arrow(column: Any, as_text: bool) -> Any:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_timestamp(kind) or types.is_date(kind):
        days = column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
        return _days(days)
    if types.is_dictionary(kind):
        return _from_arrow(column.cast(kind.value_type), as_text)
    if not as_text and (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    ):
        if types.is_boolean(kind):
            column = column.cast(pa.int8())
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    return column.cast(pa.string()).to_numpy(zero_copy_only=False)


def _days(dates: Any) -> Vector:
    """Return dates as days since 1970, NaN where one is missing."""
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return np.asarray(days, dtype=np.float64)


def _parsed(path: Path, rows: str, names: list[str], texts: list[str], separator: str) -> Columns:
    """Parse without pyarrow."""
    sample = list(csv.reader(rows.splitlines()[:_ROWS_OF_SAMPLE], delimiter=separator))
    if not texts and all(len(row) == len(names) and _are_numbers(row) for row in sample):
        try:
            table = np.loadtxt(io.StringIO(rows), delimiter=separator, comments=None, ndmin=2)
            return dict(zip(names, table.T, strict=True))
        except ValueError:
            pass  # text further down, or a line of another length: both are found below
    columns: list[list[str]] = [[] for _ in names]
    for line, row in enumerate(csv.reader(io.StringIO(rows, newline=""), delimiter=separator), 2):
        if not row:
            continue
        if len(row) != len(names):
            raise ValueError(f"{path}: line {line} has {len(row)} fields, the header {len(names)}.")
        for column, cell in zip(columns, row):
            column.append(cell)
    return {name: _typed(cells, name in texts) for name, cells in zip(names, columns)}


def _are_numbers(cells: list[str]) -> bool:
    try:
        list(map(float, cells))
    except ValueError:
        return False
    return True


def _typed(cells: list[str], as_text: bool) -> Any:
    """Return a column of numbers, of dates as days, or of texts."""
    missing = np.array([cell.strip() in MISSING for cell in cells])
    if not as_text:
        try:
            return np.array([np.nan if m else float(c) for c, m in zip(cells, missing)])
        except ValueError:
            pass
        if set(map(str.lower, cells)) <= {"true", "false"}:
            return np.array([cell.lower() == "true" for cell in cells], dtype=np.float64)
        try:
            return _days(np.array(["NaT" if m else c for c, m in zip(cells, missing)], "M8[us]"))
        except ValueError:
            pass
    return np.array([None if m else cell for cell, m in zip(cells, missing)], dtype=object)


def write_columns(path: Path, columns: Columns) -> None:
    """Write columns of equal length as CSV with a header line; "-" is the standard output."""
    with ExitStack() as stack:
        file: TextIO = sys.stdout
        if str(path) != "-":
            file = stack.enter_context(path.open("w", newline="", encoding="utf-8"))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(one).tolist() for one in columns.values()), strict=True))
