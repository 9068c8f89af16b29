"""Reads the first rows of some row groups of Parquet files: a sample without decoding the rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowGroups"]

_LEAST_GROUPS = 64  # that rows are taken from, if there are as many
_GROUP_SHARE = 0.5  # of a row group is taken at most, unless there are too few groups for that


class RowGroups:
    """The row groups of a data set of Parquet files, in the order in which it is scanned.

    A row group is decoded from its first row on, and as far as needed. Rows from the beginnings of
    row groups all over the files are spread like the rows, unless groups are sorted within.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def first_rows(self, names: list[str], size: int) -> tuple[list[Any], NDArray[np.int64]] | None:
        """Return record batches of about `size` rows, and their numbers.

        None: some file lacks a column, which a scan of the whole data set may know how to fill, or
        the data set is filtered.
        """
        try:
            fragments = list(self._data.get_fragments())
        except ValueError:
            return None
        groups = [
            (fragment, group.id, group.num_rows)
            for fragment in fragments
            for group in fragment.row_groups
            if group.num_rows
        ]
        lengths = np.array([rows for _, _, rows in groups], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        enough = math.ceil(size / (_GROUP_SHARE * lengths.mean()))
        touched = min(len(groups), max(_LEAST_GROUPS, enough))
        chosen = np.arange(touched) * len(groups) // touched
        share = min(1.0, size / float(lengths[chosen].sum()))
        batches: list[Any] = []
        numbers = []
        for place in chosen.tolist():
            fragment, group, rows = groups[place]
            found = _first_batches(fragment, group, math.ceil(share * rows), names)
            if found is None:
                return None
            batches += found
            numbers.append(starts[place] + np.arange(sum(one.num_rows for one in found)))
        return batches, np.concatenate(numbers)


def _first_batches(fragment: Any, group: int, count: int, names: list[str]) -> list[Any] | None:
    """Return the first rows of a row group; columns of a partition are those of its folder."""
    import pyarrow as pa
    from pyarrow.dataset import get_partition_keys
    from pyarrow.parquet import ParquetFile

    keys = get_partition_keys(fragment.partition_expression)
    with fragment.open() as source, ParquetFile(source) as file:
        stored = set(file.schema_arrow.names)
        if not set(names) <= stored | set(keys):
            return None
        found, left = [], count
        columns = [name for name in names if name in stored]
        for batch in file.iter_batches(count, [group], columns, use_threads=False):
            part = batch.slice(0, left)
            for name in names:
                if name not in stored:
                    part = part.append_column(name, pa.repeat(keys[name], part.num_rows))
            found.append(part)
            left -= part.num_rows
            if left <= 0:
                break
    return found
