"""Chooses the columns of a table and turns its record batches into blocks of equal length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._block import Block

__all__ = ["Columns", "decoded", "require_arrow"]


def require_arrow(caller: str) -> Any:
    """Return pyarrow, or raise an error that names the extra."""
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError as error:
        raise ImportError(
            f"{caller} reads tables through pyarrow; install rectiline[arrow]."
        ) from error
    return pyarrow


class Columns:
    """Which columns of a table are features, target and weight; all of them are checked here.

    Attributes
    ----------
    features : list of str
    target, weight : str or None
    dtype : numpy.dtype
        float32 if all features are float32 or float16, float64 otherwise.
    """

    def __init__(
        self, schema: Any, target: str | None, weight: str | None, columns: Sequence[str] | None
    ) -> None:
        repeated = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if repeated:
            raise ValueError(f"Several columns of the table are called {repeated[0]!r}.")
        self.target, self.weight = target, weight
        index = _index_columns(schema)
        if isinstance(columns, str):
            raise ValueError(f"columns={columns!r}: must be a list of names.")
        if columns is None:
            columns = [c for c in schema.names if c not in (target, weight) and c not in index]
        self.features = list(columns)
        asked: dict[str, list[Any]] = {
            "target": [target],
            "weight": [weight],
            "columns": self.features,
        }
        for option, names in asked.items():
            for name in names:
                if name is not None and name not in schema.names:
                    raise ValueError(
                        f"{option}: the table has no column {name!r}; it has "
                        f"{', '.join(map(repr, schema.names))}."
                    )
        if not self.features:
            raise ValueError("The table must have at least one column beside target and weight.")
        if {target, weight} & set(self.features) - {None}:
            raise ValueError("columns must not hold the target or the weight.")
        _refuse_types(schema, self.features, weight)
        kinds = {str(schema.field(name).type) for name in self.features}
        narrow = kinds <= {"float", "halffloat"}
        self.dtype = np.dtype(np.float32 if narrow else np.float64)

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [*self.features, *(name for name in (self.target, self.weight) if name is not None)]

    def without_features(self) -> Columns:
        """Return target and weight alone."""
        new = copy(self)
        new.features = []
        return new


def _index_columns(schema: Any) -> set[str]:
    """Return the columns that hold the index of a pandas data frame."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    names = {name for name in stored if isinstance(name, str)}
    return names | {name for name in schema.names if re.fullmatch(r"__index_level_\d+__", name)}


def _refuse_types(schema: Any, features: Sequence[str], weight: str | None) -> None:
    from pyarrow import types

    wrong = []
    for name in [*features, *([] if weight is None else [weight])]:
        kind = schema.field(name).type
        numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
        if not numeric and not types.is_boolean(kind):
            wrong.append(f"{name!r} ({kind})")
    if wrong:
        raise ValueError(
            f"These columns do not hold numbers: {', '.join(wrong)}. Encode categories, texts and "
            "dates as numbers first (one column of zeros and ones for each category, say), or "
            "leave them out with columns=[...]."
        )


def decoded(
    batches: Iterable[Any], columns: Columns, block_rows: int, start: int = 0, place: int = 0
) -> Iterator[Block]:
    """Yield blocks of `block_rows` rows, however long the batches are; the last may be shorter.

    `start` and `place` are the numbers of the first row and of the first block.
    """
    pieces: list[Any] = []
    waiting = 0
    for batch in batches:
        while batch.num_rows:
            piece = batch.slice(0, block_rows - waiting)
            batch = batch.slice(piece.num_rows)
            pieces.append(piece)
            waiting += piece.num_rows
            if waiting == block_rows:
                yield _block(pieces, columns, start, place)
                start, place, pieces, waiting = start + waiting, place + 1, [], 0
    if waiting:
        yield _block(pieces, columns, start, place)


def _block(pieces: list[Any], columns: Columns, start: int, place: int) -> Block:
    """Return pieces of a table as one block; X is stored column by column, as the table is."""
    n = sum(piece.num_rows for piece in pieces)
    by_column = np.empty((len(columns.features), n), dtype=columns.dtype)
    targets: list[NDArray[Any]] = []
    weight = None if columns.weight is None else np.empty(n)
    first = 0
    for piece in pieces:
        some = slice(first, first + piece.num_rows)
        for column, name in zip(by_column, columns.features, strict=True):
            column[some] = _values(piece, name, start + first, place)
        if columns.target is not None:
            targets.append(_values(piece, columns.target, start + first, place))
        if weight is not None and columns.weight is not None:
            weight[some] = _values(piece, columns.weight, start + first, place)
        first += piece.num_rows
    return Block(by_column.T, np.concatenate(targets) if targets else None, weight, start)


def _values(piece: Any, name: str, start: int, place: int) -> NDArray[Any]:
    from pyarrow import types

    column = piece.column(name)
    if column.null_count:
        row = start + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(
            f"The table has a missing value: row {row}, column {name!r} is null (block {place}). "
            "Impute or drop such rows first."
        )
    if types.is_dictionary(column.type):  # only a target can be one
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        column = column.cast("float64")
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values
