"""`UnitProgram`: a form as boxed units on scaled rows, and the way back to the user's numbers.

    min over x   sum_j rho_j/2 x_j^2 + linear'x + sum_k phi_k(row_k x + shift_k),
    phi_k(a) = max over low_k <= y <= high_k of y a - soft_k y^2/2

Samples carry their losses; inequalities are units with ``y <= 0``, equalities with free y, bounds
and prices of single coefficients and the rows of an epigraph are units as well. A sample whose loss
falls in the prediction has its box mirrored, so that all rows are rows of X.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._typing import Vector
from rectiline.backends import Design, as_design
from rectiline.problems.forms import (
    CompositeForm,
    EpigraphForm,
    FormPoint,
    Levels,
    LossUnits,
    Samples,
)
from rectiline.solvers.interior.rows import BoxedRows, DataRows, ProgramRows, opposites, scaled
from rectiline.solvers.interior.scaling import (
    Scales,
    least_losses,
    measure,
    used_samples,
)

Indices = NDArray[np.int64]

# Stiffness of a free multiplier. Its row is met up to this much times the move of the multiplier,
# so the next step meets it to the square. On other rows it keeps weights from being too large.
_STIFFNESS = 1e-9
_STIFFNESS_OF_32_DIGITS = 1e-12  # for free multipliers only
# Relative to 16 digits; more room keeps thin constraints from being met early.
_ROOM_FACTOR_OF_32_DIGITS = 10.0
# Multipliers of chains of rows are as large as the scales of their columns differ: from less room
# they took 137 steps where 49 are enough, and patience ended before.
_CONSTRAINT_ROOM_OF_32_DIGITS = 1e3
# Share of stored entries from which on a sparse design becomes an array.
_DENSE_SHARE_OF_ENTRIES = 0.5


@dataclass(slots=True)
class _Units:
    """Units, collected piece by piece."""

    row: list[Any] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)  # as in `UnitProgram.units`
    count: int = 0

    def add(
        self,
        row: Any,
        shift: Any,
        low: Any,
        high: Any,
        soft: Any = 0.0,
        least: float = _STIFFNESS,
        room: Any = 1.0,
    ) -> slice:
        """Add a unit to each of some rows; return their places."""
        numbers = np.empty((6, len(row)))
        for k, one in enumerate((shift, low, high, soft, least, room)):
            numbers[k] = one
        self.row.append(np.asarray(row, dtype=np.int64))
        self.numbers.append(numbers)
        first, self.count = self.count, self.count + len(row)
        return slice(first, self.count)


@dataclass(frozen=True, slots=True, eq=False)
class UnitProgram:
    """Rows with units, the diagonal and the linear cost, and how to read the answer."""

    form: EpigraphForm
    scales: Scales
    active: Indices | slice  # the rows of X that are samples with a weight
    constant: float  # of the objective, in the user's units
    rows: ProgramRows
    row: Indices  # of each unit
    units: Vector  # shift, low, high, soft, least and room of each unit
    rho: Vector
    linear: Vector
    price: Indices  # the unit of each column's absolute value, or -1
    sample: Indices  # of the units of losses, which come first; among the active ones
    constraint_units: slice
    epigraph_units: slice  # of the rows of an epigraph that must not be negative
    constraint_scale: Vector  # negative where the unit has the other sign

    @property
    def width(self) -> int:
        """Number of columns, the intercept included."""
        return int(self.rho.size)

    @property
    def unit(self) -> float:
        """Size of duals of samples."""
        return self.scales.prediction * self.scales.objective

    def compiled(self) -> Any:
        """Return the program for the compiled method."""
        form, objective = self.form, self.scales.objective
        return _core.UnitProgram(
            self.row,
            self.units,
            self.rho,
            self.linear,
            self.price,
            self.constant * objective,
            abs(form.rows.loss(np.zeros(form.design.n_samples))) * objective,
            not form.linear_rows.size,
        )

    # ---- between the user's numbers and the program's ------------------------------------------

    def point(self, x: Vector, y: Vector) -> FormPoint:
        """Return the pair in the form's terms."""
        scales, d = self.scales, self.form.design.n_features
        coef = scales.prediction * scales.column[:d] * x[:d]
        intercept = 0.0
        if self.form.fit_intercept:
            intercept = float(scales.prediction * x[-1] + scales.shift)
            if scales.centre is not None:
                intercept -= float(scales.centre @ coef)
        sample = np.zeros(self.form.design.n_samples)
        own = y[: self.sample.size]
        sample[self.active] = np.bincount(self.sample, own, self.rows.data.size) / self.unit
        constraint = -y[self.constraint_units] / (self.constraint_scale * self.unit)
        return FormPoint(coef, intercept, sample, constraint)

    def with_coef(self, x: Vector, coef: Vector) -> Vector:
        """Return a point of the program with other coefficients, given in the form's terms."""
        size, form, whole = np.abs(coef), self.form, [coef]
        if form.groups is not None:
            whole += [np.array([size[group].max() for group in form.groups])]
        strengths = CompositeForm.apply(form.problem).sorted_strengths
        if strengths is not None and form.n_columns > coef.size:  # sizes and thresholds
            at = Levels.of(strengths).n_largest.astype(np.intp) - 1
            whole += [size, np.sort(size)[::-1][at]]
        x = x.copy()
        x[: form.n_columns] = np.concatenate(whole) / (self.scales.prediction * self.scales.column)
        return x


