"""Refuses NaN and infinity in blocks; sources that read files or tables use it once per block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rectiline.rows._block import Block

__all__ = ["refuse_non_finite"]


def refuse_non_finite(
    block: Block,
    place: int | None = None,
    names: Sequence[str] | None = None,
    rows: Any = None,
) -> None:
    """Raise if a block in memory holds NaN or infinity; the message says where.

    `place` is the number of the block; `rows` are those of its rows if they were picked.
    """
    values = block.X.data if block.is_sparse else block.X
    if not _is_finite(values):
        bad = ~np.isfinite(values)
        if block.is_sparse:
            at = int(np.argmax(bad))
            row = int(np.searchsorted(block.X.indptr, at, "right")) - 1
            column, value = int(block.X.indices[at]), values[at]
        else:
            row, column = (int(k) for k in np.argwhere(bad)[0])
            value = values[row, column]
        title = str(column) if names is None else repr(names[column])
        _refuse("X", block, place, rows, row, f", column {title}", value)
    for name, part in (("y", block.y), ("weight", block.weight)):
        if part is not None and part.dtype.kind == "f" and not _is_finite(part):
            row = int(np.argmax(~np.isfinite(part)))
            _refuse(name, block, place, rows, row, "", part[row])


def _is_finite(values: Any) -> bool:
    """Whether all values are finite; their sum shows it, unless it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return True
    return bool(np.isfinite(values).all())


def _refuse(
    name: str, block: Block, place: int | None, rows: Any, row: int, column: str, value: Any
) -> None:
    where = f" (block {place}, which starts at row {block.start})" if place is not None else ""
    number = block.start + row if rows is None else rows[row]
    raise ValueError(
        f"{name} contains NaN or infinity: row {number}{column} is {float(value)}{where}. Impute "
        "or drop such entries first."
    )
