"""The scaled program: blocks of rows with their duals, a diagonal, a linear cost, and the way back.

    min over b   sum over blocks of parts(sign * R b + offset)  +  linear'b + sum_j rho_j/2 b_j^2

Data rows carry the loss; constraint rows, bounds and the rows of an epigraph carry parts with infinite
boxes; ``l1_j |b_j|`` is a part on the row e_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.problems.forms import EpigraphForm, FormPoint
from rectiline.solvers.interior.blocks import Block
from rectiline.solvers.interior.per_row import Part
from rectiline.solvers.interior.rows import DataRows, MatrixRows, UnitRows
from rectiline.solvers.interior.samples import Samples
from rectiline.solvers.interior.scaling import Scales, measure

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["Program", "build"]

# The stiffness of a free dual. Its row is met up to this much times the change of the dual, so the
# next step meets it to the square.
_FREE = 1e-9


@dataclass(slots=True, eq=False)
class Program:
    """Everything a step needs, and how to read the answer."""

    form: EpigraphForm
    scales: Scales
    data: Block
    inequalities: Block | None
    equalities: Block | None
    absolute: Block | None  # the l1 parts
    others: list[Block]  # bounds and epigraph rows
    rho: Vector
    linear: Vector
    constant: float  # of the objective
    reference: float  # the loss at zero coefficients: the yardstick of rounding

    @property
    def width(self) -> int:
        """Number of columns, the intercept included."""
        return int(self.rho.size)

    @property
    def blocks(self) -> list[Block]:
        """All blocks of rows."""
        given = [self.data, self.inequalities, self.equalities, self.absolute, *self.others]
        return [block for block in given if block is not None]

    @property
    def is_linear(self) -> bool:
        """Whether nothing in the program is curved."""
        return not self.rho.any() and not any(part.curved for part in self.data.parts)

    def pull(self) -> Vector:
        """Return the duals' pull on every column."""
        total = np.zeros(self.width)
        for block in self.blocks:
            total += block.pull()
        return total

    def begin_inside(self, b: Vector) -> Vector | None:
        """Start again from a point near `b` with slack in all inequalities, if there is one.

        Approached from outside, thin constraints (nearly parallel rows, say) are met only after the
        duals have lost their own room, and steps become short.
        """
        inner, block = self.form.inner_point, self.inequalities
        if inner is None or block is None:
            return None
        d = inner.size
        far = b.copy()
        far[:d] = inner / (self.scales.prediction * self.scales.column[:d])
        slack = block.rows.dot(b) + block.offset
        most = block.rows.dot(far) + block.offset
        outside = slack < 0
        if not (most > 0).all() or not outside.any():
            return None
        share = float(np.max(-slack[outside] / (most - slack)[outside]))
        b = b + min(1.0, 2.0 * share) * (far - b)
        for one in self.blocks:
            one.place(b)
            for part in one.parts:
                part.begin(part.own(one.argument))
        if not (block.argument > 0).all():
            return None
        block.parts[0].settle(block.argument, 1.0 / self.data.rows.size)
        return b

    # ---- the way back -------------------------------------------------------------------------------

    def coefficients(self, b: Vector) -> tuple[Vector, float]:
        """Return the user's coefficients and intercept."""
        scales, d = self.scales, self.form.design.n_features
        coef = scales.prediction * scales.column[:d] * b[:d]
        if not self.form.fit_intercept:
            return coef, 0.0
        intercept = scales.prediction * b[-1] + scales.shift
        if scales.centre is not None:
            intercept -= float(scales.centre @ coef)
        return coef, float(intercept)

    def multipliers(self) -> tuple[Vector, Vector]:
        """Return the user's duals of samples and of constraint rows."""
        unit = self.scales.prediction * self.scales.objective
        rows = self.data.rows
        assert isinstance(rows, DataRows)
        sample = rows.scattered(self.data.dual() / unit)
        parts = [
            -block.dual() / (row * unit)
            for block, row in zip(
                (self.inequalities, self.equalities), self.scales.rows[:2], strict=True
            )
            if block is not None
        ]
        return sample, np.concatenate(parts) if parts else np.zeros(0)

    def point(self, b: Vector) -> FormPoint:
        """Return the pair in the form's terms."""
        coef, intercept = self.coefficients(b)
        sample, constraint = self.multipliers()
        return FormPoint(coef, intercept, sample, constraint)


def build(form: EpigraphForm) -> Program:
    """Return the scaled program of a form, with all rows at zero coefficients."""
    design, epigraph = form.design, form.epigraph
    samples = Samples.of(form)
    active = samples.active
    m, stacked = form.n_inequalities, form.constraint_design.X
    matrices = [
        _padded(stacked[:m], epigraph.n_columns),
        _padded(stacked[m:], epigraph.n_columns),
        epigraph.above,
        epigraph.capped,
    ]
    scales = measure(form, samples, matrices)
    intercept = form.fit_intercept
    width = epigraph.n_columns + intercept
    ys, unit = scales.prediction, scales.prediction * scales.objective
    rows = DataRows(
        design, active, scales.column[: design.n_features], scales.centre, intercept, width
    )
    data = _data_block(samples, rows, scales)
    shift = 1.0 / rows.size

    def row_block(k: int, offset: Vector | None, kind: str, cap: Vector | None = None) -> Block | None:
        size = matrices[k].shape[0]
        if not size:
            return None
        row = scales.rows[k]
        start = np.zeros(size) if offset is None else offset / (row * ys)
        high = None if kind == "equal" else np.zeros(size) if cap is None else cap * row * unit
        low = np.zeros(size) if cap is not None else None
        part = Part(0.0, low, high, 0.0, start, shift)
        scaled = _scaled(matrices[k], scales.column, row, intercept)
        return Block(MatrixRows(scaled), 1.0, start, [part], _FREE)

    constants = form.constraint_offset
    inequalities = row_block(0, constants[:m], "above")
    equalities = row_block(1, constants[m:], "equal")
    extra = [row_block(2, None, "above"), row_block(3, None, "capped", epigraph.cap)]
    absolute, bounds = _column_blocks(form, scales, width, shift)
    rho, linear = np.zeros(width), np.zeros(width)
    d = design.n_features
    rho[:d] = form.columns.rho * (ys * scales.column[:d]) ** 2 * scales.objective
    linear[: epigraph.n_columns] = epigraph.linear * scales.column * unit
    return Program(
        form=form,
        scales=scales,
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
