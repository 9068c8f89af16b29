"""Columns of X by name or by position, for constraints, penalties, problems and estimators."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NAMES_SHOWN = 8  # names listed in a message


def column_index(column: Any, names: NDArray[Any] | None, n_features: int, owner: str) -> int:
    """Return the position of a column given by name or by position.

    Parameters
    ----------
    column : str or int
    names : ndarray of str, optional
        The names of the columns, if X has any.
    n_features : int
    owner : str
        What the column is needed for, for the message.

    Examples
    --------
    >>> import numpy as np
    >>> column_index("b", np.array(["a", "b"]), 2, "constraints")
    1
    """
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{owner}: column {column!r} is given by name, but X has no column names. Pass X "
                "as a data frame, or give the position of the column."
            )
        found = np.flatnonzero(names == column)
        if not found.size:
            listed = [str(name) for name in names]
            close = get_close_matches(column, listed, n=1)
            if close:
                raise ValueError(f"{owner}: X has no column {column!r}. Did you mean {close[0]!r}?")
            shown = ", ".join(map(repr, listed[:_NAMES_SHOWN])) + (
                ", ..." if len(listed) > _NAMES_SHOWN else ""
            )
            raise ValueError(f"{owner}: X has no column {column!r}; its columns are {shown}.")
        return int(found[0])
    if isinstance(column, Integral) and not isinstance(column, bool):
        if -n_features <= int(column) < n_features:
            return int(column) % n_features
        raise ValueError(f"{owner}: column {column} does not exist; X has {n_features} columns.")
    raise TypeError(f"{owner}: a column is a name or a position; got {column!r}.")


def column_label(j: int, names: Sequence[str] | NDArray[Any] | None) -> str:
    """Return how a message calls a column: by its name where X has names.

    >>> column_label(2, None)
    'column 2'
    """
    return f"column {j}" if names is None else f"column {str(names[j])!r}"


def is_arrow(X: Any) -> bool:
    """Whether X is a table or a batch of Arrow."""
    return hasattr(X, "column_names") and hasattr(X, "schema")


def names_of(X: Any) -> NDArray[Any] | None:
    """Return the column names of a data frame if all of them are strings, else None."""
    columns = X.column_names if is_arrow(X) else getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    names = np.asarray(list(columns), dtype=object)
    return names if names.size and all(isinstance(name, str) for name in names) else None
