"""`twofold`: an interior point method in numbers of 32 digits; the last resort of `auto`.

The program is that of `interior`, stated as units on rows (`core` `TwofoldInterior` has the steps).
It costs some ten times as much as a step in doubles, but columns and constraint rows that are too
badly scaled for those (orders of coefficients of columns whose sizes differ by 1e6, say) are no
trouble. All scales are powers of two, so that scaling rounds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import EpigraphForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.interior.build import row_matrices
from rectiline.solvers.interior.samples import Samples
from rectiline.solvers.interior.scaling import measure
from rectiline.solvers.interior.solver import Interior

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["TwofoldInterior"]

_MOST_WORK = 2e7  # multiply-adds of a step: a few tenths of a second
_SAFETY = 0.1  # the certificate may say a little more than the estimate
_VIOLATION = 1e-9  # in units where rows have norm one
_PATIENCE = 30  # steps without progress
_LEAST = 1e-24  # products below this are nothing


@dataclass(slots=True)
class _Units:
    """Rows with their units, collected block by block."""

    matrices: list[Any] = field(default_factory=list)
    row: list[Indices] = field(default_factory=list)
    fields: list[Vector] = field(default_factory=list)  # shift, low, high, soft
    n_rows: int = 0
    n_units: int = 0

    def add_rows(self, matrix: Any) -> int:
        """Add rows; return the number of the first."""
        first = self.n_rows
        self.matrices.append(sp.csr_array(matrix))
        self.n_rows += matrix.shape[0]
        return first

    def add(self, row: Any, shift: Any, low: Any, high: Any, soft: Any = 0.0) -> slice:
        """Add a unit to each of some rows; return their places."""
        numbers = np.broadcast_arrays(*(np.asarray(one, float) for one in (shift, low, high, soft)))
        self.row.append(np.asarray(row, dtype=np.int64))
        self.fields.append(np.array([np.broadcast_to(one, len(row)) for one in numbers]))
        first, self.n_units = self.n_units, self.n_units + len(row)
        return slice(first, self.n_units)


@dataclass(slots=True, eq=False)
class TwofoldState:
    """The program with its scales, and how far the iteration is."""

    form: EpigraphForm
    core: Any
    column: Vector
    prediction: float
    unit: float
    constant: float
    samples: Samples
    sample_units: list[tuple[Any, slice]]  # rows among the active ones, places of their units
    constraints: slice
    row_scale: Vector
    least: Vector = field(default_factory=lambda: np.full(3, np.inf))
    idle: int = 0

    def relative_gap(self) -> float:
        """Return an estimate of the gap, infinite while constraints are violated."""
        products, residual, violation, objective = self.core.quality()
        size = max(abs(objective + self.constant), np.finfo(float).tiny)
        gap = (products + residual) / size if products > _LEAST else 0.0
        # Products may grow while the multipliers of far-off rows do: then residuals fall.
        now = np.array([products, residual, violation])
        self.idle = 0 if (now < 0.9 * self.least).any() else self.idle + 1
        self.least = np.minimum(now, self.least)
        return float(gap) if violation <= _VIOLATION else np.inf

    def point(self) -> FormPoint:
        """Return the pair in the form's terms."""
        x, y = self.core.point()
        d = self.form.design.n_features
        coef = self.prediction * self.column[:d] * x[:d]
        intercept = self.prediction * float(x[-1]) if self.form.fit_intercept else 0.0
        dual = np.zeros(self.samples.weight.size)
        for where, places in self.sample_units:
            dual[where] += y[places]
        dual *= self.samples.direction / self.unit
        sample = dual
        if self.samples.active is not None:
            sample = np.zeros(self.form.design.n_samples)
            sample[self.samples.active] = dual
        constraint = -y[self.constraints] / (self.row_scale * self.unit)
        return FormPoint(coef, intercept, sample, constraint)


