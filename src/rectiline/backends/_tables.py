"""Tables with texts, categories, dates and missing cells as numbers: categories become columns.

A column of numbers or booleans stays as it is, a date becomes days since 1970. A category, and a
fixed effect of whatever type, becomes one column of zeros and ones for each of its levels; they are
stored sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._column_names import column_index, column_label, is_arrow, names_of
from rectiline._typing import Mask, Vector

_SECONDS_PER_DAY = 86_400.0


def column_values(X: Any, j: int) -> NDArray[Any]:
    """Return a column as numbers, with NaN where a cell is missing, or as objects."""
    return _as_numbers(_cells_of(X, j))


def _cells_of(X: Any, j: int) -> NDArray[Any]:
    """Return a column as it is."""
    if sp.issparse(X):
        return np.asarray(X[:, [j]].toarray()).ravel()
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, j].to_numpy())
    if is_arrow(X):
        column = X.column(j)
        if hasattr(column.type, "index_type"):  # a dictionary: NumPy would fill empty cells
            column = column.cast(column.type.value_type)
        return np.asarray(column)
    if hasattr(X, "get_column"):
        return np.asarray(X.get_column(X.columns[j]).to_numpy())
    return np.asarray(np.asarray(X)[:, j])


def _as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers where all cells are numbers or dates, else the objects themselves."""
    if values.dtype.kind in "fiub":
        return values
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]")
        days = seconds.astype(np.int64) / _SECONDS_PER_DAY
        return np.where(np.isnat(seconds), np.nan, days)
    values = values.astype(object)
    is_there = ~_missing(values)
    present = values[is_there]
    made = np.full(values.shape, np.nan)
    if all(isinstance(one, Real | Decimal | np.bool_) for one in present):
        made[is_there] = [float(one) for one in present]
        return made
    if all(isinstance(one, date | np.datetime64) for one in present):
        made[is_there] = _as_numbers(np.array([np.datetime64(one, "s") for one in present]))
        return made
    return values


def _missing(values: NDArray[Any]) -> Mask:
    """Return which cells are missing: NaN, None, and the missing value of pandas."""
    if values.dtype.kind in "iub":
        return np.zeros(values.shape, dtype=bool)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    nothing = ("NAType", "NaTType", "NoneType")
    gone = [type(v).__name__ in nothing or (isinstance(v, float) and v != v) for v in values]
    return np.array(gone, dtype=bool)


def refuse_texts(X: Any, besides: Sequence[int] = (), dates: bool = False) -> None:
    """Raise about the first column of a table that does not hold numbers, if there is one.

    With `dates` columns of dates are refused as well, which an encoder takes as days.
    """
    names = names_of(X)
    if names is None:
        return
    for j in [j for j in range(len(names)) if j not in besides]:
        cells = _cells_of(X, j)
        values = _as_numbers(cells)
        is_date = cells.dtype.kind == "M" or (cells.size and isinstance(cells[0], date))
        if dates and is_date:
            raise ValueError(
                f"X: {column_label(j, names)} holds dates, such as {cells[0]}. Make them numbers, "
                "or use an estimator with categorical='onehot', which counts days since 1970."
            )
        if values.dtype.kind == "O":
            row = int(np.argmax(~_missing(values)))
            raise ValueError(
                f"X: {column_label(j, names)} holds {values[row]!r} in row {row}, which is not a "
                "number. Encode the column, leave it out, or use an estimator with "
                "categorical='onehot', which makes one column of zeros and ones for each level."
            )


def unfinished_entry(X: Any) -> tuple[int, int, float] | None:
    """Return row, column and value of the first entry that is not a finite number, if any."""
    entries = sp.coo_array(X)
    wrong = np.flatnonzero(~np.isfinite(entries.data))
    if not wrong.size:
        return None
    first = wrong[np.argmin(entries.row[wrong])]
    return int(entries.row[first]), int(entries.col[first]), float(entries.data[first])


