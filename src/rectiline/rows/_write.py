"""Writes what a function says about blocks as Parquet files, one for each item of a source."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block
from rectiline.rows._columns import require_arrow
from rectiline.rows._engines import map_items


def write_parquet(
    rows: RowBlocks,
    function: Callable[[Block, Any], NDArray[Any]],
    state: Any,
    folder: str | os.PathLike[str],
) -> list[str]:
    """Write ``function(block, state)`` for all rows; return the paths of the files.

    The executor of the rows writes one file for each item, in the same folders under `folder` as
    the files of the source have under theirs. Names of files hold the number of their first row.
    """
    require_arrow("Writing Parquet")
    Path(folder).mkdir(parents=True, exist_ok=True)
    if any(Path(folder).iterdir()):
        raise ValueError(f"{os.fspath(folder)!r}: the folder to write to must be empty.")
    items = list(rows.items())
    parts = [os.path.dirname(getattr(item, "path", "")) for item in items]
    base = os.path.commonpath(parts) if all(parts) else ""
    inside = {part: os.path.relpath(part, base) if base else "" for part in parts}
    work = partial(_write_item, function=function, state=state, folder=folder, inside=inside)
    return [path for path in map_items(rows.executor, work, items) if path]


def _write_item(
    item: Any, function: Any, state: Any, folder: Any, inside: dict[str, str]
) -> str | None:
    """Write what a function says about the blocks of an item; return the path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer, path = None, ""
    part = Path(folder) / inside[os.path.dirname(getattr(item, "path", ""))]
    for block in item.blocks():
        found = np.asarray(function(block, state))
        names = ["prediction"]
        if found.ndim == 2:
            names = [f"prediction_{k}" for k in range(found.shape[1])]
        columns = found.reshape(len(found), -1).T
        table = pa.table(dict(zip(names, columns, strict=True)))
        if writer is None:
            part.mkdir(parents=True, exist_ok=True)
            path = str(part / f"rows-{block.start:012d}.parquet")
            writer = pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return path or None
