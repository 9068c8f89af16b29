"""Entries that dwarf the others of their column: rows that a sample must hold, or cannot bear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._column_names import column_label
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems import Problem
from rectiline.problems.blocks import Totals
from rectiline.rows import Block, join

if TYPE_CHECKING:
    from rectiline.solvers.rows._draw import RowSample

# An entry beyond this, and of so many times the typical one of its column, is no measurement. (A
# column of ones and of the rounding errors of zeros has large ratios, too, and is solved.)
_LARGEST_MEASUREMENT, _LARGEST_IN_TYPICAL_ENTRIES = 1e20, 1e13
_ROWS_TO_SEE_TYPICAL_ENTRIES = 1_000
# A column whose mean size is so many times the root mean square of its entries in the sample has
# entries that dwarf these; they are looked for beyond so many times the largest of these.
_MOST_SIZE_IN_RMS, _DWARFING_FACTOR = 30.0, 10.0
_MOST_BESIDE_CURVATURE = 1e14  # squares of larger ones, in the same unit, hide those of the others


def largest_entries(X: Any) -> Vector:
    """Return the largest absolute value of each column."""
    found = abs(X).max(axis=0)
    return np.asarray(found.toarray() if sp.issparse(found) else found).ravel()


def refuse_giants(block: Block, rows: NDArray[np.int64], names: Sequence[str] | None) -> None:
    """Raise if a column of a sample holds an entry beside which all others are rounding."""
    largest = largest_entries(block.X)
    if largest.max() <= _LARGEST_MEASUREMENT:
        return
    few = sp.coo_array(block.X[:: max(1, block.n_rows // _ROWS_TO_SEE_TYPICAL_ENTRIES)])
    used, d = few.data != 0.0, block.X.shape[1]
    count = np.bincount(few.col[used], minlength=d)
    logs = np.bincount(few.col[used], np.log(np.abs(few.data[used])), minlength=d)
    typical = np.exp(logs / np.maximum(count, 1))
    with np.errstate(over="ignore"):
        least = np.maximum(_LARGEST_MEASUREMENT, _LARGEST_IN_TYPICAL_ENTRIES * typical)
    for j in np.flatnonzero((largest > least) & (count > 1))[:1]:
        column = np.ravel(block.X[:, [j]].toarray() if block.is_sparse else block.X[:, j])
        row = int(np.argmax(np.abs(column)))
        where = f"row {rows[row]}, {column_label(int(j), names)}"
        raise ValueError(
            f"X: {where} is {column[row]:.3g}, where entries are typically about "
            f"{typical[j]:.1g}: all others are rounding beside it, and nothing "
            "can be proved. Drop such rows, or clip the column; a damaged file may hold them."
        )


def with_missed_rows(problem: Problem, drawn: RowSample, totals: Totals) -> RowSample:
    """Return a sample with rows whose entries dwarf it; itself if no pass has shown such entries.

    One of them may determine a coefficient alone. `totals` are those of a pass that measures.
    """
    X = drawn.block.X
    rms = np.sqrt(Design(X).column_squares() / X.shape[0])
    sizes = np.asarray(totals["sizes"]) / max(float(totals["measured_weight"]), 1e-300)
    is_dwarfed = (rms > 0.0) & (sizes > _MOST_SIZE_IN_RMS * rms)
    if not is_dwarfed.any():
        return drawn
    limits = np.where(is_dwarfed, _DWARFING_FACTOR * largest_entries(X), np.inf)
    found = np.concatenate(list(problem.blocks.map_blocks(_rows_beyond, limits)))
    if not found.size:
        return drawn
    rows = np.append(drawn.rows, found)
    order = np.argsort(rows)
    block = join([drawn.block, problem.blocks.take(found)], problem.n_features).take(order)
    refuse_giants(block, rows[order], problem.blocks.feature_names)
    is_hidden = largest_entries(block.X) > _MOST_BESIDE_CURVATURE * rms
    if totals.has("curvature") and (is_dwarfed & is_hidden).any():
        return drawn
    stands_for = np.append(drawn.stands_for, np.ones(found.size))[order]
    return replace(drawn, block=block, rows=rows[order], stands_for=stands_for, is_quick=False)


def _rows_beyond(block: Block, limits: Vector) -> NDArray[np.int64]:
    """Return the numbers of the rows of a block with an entry beyond the limit of its column."""
    if block.is_tensor:
        at = (block.X.abs() > block.X.new_tensor(limits)).any(1).nonzero()[:, 0].cpu().numpy()
    else:
        entries = sp.coo_array(block.X)
        at = np.unique(entries.row[np.abs(entries.data) > limits[entries.col]])
    return np.asarray(block.start + at, dtype=np.int64)