def refuse_unfinished(X: Any, names: NDArray[Any] | None) -> None:
    """Raise about the first cell of a matrix that is not a finite number, if there is one."""
    entry = unfinished_entry(X)
    if entry is not None:
        row, column, value = entry
        raise ValueError(
            f"Input X contains {'NaN' if np.isnan(value) else 'infinity'} in row {row}, "
            f"{column_label(column, names)}. Fill such cells, leave their rows "
            "out, or set missing='drop' where the estimator has it."
        )


def split_level(name: str, columns: Sequence[str]) -> tuple[str, str | None]:
    """Return the column of a table that a column of X comes from, and the level that it stands for.

    Names of columns may hold "=" as well: the longest one of `columns` that fits is meant.

    >>> split_level("city=Rome", ["city", "age"]), split_level("age", ["city", "age"])
    (('city', 'Rome'), ('age', None))
    >>> split_level("a=b=c", ["a", "a=b"]), split_level("a=b", ["a", "a=b"])
    (('a=b', 'c'), ('a=b', None))
    """
    if name in columns or "=" not in name:
        return name, None
    parts = name.split("=")
    for k in range(len(parts) - 1, 1, -1):
        column = "=".join(parts[:k])
        if column in columns:
            return column, "=".join(parts[k:])
    return parts[0], "=".join(parts[1:])


