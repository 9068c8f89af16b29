"""Read the groups of grouped penalties: labels, names or positions of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._column_names import column_index
from rectiline._lazy import cached_property
from rectiline._typing import Indices

_OWNER = "penalty_params['groups']"
_FORMS = (
    "give one label per column, a mapping from column to label ({'a': 'g1', 'b': 'g1'}), a mapping "
    "from label to columns ({'g1': ['a', 'b']}), or a list of lists of columns"
)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Hold disjoint groups one after the other: group g is ``columns[starts[g]:starts[g+1]]``.

    Columns increase within a group, and groups are in the order of their first column, so that
    the same groups always read the same, however they were given.
    """

    columns: Indices
    starts: Indices
    sizes: Indices
    width: int | None  # number of columns of X, where the labels tell it

    @cached_property
    def layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Columns and starts, the end of the last group included, for the compiled loops."""
        ends = np.append(self.starts, self.columns.size)
        return self.columns.astype(np.int64, copy=False), ends.astype(np.int64)

    @cached_property
    def owner(self) -> Indices:
        """The group of each entry of `columns`."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def last(self) -> int:
        """The largest column."""
        return int(self.columns.max())

    def members(self, group: int) -> Indices:
        """Return the columns of one group."""
        start = self.starts[group]
        return self.columns[start : start + self.sizes[group]]


def read_groups(groups: Any) -> tuple[Grouping, object]:
    """Return the groups, and what was given in a form that nobody can change.

    Raises
    ------
    TypeError
        If the labels are neither all integers nor all strings, or an index is not an integer.
    ValueError
        If there is no group, a group is empty, or a column is negative or in two groups.
    """
    if not is_collection(groups):
        raise TypeError(
            f"GroupLinf(groups={brief(groups)}): groups must be one label per column or a list of "
            "index lists."
        )
    given = list(groups)
    if not given:
        raise ValueError("GroupLinf(groups=[]): there must be at least one group.")
    if any(is_collection(entry) for entry in given):
        members = [_indices(entry, position) for position, entry in enumerate(given)]
        owner = np.repeat(np.arange(len(members)), [m.size for m in members])
        grouping = _arrange(np.concatenate(members), owner, None)
        return grouping, tuple(tuple(m.tolist()) for m in members)
    labels = _labels(given)
    _, owner = np.unique(labels, return_inverse=True)
    return _arrange(np.arange(labels.size), owner.reshape(-1), labels.size), labels


def is_collection(entry: object) -> bool:
    """Whether something can hold columns: anything to iterate over but a text."""
    return isinstance(entry, Iterable) and not isinstance(entry, str)


def _labels(entries: list[Any]) -> NDArray[Any]:
    # Mixed kinds would be turned into strings silently, and 1 would then equal "1".
    for kind in (str, bool | np.bool_, int | np.integer):
        if all(isinstance(entry, kind) for entry in entries):
            labels = np.array(entries)
            labels.flags.writeable = False
            return labels
    at, odd = next(
        ((j, e) for j, e in enumerate(entries) if not isinstance(e, str | int | np.integer)),
        (0, entries[0]),
    )
    raise TypeError(
        f"GroupLinf: groups[{at}] = {odd!r}, but labels must be all integers or all strings. To "
        "leave columns out of every group, give a list of index lists."
    )


def _indices(entry: Any, position: int) -> Indices:
    if not is_collection(entry):
        raise TypeError(
            f"GroupLinf: groups[{position}] = {brief(entry)}, but other groups are lists of column "
            "indices: give a list here too."
        )
    found = np.array(list(entry))
    if found.size == 0:
        raise ValueError(f"GroupLinf: groups[{position}] is empty; give it a column or drop it.")
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TypeError(
            f"GroupLinf: groups[{position}] = {brief(entry)}, but a group is a list of integers."
        )
    if found.min() < 0:
        raise ValueError(
            f"GroupLinf: groups[{position}] holds column {found.min()}; columns count from 0."
        )
    return found.astype(np.intp)


def _arrange(columns: Indices, owner: Indices, width: int | None) -> Grouping:
    by_column = np.argsort(columns, kind="stable")
    again = np.flatnonzero(np.diff(columns[by_column]) == 0)
    if again.size:
        column = columns[by_column[again[0]]]
        first, second = owner[by_column[again[0]]], owner[by_column[again[0] + 1]]
        if first == second:
            raise ValueError(f"GroupLinf: column {column} is listed twice in groups[{first}].")
        raise ValueError(
            f"GroupLinf: column {column} is in groups[{first}] and in groups[{second}]; "
            "groups must not overlap."
        )
    first_column = np.full(owner.max() + 1, columns.max() + 1)
    np.minimum.at(first_column, owner, columns)
    rank = np.argsort(np.argsort(first_column))[owner]
    order = np.lexsort((columns, rank))
    sizes = np.bincount(rank)
    starts = np.cumsum(sizes) - sizes
    arranged = columns[order]
    for array in (arranged, starts, sizes):
        array.flags.writeable = False
    return Grouping(arranged, starts, sizes, width)


# ---- columns by name -------------------------------------------------------------------------


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
    entries = list(given.values()) if isinstance(given, Mapping) else given
    lists = [is_collection(entry) for entry in entries]
    if any(lists) and not all(lists):
        odd = entries[lists.index(False)]
        raise TypeError(f"{_OWNER}: some entries are lists of columns, but {odd!r} is not.")
    if isinstance(given, Mapping):
        return _from_lists(given if all(lists) else _by_label(given), names, n_features)
    if all(lists):
        return _from_lists(dict(enumerate(entries)), names, n_features)
    if len(entries) != n_features:
        raise ValueError(
            f"{_OWNER}: {len(entries)} labels for {n_features} columns of X; there must be one "
            "label per column."
        )
    return entries


def _from_lists(
    groups: Mapping[Any, Iterable[Any]], names: NDArray[Any] | None, d: int
) -> list[list[int]]:
    found: list[list[int]] = []
    owner: dict[int, Any] = {}
    for title, columns in groups.items():
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


def _by_label(labels: Mapping[Any, Any]) -> dict[Any, list[Any]]:
    """Return the columns of each label."""
    groups: dict[Any, list[Any]] = {}
    for column, label in labels.items():
        if not isinstance(label, str | Integral):
            raise TypeError(
                f"{_OWNER}: column {column!r} has the label {label!r}; a label is a text or a "
                "whole number."
            )
        groups.setdefault(label, []).append(column)
    return groups
