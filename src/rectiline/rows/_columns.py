"""Chooses the columns of a table and turns its record batches into blocks of equal length."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._optional import optional
from rectiline.backends import split_level
from rectiline.rows._block import Block, refuse_non_finite


def require_arrow(caller: str) -> Any:
    """Return pyarrow, or raise an error that names the extra."""
    optional("pyarrow.dataset", f"{caller} reads tables through pyarrow")
    import pyarrow

    return pyarrow


@dataclass(frozen=True)
class Feature:
    """One column of X.

    Attributes
    ----------
    name : str
    column : str
        The column of the table that it is made of.
    level : str or None
        X is 1 where the table has this level, and 0 elsewhere.
    levels : tuple of str or None
        X is the place of the table's level among these.
    """

    name: str
    column: str
    level: str | None = None
    levels: tuple[str, ...] | None = None


class Columns:
    """Which columns of a table are features, target and weight; all of them are checked here.

    Attributes
    ----------
    features : list of Feature
    target, weight : str or None
    categories : list of str
        Columns of texts and categories whose levels are not known yet, see `with_levels`.
    dtype : numpy.dtype
        float32 if all features are float32 or float16, float64 otherwise.
    """

    def __init__(
        self,
        schema: Any,
        target: str | None,
        weight: str | None,
        columns: Sequence[str] | None,
        categorical: str | None = None,
    ) -> None:
        repeated = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if repeated:
            raise ValueError(f"Several columns of the table are called {repeated[0]!r}.")
        if categorical not in (None, "onehot", "codes"):
            raise ValueError(f'categorical={categorical!r}: must be None, "onehot" or "codes".')
        self.target, self.weight, self._categorical = target, weight, categorical
        index = _index_columns(schema)
        if isinstance(columns, str):
            raise ValueError(f"columns={columns!r}: must be a list of names.")
        if columns is None:
            columns = [c for c in schema.names if c not in (target, weight) and c not in index]
        self.features = [_feature(name, schema.names) for name in columns]
        asked: dict[str, list[Any]] = {
            "target": [target],
            "weight": [weight],
            "columns": [feature.column for feature in self.features],
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
        if {target, weight} & set(asked["columns"]) - {None}:
            raise ValueError("columns must not hold the target or the weight.")
        plain = [one.column for one in self.features if one.level is None]
        self.categories = [c for c in plain if categorical and _is_category(schema.field(c).type)]
        numeric = [name for name in plain if name not in self.categories]
        _refuse_types(schema, [*numeric, *([] if weight is None else [weight])])
        kinds = {str(schema.field(name).type) for name in numeric}
        narrow = bool(kinds) and kinds <= {"float", "halffloat"}
        self.dtype = np.dtype(np.float32 if narrow else np.float64)

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        others = (name for name in (self.target, self.weight) if name is not None)
        return list(dict.fromkeys([*(one.column for one in self.features), *others]))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(feature.name for feature in self.features)

    def without_features(self) -> Columns:
        """Return the columns of target and weight alone."""
        made = copy(self)
        made.features = []
        return made

    def with_levels(self, found: Mapping[str, Sequence[str]]) -> Columns:
        """Return the columns with the levels of their categories."""
        made = copy(self)
        made.features, made.categories = [], []
        for one in self.features:
            if one.column not in found or one.level is not None:
                made.features.append(one)
            elif self._categorical == "codes":
                made.features.append(Feature(one.name, one.column, None, tuple(found[one.column])))
            else:
                levels = found[one.column]
                made.features += [Feature(f"{one.name}={k}", one.column, k) for k in levels]
        return made


def _feature(name: str, stored: Sequence[str]) -> Feature:
    """Return the column of X with a name; "carrier=AA" is a level of the column "carrier"."""
    column, level = split_level(name, stored)
    return Feature(name, column, level) if column in stored else Feature(name, name)


def _index_columns(schema: Any) -> set[str]:
    """Return the columns that hold the index of a pandas data frame."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    names = {name for name in stored if isinstance(name, str)}
    return names | {name for name in schema.names if re.fullmatch(r"__index_level_\d+__", name)}