@dataclass(frozen=True, eq=False)
class _Encoded:
    """One column of a table: a number, or the levels that become columns."""

    place: int
    name: str
    levels: NDArray[Any] | None = None
    n_skipped: int = 0  # levels without a column: the reference
    shares: Vector | None = None  # of the rows at the fit that have each level

    @property
    def names(self) -> list[str]:
        """Names of the columns of X."""
        if self.levels is None:
            return [self.name]
        return [f"{self.name}={level}" for level in self.levels[self.n_skipped :]]

    def columns(self, values: NDArray[Any], new_levels: str) -> Any:
        """Return the numbers as a column, or the levels as sparse columns of zeros and ones."""
        if self.levels is None or self.shares is None:
            return values[:, None]
        texts = values.astype(str) if self.levels.dtype.kind == "U" else values
        codes = np.searchsorted(self.levels, texts).clip(0, self.levels.size - 1)
        is_new = self.levels[codes] != texts
        if is_new.any() and new_levels == "error":
            row = int(np.argmax(is_new))
            raise ValueError(
                f"X: column {self.name!r} holds {values[row]!r} in row {row}, which is none of the "
                f"{self.levels.size} levels of the fit. Set new_levels='zero' or 'mean' to predict "
                "for new levels."
            )
        width = self.levels.size - self.n_skipped
        rows = np.flatnonzero(~is_new & (codes >= self.n_skipped))
        entries = (np.ones(rows.size), (rows, codes[rows] - self.n_skipped))
        made = sp.csr_array(entries, shape=(codes.size, width))
        if is_new.any() and new_levels == "mean":
            mean = sp.csr_array(self.shares[None, self.n_skipped :])
            made = made + sp.kron(sp.csr_array(is_new[:, None].astype(float)), mean)
        return sp.csr_array(made)


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """How the columns of a table become those of X; fixed effects are the last ones.

    Attributes
    ----------
    names : ndarray of str
        Names of the columns of X.
    n_effects : int
        How many of them are fixed effects.
    new_levels : {"error", "zero", "mean"}
        What becomes of levels that the fit did not see.
    """

    columns: tuple[_Encoded, ...]
    names: NDArray[Any]
    n_effects: int
    new_levels: str
    n_columns: int

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        categorical: str | None = None,
        fixed_effects: Sequence[Any] | None = None,
        skips_category: bool = False,
        skips_effect: bool = True,
        fit_intercept: bool = True,
        new_levels: str = "error",
    ) -> TableEncoder:
        """Return the encoder of these rows, in which no cell is missing.

        `skips_category` and `skips_effect` say whether the first level of each has no column, so
        that columns are independent. Without an intercept the first effect keeps all of its levels.
        """
        names, d = names_of(X), int(X.shape[1])
        asked = [] if fixed_effects is None else list(fixed_effects)
        effects = [column_index(one, names, d, "fixed_effects") for one in asked]
        if len(set(effects)) < len(effects):
            raise ValueError(f"fixed_effects={asked!r}: names a column twice.")
        if categorical is None:
            refuse_texts(X, effects)
        made = []
        for j in [*(j for j in range(d) if j not in effects), *effects]:
            name = f"x{j}" if names is None else str(names[j])
            values, is_effect = column_values(X, j), j in effects
            if not is_effect and values.dtype.kind != "O":
                made.append(_Encoded(j, name))
                continue
            text = values.astype(str) if values.dtype.kind == "O" else values
            levels, count = np.unique(text, return_counts=True)
            skips = skips_category
            if is_effect:
                skips = skips_effect and (fit_intercept or j != effects[0])
            made.append(_Encoded(j, name, levels, int(skips), count / count.sum()))
        listed = [one for column in made for one in column.names]
        n_effects = sum(len(one.names) for one in made if one.place in effects)
        return cls(tuple(made), np.array(listed, dtype=object), n_effects, new_levels, d)

    @classmethod
    def of_names(
        cls, names: Sequence[str], columns: Sequence[str], new_levels: str = "error"
    ) -> TableEncoder:
        """Return the encoder that makes these columns of X, all levels included, from a table.

        ``"city=Rome"`` is 1 where the column city holds Rome, unless the table has a column of that
        name. The places are those in `columns`, the columns of the table.

        >>> TableEncoder.of_names(["age", "city=Oslo", "city=Rome"], ["city", "age"]).n_columns
        2
        """
        levels: dict[str, list[str]] = {}
        for name in names:
            column, level = split_level(name, columns)
            levels.setdefault(column, []).extend([] if level is None else [level])
        made = []
        for column, listed in levels.items():
            if column not in columns:
                raise ValueError(f"there is no column {column!r}; there are {list(columns)[:12]}.")
            found = (np.array(listed), 0, np.full(len(listed), 1.0 / len(listed))) if listed else ()
            made.append(_Encoded(list(columns).index(column), column, *found))
        return cls(tuple(made), np.array(names, dtype=object), 0, new_levels, len(columns))

    @staticmethod
    def complete(X: Any) -> Mask:
        """Return which rows of a table have no missing cell."""
        gone = [_missing(column_values(X, j)) for j in range(X.shape[1])]
        return np.asarray(~np.logical_or.reduce(gone))

    def numbers(self, X: Any) -> Any:
        """Return X: a dense matrix of numbers where there are no levels, else a sparse one."""
        known, d = names_of(X), int(X.shape[1])
        if d != self.n_columns:
            raise ValueError(f"X has {d} columns; at the fit it had {self.n_columns}.")
        parts: list[Any] = [np.empty((X.shape[0], 0))]
        for one in self.columns:
            if known is not None and not (one.name == known[one.place]):
                raise ValueError(
                    f"X must have the columns of the fit in the same order: column {one.place} is "
                    f"{str(known[one.place])!r}, at the fit it was {one.name!r}."
                )
            values = column_values(X, one.place)
            gone = _missing(values)
            if gone.any():
                row = int(np.argmax(gone))
                raise ValueError(
                    f"Input X contains NaN or an empty cell in row {row}, column {one.name!r}. "
                    "Fill such cells, leave their rows out, or fit with missing='drop'."
                )
            if one.levels is None and values.dtype.kind == "O":
                raise ValueError(
                    f"X: column {one.name!r} holds {values[0]!r} in row 0; at the fit it held "
                    "numbers."
                )
            parts.append(one.columns(values, self.new_levels))
        if all(one.levels is None for one in self.columns):
            return np.hstack(parts).astype(np.float64)
        return sp.csr_array(sp.hstack([sp.csr_array(one, dtype=float) for one in parts]))