@dataclass(frozen=True, slots=True)
class TwofoldInterior:
    """The method as a solver without options.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X = np.array([[1e-3, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1e3], [1e-3, 1.0, 1e3]])
    >>> problem = rl.Problem(
    ...     X, [1.0, 2.0, 3.0, 4.0], loss="squared_error", fit_intercept=False,
    ...     penalty=None, constraints=[rl.constraints.Monotone()],
    ... )
    >>> solution = rl.solve(problem, solver="twofold", tol=1e-10)
    >>> round(solution.objective, 8), solution.coef.round(8)
    (2.74125676, array([0.0034995, 0.0034995, 0.0034995]))
    """

    name: ClassVar[str] = "twofold"
    form: ClassVar[type[Any]] = EpigraphForm
    default_max_iter: ClassVar[int] = 300
    first_burst: ClassVar[int] = 300

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the problem is too large, or None."""
        reason = Interior.refuses(problem)
        if reason is not None:
            return reason
        form = EpigraphForm.apply(problem)
        width = float(form.n_columns + form.fit_intercept)
        work = 0.5 * problem.design.n_stored * width + width**3 / 6.0
        return f"a step takes {work:.0e} products" if work > _MOST_WORK else None

    def start(self, form: EpigraphForm, warm: FormPoint | None, seed: int) -> TwofoldState:
        """Return the state at the start of its own: interior points have no use for others."""
        return _state(form)

    def advance(self, state: TwofoldState, budget: Budget) -> Step:
        """Iterate until the gap estimate meets the target or the budget is spent."""
        done = 0
        while done < budget.iterations:
            moved = state.core.step(budget.left())
            done += 1
            gap = state.relative_gap()
            if gap <= _SAFETY * budget.relative_gap:
                return Step(done, True, exhausted=gap == 0.0)
            if budget.is_over():
                break
            if not moved or state.idle >= _PATIENCE:
                return Step(done, False, exhausted=True)
        return Step(done, False)

    def point(self, state: TwofoldState) -> FormPoint:
        """Return the current pair."""
        return state.point()

    def learn(self, state: TwofoldState, certificate: Certificate) -> None:
        """Do nothing: the next steps are the same whatever is proved."""


def _state(form: EpigraphForm) -> TwofoldState:
    """Return the program of a form as units on rows."""
    samples, matrices = Samples.of(form), row_matrices(form)
    scales = measure(form, form.design, samples, matrices)
    column, ys = _power(scales.column), float(_power(scales.prediction))
    unit = ys * float(_power(scales.objective))
    row_scales = [_power(one) for one in scales.rows]
    units = _Units()
    width = form.epigraph.n_columns + form.fit_intercept

    def scaled(matrix: Any, row: Vector) -> Any:
        rows = sp.diags_array(1.0 / row) @ sp.csr_array(matrix)
        rows = rows @ sp.diags_array(column[: matrix.shape[1]])
        return sp.csr_array(rows, shape=matrix.shape)

    sample_units = _add_samples(form, samples, units, scaled, width, ys, unit)
    m = form.n_inequalities
    offsets = (form.constraint_offset[:m], form.constraint_offset[m:], 0.0, 0.0)
    caps = (0.0, np.inf, 0.0, form.epigraph.cap * row_scales[3] * unit)
    places = []
    for matrix, row, offset, least, most in zip(
        matrices, row_scales, offsets, (-np.inf, -np.inf, -np.inf, 0.0), caps, strict=True
    ):
        rows = scaled(matrix, row)
        rows.resize(rows.shape[0], width)
        first = units.add_rows(rows)
        index = first + np.arange(rows.shape[0])
        places.append(units.add(index, offset / (row * ys), least, most))
    d, objective = form.design.n_features, unit / ys
    _add_columns(form, units, ys * column, objective, width)
    rho, linear = np.zeros(width), np.zeros(width)
    rho[:d] = form.columns.rho * (ys * column[:d]) ** 2 * objective
    linear[: column.size] = form.epigraph.linear * column * unit
    linear[:d] += form.linear * column[:d] * unit
    stacked = sp.csr_array(sp.vstack(units.matrices, format="csr"))
    stacked.sort_indices()
    shift, low, high, soft = np.concatenate(units.fields, axis=1)
    core = _core.TwofoldInterior(
        stacked.indptr.astype(np.int64),
        stacked.indices.astype(np.int64),
        stacked.data,
        np.concatenate(units.row),
        shift,
        low,
        high,
        soft,
        rho,
        linear,
    )
    return TwofoldState(
        form,
        core,
        column,
        ys,
        unit,
        samples.constant * objective,
        samples,
        sample_units,
        slice(places[0].start, places[1].stop),
        np.concatenate(row_scales[:2]),
    )


def _add_samples(
    form: EpigraphForm,
    samples: Samples,
    units: _Units,
    scaled: Any,
    width: int,
    ys: float,
    unit: float,
) -> list[tuple[Any, slice]]:
    """Add the rows of the data with their losses; return where the units of the samples are."""
    X = form.design.X if samples.active is None else form.design.X[samples.active]
    rows = scaled(X, samples.direction)  # a sign divides as it multiplies
    rows.resize(rows.shape[0], width)
    if form.fit_intercept:
        last = sp.csr_array(samples.direction[:, None])
        rows = sp.hstack([rows[:, : width - 1], last], format="csr")
    units.add_rows(rows)
    found = []
    for slot in samples.slots:
        where = slot.rows(samples.index)
        index = samples.index if where is None or samples.index is None else samples.index[where]
        chosen = np.arange(samples.weight.size) if where is None else where
        weight = samples.weight[chosen]
        shift = (samples.offset[chosen] - slot.on_rows("knot", index)) / ys
        low, high = weight * slot.on_rows("low", index), weight * slot.on_rows("high", index)
        soft = slot.on_rows("soft", index) / (weight * ys * unit)
        found.append((chosen, units.add(chosen, shift, low * unit, high * unit, soft)))
    return found


def _add_columns(
    form: EpigraphForm, units: _Units, size: Vector, objective: float, width: int
) -> None:
    """Add a row for each coefficient, with units for its price and its bounds."""
    columns, d = form.columns, form.design.n_features
    first = units.add_rows(sp.csr_array(sp.eye_array(d, width)))
    cap = columns.l1 * size[:d] * objective
    low, high = -columns.lower / size[:d], -columns.upper / size[:d]
    fixed = columns.lower == columns.upper  # an equality: two bounds would leave no room
    for chosen, shift, least, most in (
        (columns.l1 > 0, np.zeros(d), -cap, cap),
        (np.isfinite(low) & ~fixed, low, np.full(d, -np.inf), np.zeros(d)),
        (np.isfinite(high) & ~fixed, high, np.zeros(d), np.full(d, np.inf)),
        (fixed, low, np.full(d, -np.inf), np.full(d, np.inf)),
    ):
        at = np.flatnonzero(chosen)
        units.add(first + at, shift[at], least[at], most[at])


def _power(values: Any) -> Any:
    """Return the nearest powers of two."""
    return np.exp2(np.round(np.log2(values)))