def _is_category(kind: Any) -> bool:
    from pyarrow import types

    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    return any(is_kind(kind) for is_kind in texts)


def _refuse_types(schema: Any, names: Sequence[str]) -> None:
    from pyarrow import types

    wrong = []
    for name in names:
        kind = schema.field(name).type
        numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
        if not numeric and not types.is_boolean(kind):
            wrong.append(f"{name!r} ({kind})")
    if wrong:
        raise ValueError(
            f"These columns do not hold numbers: {', '.join(wrong)}. Encode categories, texts and "
            'dates as numbers first, pass categorical="onehot" for one column of zeros and ones '
            "for each text or category, or leave them out with columns=[...]."
        )


def decoded(
    batches: Iterable[Any], columns: Columns, block_rows: int, start: int = 0, origin: str = ""
) -> Iterator[Block]:
    """Yield blocks of `block_rows` rows, however long the batches are; the last may be shorter.

    `start` is the number of the first row, `origin` says in errors where the batches come from.
    """
    import pyarrow as pa

    pieces: list[Any] = []
    waiting = 0
    for batch in batches:
        while batch.num_rows:
            piece = batch.slice(0, block_rows - waiting)
            batch = batch.slice(piece.num_rows)
            pieces.append(piece)
            waiting += piece.num_rows
            if waiting == block_rows:
                yield block_of(pa.Table.from_batches(pieces), columns, start, origin)
                start, pieces, waiting = start + waiting, [], 0
    if waiting:
        yield block_of(pa.Table.from_batches(pieces), columns, start, origin)


def block_of(table: Any, columns: Columns, start: int, origin: str = "") -> Block:
    """Return a table as one block."""
    # Column by column, as tables lie.
    X = np.empty((len(table), len(columns.features)), columns.dtype, order="F")
    coded: dict[str, Any] = {}  # several features may be levels of one column
    for j, feature in enumerate(columns.features):
        name = feature.column
        if feature.level is None and feature.levels is None:
            X[:, j] = _values(table, name, start, origin)
            continue
        if name not in coded:
            coded[name] = _texts(table, name, start, origin)
        texts, place = coded[name]
        X[:, j] = _numbers_of(feature, texts)[place]
    y, weight = (
        None if name is None else _values(table, name, start, origin)
        for name in (columns.target, columns.weight)
    )
    weight = None if weight is None else weight.astype(np.float64)
    if columns.features:
        refuse_non_finite(Block(X[:, :0], y, weight, start))
    return Block(X, y, weight, start)


def frame_block(start: int, packed: bytes, frame: Any) -> Block:
    """Return a data frame of pandas as a block; `packed` are its pickled columns."""
    import pyarrow

    columns: Columns = pickle.loads(packed)
    return block_of(pyarrow.Table.from_pandas(frame, preserve_index=False), columns, start)


def _numbers_of(feature: Feature, texts: NDArray[Any]) -> NDArray[Any]:
    """Return the entries of a column of X for texts."""
    if feature.levels is None:
        return np.asarray(texts == feature.level)
    codes = {level: code for code, level in enumerate(feature.levels)}
    return np.array([codes.get(str(text), -1) for text in texts])


def _texts(table: Any, name: str, start: int, origin: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct entries of a column as texts, and the place of each row's among them."""
    from pyarrow import types

    column = _complete(table, name, start, origin)
    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.combine_chunks()
    return np.asarray(whole.dictionary).astype(str), np.asarray(whole.indices).astype(np.intp)


def _values(table: Any, name: str, start: int, origin: str) -> NDArray[Any]:
    from pyarrow import types

    column = _complete(table, name, start, origin)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column)


def _complete(table: Any, name: str, start: int, origin: str) -> Any:
    """Return a column that has no missing value."""
    from pyarrow import types

    column = table.column(name)
    if column.null_count:
        row = start + int(np.argmax(column.is_null()))
        raise ValueError(
            f"The table has a missing value: row {row}, column {name!r} is null{origin}. Impute "
            'such rows first, or leave them out with missing="drop".'
        )
    held = column.type.value_type if types.is_dictionary(column.type) else column.type
    return column.cast(held).cast("float64") if types.is_decimal(held) else column
