"""Groups of columns written with labels, names or positions, for penalties by name."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from reprlib import repr as brief
from typing import Any

from numpy.typing import NDArray

from rectiline._column_names import column_index
from rectiline.penalties._grouping import is_collection

__all__ = ["column_groups"]

_OWNER = "penalty_params['groups']"
_FORMS = (
    "give one label per column, a mapping from column to label ({'a': 'g1', 'b': 'g1'}), a mapping "
    "from label to columns ({'g1': ['a', 'b']}), or a list of lists of columns"
)


def column_groups(groups: Any, names: NDArray[Any] | None, n_features: int) -> Any:
    """Return groups as `rectiline.penalties.GroupLinf` takes them: labels, or lists of positions.

    Columns are names or positions. Those that no mapping or list mentions are in no group.

    Examples
    --------
    >>> import numpy as np
    >>> names = np.array(["a", "b", "c"], dtype=object)
    >>> column_groups({"a": "first", "c": "first", "b": "second"}, names, 3)
    [[0, 2], [1]]
    >>> column_groups({"first": ["a", "c"], "second": [1]}, names, 3)
    [[0, 2], [1]]
    """
    if groups is None:
        raise ValueError(f"penalty='group' needs groups: {_FORMS}.")
    if not is_collection(groups):
        raise TypeError(f"{_OWNER}: {_FORMS}; got {brief(groups)}.")
    given = groups if isinstance(groups, Mapping) else list(groups)
    if not len(given):
        raise ValueError(f"{_OWNER}: there is no group; {_FORMS}.")
    entries = list(given.values()) if isinstance(given, Mapping) else list(given)
    lists = [is_collection(entry) for entry in entries]
    if any(lists) and not all(lists):
        odd = entries[lists.index(False)]
        raise TypeError(f"{_OWNER}: some entries are lists of columns, but {odd!r} is not.")
    if all(lists):
        titles = list(given) if isinstance(given, Mapping) else list(range(len(entries)))
        return _from_lists(titles, entries, names, n_features)
    if isinstance(given, Mapping):
        return _from_labels(given, names, n_features)
    if len(entries) != n_features:
        raise ValueError(
            f"{_OWNER}: {len(entries)} labels for {n_features} columns of X; there must be one "
            "label per column."
        )
    return entries


def _from_lists(
    titles: list[Any], members: list[Any], names: NDArray[Any] | None, d: int
) -> list[list[int]]:
    found: list[list[int]] = []
    owner: dict[int, Any] = {}
    for title, columns in zip(titles, members, strict=True):
        places = [column_index(column, names, d, _OWNER) for column in columns]
        if not places:
            raise ValueError(f"{_OWNER}: group {title!r} is empty; give it a column or drop it.")
        for place, column in zip(places, columns, strict=True):
            if place in owner:
                raise ValueError(
                    f"{_OWNER}: column {column!r} is in group {owner[place]!r} and in group "
                    f"{title!r}; groups must not overlap."
                )
            owner[place] = title
        found.append(places)
    return found


def _from_labels(labels: Mapping[Any, Any], names: NDArray[Any] | None, d: int) -> list[list[int]]:
    members: dict[Any, list[int]] = {}
    seen: set[int] = set()
    for column, label in labels.items():
        if not isinstance(label, str | Integral):
            raise TypeError(
                f"{_OWNER}: column {column!r} has the label {label!r}; a label is a text or a "
                "whole number."
            )
        place = column_index(column, names, d, _OWNER)
        if place in seen:
            raise ValueError(f"{_OWNER}: column {column!r} has two labels.")
        seen.add(place)
        members.setdefault(label, []).append(place)
    return list(members.values())