def build(form: EpigraphForm, digits: int = 16, size: float = 1.0) -> UnitProgram:
    """Return the scaled program of a form, for coefficients of a size (see `measure`).

    With 32 digits scaling and centring round nothing.
    """
    (active, samples), boxed = used_samples(form), BoxedRows.of(form)
    design = _stored(form.design, active)
    scales = measure(form, design, samples, boxed.matrix, digits == 32, size)
    width = form.epigraph.n_columns + form.fit_intercept
    d, unit = design.n_features, scales.prediction * scales.objective
    units, n = _Units(), samples.weight.size
    data = DataRows(design, scales.column[:d], scales.centre, form.fit_intercept, width)
    sample = _add_samples(samples, units, scales, _STIFFNESS * n)
    kept, place, is_opposite = opposites(boxed.matrix)
    matrix = scaled(boxed.matrix[kept], scales.column, scales.rows[kept])
    k, sign = form.n_constraints, np.where(is_opposite, -1.0, 1.0)
    shift = sign * (boxed.offset / (scales.rows * scales.prediction))
    low, high = boxed.low, boxed.high * (scales.rows * unit)
    low, high = np.where(is_opposite, -high, low), np.where(is_opposite, -low, high)
    room = np.full(place.size, 1.0 / max(n, 1))  # duals of an epigraph are as large as samples'
    room[:k] = 1.0
    first = units.add(n + place, shift, low, high, room=room).start
    single, price = _add_columns(form, units, scales, n + matrix.shape[0], width)
    rho, linear = np.zeros(width), np.zeros(width)
    rho[:d] = form.columns.rho * (scales.prediction * scales.column[:d]) ** 2 * scales.objective
    linear[: form.epigraph.n_columns] = form.epigraph.linear * scales.column * unit
    linear[:d] += form.linear * scales.column[:d] * unit
    numbers = np.ascontiguousarray(np.concatenate(units.numbers, axis=1))
    row: Indices = np.concatenate(units.row)
    has_end = np.isfinite(numbers[1]) | np.isfinite(numbers[2])
    data.is_steady = not has_end[row < n].any()
    if digits == 32:
        numbers[4] = np.where(~has_end & (numbers[3] == 0.0), _STIFFNESS_OF_32_DIGITS, 0.0)
        numbers[5] *= _ROOM_FACTOR_OF_32_DIGITS
        numbers[5, first : first + k] = _CONSTRAINT_ROOM_OF_32_DIGITS
    return UnitProgram(
        form=form,
        scales=scales,
        active=active,
        constant=least_losses(samples),
        rows=ProgramRows(data, matrix, single, width),
        row=row,
        units=numbers,
        rho=rho,
        linear=linear,
        price=price,
        sample=sample,
        constraint_units=slice(first, first + k),
        epigraph_units=slice(first + k, first + k + form.epigraph.above.shape[0]),
        constraint_scale=sign[:k] * scales.rows[:k],
    )


def _stored(design: Design, active: Indices | slice) -> Design:
    """Return the rows with weight, as an array if a sparse matrix has few zeros.

    Arrays are centred, which sparse matrices are not, and their products are faster.
    """
    if not isinstance(active, slice):
        design = Design(design.by_rows.X[active])
    full = design.n_stored >= _DENSE_SHARE_OF_ENTRIES * design.n_samples * design.n_features
    return as_design(design.X.toarray()) if design.is_sparse and full else design


def _add_samples(samples: Samples, units: _Units, scales: Scales, least: float) -> Indices:
    """Add the losses of the samples; return the sample of each unit."""
    unit, room = scales.prediction * scales.objective, 1.0 / max(samples.weight.size, 1)
    one = LossUnits.of(samples)
    sign = samples.direction[one.sample]
    shift = sign * (samples.offset[one.sample] - one.knot) + scales.shift
    low, high, soft = one.low * unit, one.high * unit, one.soft / (scales.prediction * unit)
    low, high = np.where(sign > 0, low, -high), np.where(sign > 0, high, -low)
    units.add(one.sample, shift / scales.prediction, low, high, soft, least, room)
    return one.sample


def _add_columns(
    form: EpigraphForm, units: _Units, scales: Scales, first: int, width: int
) -> tuple[Indices, Indices]:
    """Add prices and bounds; return the coefficients that have any, and the units of prices."""
    columns, d = form.columns, form.design.n_features
    bounded = np.isfinite(columns.lower) | np.isfinite(columns.upper)
    used = np.flatnonzero((columns.l1 > 0) | bounded)
    place = np.zeros(d, dtype=np.int64)
    place[used] = first + np.arange(used.size)
    size = scales.prediction * scales.column[:d]
    cap = columns.l1 * size * scales.objective
    lower, upper = -columns.lower / size, -columns.upper / size
    fixed = columns.lower == columns.upper  # an equality: two bounds would leave no room
    price = np.full(width, -1, dtype=np.int64)
    at = np.flatnonzero((columns.l1 > 0) & ~fixed)
    priced = units.add(place[at], 0.0, -cap[at], cap[at], least=0.0)
    price[at] = np.arange(priced.start, priced.stop)
    for chosen, shift, low, high in (
        (np.isfinite(lower) & ~fixed, lower, -np.inf, 0.0),
        (np.isfinite(upper) & ~fixed, upper, 0.0, np.inf),
        (fixed, lower, -np.inf, np.inf),
    ):
        at = np.flatnonzero(chosen)
        units.add(place[at], shift[at], low, high)
    return used, price
