"""Build the scaled program of `interior` from a form: blocks of rows, and a starting point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.backends import Design, as_design
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers.interior.blocks import Block
from rectiline.solvers.interior.per_row import Part
from rectiline.solvers.interior.program import Program
from rectiline.solvers.interior.rows import DataRows, MatrixRows, UnitRows
from rectiline.solvers.interior.samples import Samples
from rectiline.solvers.interior.scaling import Scales, measure

Vector = NDArray[np.float64]

__all__ = ["build", "row_matrices"]

# The stiffness of a free dual. Its row is met up to this much times the change of the dual, so the
# next step meets it to the square. On other rows it keeps weights within the reach of refinement.
_FREE = 1e-9
_FULL = 0.5  # share of stored entries from which on a sparse design becomes an array


def build(form: EpigraphForm, rows_as_given: bool = False) -> Program:
    """Return the scaled program of a form, with all rows at zero coefficients.

    `rows_as_given` chooses the units of constraint rows, see `measure`.
    """
    design, epigraph = _stored(form.design), form.epigraph
    samples = Samples.of(form)
    active = samples.active
    m, matrices = form.n_inequalities, row_matrices(form)
    scales = measure(form, design, samples, matrices, rows_as_given)
    intercept = form.fit_intercept
    width = epigraph.n_columns + intercept
    ys, unit = scales.prediction, scales.prediction * scales.objective
    rows = DataRows(
        design, active, scales.column[: design.n_features], scales.centre, intercept, width
    )
    data = _data_block(samples, rows, scales)
    shift = 1.0 / max(rows.size, 1)

    offsets = [form.constraint_offset[:m], form.constraint_offset[m:], None, None]

    def row_block(k: int, low: Vector | None, high: Vector | None) -> Block | None:
        size, row, offset = matrices[k].shape[0], scales.rows[k], offsets[k]
        if not size:
            return None
        start = np.zeros(size) if offset is None else offset / (row * ys)
        part = Part(0.0, low, high, 0.0, start, shift)
        scaled = _scaled(matrices[k], scales.column, row, intercept)
        return Block(MatrixRows(scaled), 1.0, start, [part], _FREE)

    def zeros(k: int) -> Vector:
        return np.zeros(matrices[k].shape[0])

    inequalities = row_block(0, None, zeros(0))
    equalities = row_block(1, None, None)
    cap = epigraph.cap * scales.rows[3] * unit
    extra = [row_block(2, None, zeros(2)), row_block(3, zeros(3), cap)]
    absolute, bounds = _column_blocks(form, scales, width, shift)
    rho, linear = np.zeros(width), np.zeros(width)
    d = design.n_features
    rho[:d] = form.columns.rho * (ys * scales.column[:d]) ** 2 * scales.objective
    linear[: epigraph.n_columns] = epigraph.linear * scales.column * unit
    linear[:d] += form.linear * scales.column[:d] * unit
    return Program(
        form=form,
        scales=scales,
        samples=rows,
        data=data,
        inequalities=inequalities,
        equalities=equalities,
        absolute=absolute,
        others=[block for block in (*bounds, *extra) if block is not None],
        rho=rho,
        linear=linear,
        constant=samples.constant * scales.objective,
        reference=abs(form.rows.loss(np.zeros(design.n_samples))) * scales.objective,
    )


def row_matrices(form: EpigraphForm) -> list[Any]:
    """Return inequalities, equalities, and the rows of the epigraph, over all columns of b."""
    m, stacked, epigraph = form.n_inequalities, form.constraint_design.X, form.epigraph
    parts = (_padded(part, epigraph.n_columns) for part in (stacked[:m], stacked[m:]))
    return [*parts, epigraph.above, epigraph.capped]


def _stored(design: Design) -> Design:
    """Return the design, as an array if a sparse one has few zeros.

    Arrays are centred, which sparse matrices are not, and their products are faster.
    """
    full = design.n_stored >= _FULL * design.n_samples * design.n_features
    return as_design(design.X.toarray()) if design.is_sparse and full else design


def _data_block(samples: Samples, rows: DataRows, scales: Scales) -> Block:
    ys, unit = scales.prediction, scales.prediction * scales.objective
    start = (samples.offset + samples.direction * scales.shift) / ys
    parts = []
    for slot in samples.slots:
        where = slot.rows(samples.index)
        index = samples.index if where is None or samples.index is None else samples.index[where]
        weight = samples.weight if where is None else samples.weight[where]
        low, high = slot.on_rows("low", index), slot.on_rows("high", index)
        soft = slot.on_rows("soft", index)
        curved = bool(np.all(soft))
        parts.append(
            Part(
                slot.on_rows("knot", index) / ys,
                weight * (low * unit) if np.all(np.isfinite(low)) else None,
                weight * (high * unit) if np.all(np.isfinite(high)) else None,
                soft / (weight * (ys * unit)) if curved else 0.0,
                start if where is None else start[where],
                1.0 / rows.size,
                where,
            )
        )
    changing = np.zeros(rows.size, dtype=bool)
    for part in parts:
        if not part.is_steady:
            changing[slice(None) if part.where is None else part.where] = True
    rows.changing = np.flatnonzero(changing)
    return Block(rows, samples.direction, start, parts, _FREE * rows.size)


def _column_blocks(
    form: EpigraphForm, scales: Scales, width: int, shift: float
) -> tuple[Block | None, list[Block]]:
    """Return the l1 parts and the bounds; a column whose bounds meet is an equality."""
    columns, d = form.columns, form.design.n_features
    size = scales.prediction * scales.column[:d]
    fixed = columns.lower == columns.upper
    absolute = None
    chosen = np.flatnonzero((columns.l1 > 0) & ~fixed)
    if chosen.size:
        cap = (columns.l1 * size * scales.objective)[chosen]
        start = np.zeros(chosen.size)
        part = Part(0.0, -cap, cap, 0.0, start, shift)
        absolute = Block(UnitRows(chosen, width), 1.0, start, [part])
    blocks = []
    for sign, bound in ((1.0, columns.lower), (-1.0, columns.upper)):
        chosen = np.flatnonzero(np.isfinite(bound) & ~fixed)
        if chosen.size:
            start = -sign * (bound / size)[chosen]
            part = Part(0.0, None, np.zeros(chosen.size), 0.0, start, shift)
            blocks.append(Block(UnitRows(chosen, width), sign, start, [part], _FREE))
    chosen = np.flatnonzero(fixed)
    if chosen.size:
        start = -(columns.lower / size)[chosen]
        part = Part(0.0, None, None, 0.0, start, shift)
        blocks.append(Block(UnitRows(chosen, width), 1.0, start, [part], _FREE))
    return absolute, blocks


def _padded(matrix: Any, width: int) -> Any:
    """Return the matrix with zero columns appended."""
    more = width - matrix.shape[1]
    if more == 0:
        return matrix
    if sp.issparse(matrix):
        return sp.csr_array(
            (matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width)
        )
    return np.hstack([matrix, np.zeros((matrix.shape[0], more))])


def _scaled(matrix: Any, column: Vector, row: Vector, intercept: bool) -> Any:
    """Return the rows in the program's units, with a zero for the intercept."""
    if sp.issparse(matrix):
        scaled = sp.csr_array(matrix * column)
        scaled.data = scaled.data / np.repeat(row, np.diff(scaled.indptr))
    else:
        scaled = matrix * column / row[:, None]
    return _padded(scaled, matrix.shape[1] + intercept)
