"""Read the groups of grouped penalties: one label per column, or a list of index lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._lazy import cached_property
from rectiline._typing import Indices


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
