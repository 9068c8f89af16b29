"""The program of `interior` as units on rows, for the compiled method (`core` `UnitInterior`).

`small_interior` runs it in doubles, for small quadratic programs: an iteration of `interior` takes
a millisecond for its calls alone. `twofold` runs it in numbers of 32 digits, the last resort of
`auto`: a step costs some ten times as much, but columns and constraint rows that are too badly
scaled for doubles (orders of coefficients of columns whose sizes differ by 1e6, say) are no trouble
there. All scales are powers of two, so that scaling rounds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.backends import Design
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import EpigraphForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.interior.build import row_matrices
from rectiline.solvers.interior.samples import Samples
from rectiline.solvers.interior.scaling import measure
from rectiline.solvers.interior.solver import Interior
from rectiline.solvers.interior.unit_rows import Units, add_columns, add_samples, opposites

Vector = NDArray[np.float64]

__all__ = ["SmallInterior", "TwofoldInterior"]

_SAFETY = 0.1  # the certificate may say a little more than the estimate
_VIOLATION = 1e-9  # in units where rows have norm one
_COUNTED = 1_000_000  # entries of arrays, whose zeros are counted
_LEAST = 1e-24  # products below this are nothing


@dataclass(slots=True, eq=False)
class UnitState:
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
    row_scale: Vector  # of the constraints, negative where the unit has the other sign
    least: Vector = field(default_factory=lambda: np.full(3, np.inf))
    idle: int = 0
    steps: int = 0

    def relative_gap(self) -> float:
        """Return an estimate of the gap, infinite while constraints are violated."""
        products, residual, violation, objective = self.core.quality()
        size = max(abs(objective + self.constant), np.finfo(float).tiny)
        gap = (products + residual) / size
        if products <= _LEAST and residual >= 0.9 * self.least[1]:
            gap = 0.0  # what is left is rounding
        # Products may grow while the multipliers of far-off rows do: then residuals fall.
        now = np.array([products, residual, violation])
        self.idle = 0 if (now < 0.9 * self.least).any() else self.idle + 1
        self.least = np.minimum(now, self.least)
        self.steps += 1
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


class _UnitMethod:
    """What both methods have in common."""

    name: ClassVar[str]
    form: ClassVar[type[Any]] = EpigraphForm
    default_max_iter: ClassVar[int] = 300
    first_burst: ClassVar[int] = 300
    method: ClassVar[Any]
    most_work: ClassVar[float]  # multiply-adds of a step
    patience: ClassVar[int]  # steps without progress, and in all
    most_steps: ClassVar[int]

    @classmethod
    def refuses(cls, problem: Problem) -> str | None:
        """Return why the problem is too large, or None."""
        reason = Interior.refuses(problem)
        if reason is not None:
            return reason
        work = _work(EpigraphForm.apply(problem))
        return f"a step takes {work:.0e} products" if work > cls.most_work else None

    def start(self, form: EpigraphForm, warm: FormPoint | None, seed: int) -> UnitState:
        """Return the state at the start of its own: interior points have no use for others."""
        return _state(form, self.method)

    def advance(self, state: UnitState, budget: Budget) -> Step:
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
            if not moved or state.idle >= self.patience or state.steps >= self.most_steps:
                return Step(done, False, exhausted=True)
        return Step(done, False)

    def point(self, state: UnitState) -> FormPoint:
        """Return the current pair."""
        return state.point()

    def learn(self, state: UnitState, certificate: Certificate) -> None:
        """Do nothing: the next steps are the same whatever is proved."""


@dataclass(frozen=True, slots=True)
class SmallInterior(_UnitMethod):
    """The compiled method in doubles, without options.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> problem = rl.Problem(
    ...     np.eye(3), None, "squared_error", None,
    ...     [rl.constraints.Nonnegative(), rl.constraints.LinearConstraint(np.ones(3), 1.0, 1.0)],
    ...     linear=[2.0, 0.0, 3.0],
    ... )
    >>> solution = rl.solve(problem, solver="small_interior", tol=1e-9)
    >>> round(solution.objective, 8), solution.coef.round(6)
    (0.5, array([0., 1., 0.]))
    """

    name: ClassVar[str] = "small_interior"
    method: ClassVar[Any] = _core.UnitInterior
    most_work: ClassVar[float] = 3e7  # about ten milliseconds
    patience: ClassVar[int] = 20
    most_steps: ClassVar[int] = 60


@dataclass(frozen=True, slots=True)
class TwofoldInterior(_UnitMethod):
    """The compiled method in twofold numbers, without options.

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
    method: ClassVar[Any] = _core.TwofoldInterior
    most_work: ClassVar[float] = 2e7  # a few tenths of a second
    patience: ClassVar[int] = 30
    most_steps: ClassVar[int] = 300


def _work(form: EpigraphForm) -> float:
    """Return about how many multiply-adds a step takes."""
    width = float(form.n_columns + form.fit_intercept)
    rows = form.design.n_samples + form.n_constraints
    stored = float(_n_entries(form.design) + _n_entries(form.constraint_design))
    size, many = (rows, width) if _by_rows(form) else (width, rows)
    return 0.5 * stored**2 / max(many, 1) + size**3 / 6.0


def _n_entries(design: Design) -> int:
    """Return how many entries are not zero, as far as counting them takes no time."""
    stored = design.n_stored
    return stored if design.is_sparse or stored > _COUNTED else int(np.count_nonzero(design.X))


def _by_rows(form: EpigraphForm) -> bool:
    """Whether the systems have the size of the rows: they are fewer, and all columns curved."""
    rows = form.design.n_samples + form.n_constraints
    curved = form.n_columns == form.design.n_features and not form.fit_intercept
    return curved and 2 * rows < form.n_columns and bool((form.columns.rho > 0).all())


def _state(form: EpigraphForm, method: Any) -> UnitState:
    """Return the program of a form as units on rows."""
    samples, matrices = Samples.of(form), row_matrices(form)
    scales = measure(form, form.design, samples, matrices)
    column, ys = _power(scales.column), float(_power(scales.prediction))
    unit = ys * float(_power(scales.objective))
    row_scales = [_power(one) for one in scales.rows]
    units = Units()
    width = form.epigraph.n_columns + form.fit_intercept
    sample_units = add_samples(form, samples, units, column, ys, unit)
    m = form.n_inequalities
    offsets = (form.constraint_offset[:m], form.constraint_offset[m:], 0.0, 0.0)
    caps = (0.0, np.inf, 0.0, form.epigraph.cap * row_scales[3] * unit)
    places, signed = [], []
    for matrix, row, offset, least, most in zip(
        matrices, row_scales, offsets, (-np.inf, -np.inf, -np.inf, 0.0), caps, strict=True
    ):
        kept, place, is_opposite = opposites(matrix)
        first = units.add_rows(matrix[kept] if row.size else matrix, row[kept], column)
        shift = offset / (row * ys)
        low, high = np.where(is_opposite, -most, least), np.where(is_opposite, -least, most)
        places.append(units.add(first + place, np.where(is_opposite, -shift, shift), low, high))
        signed.append(np.where(is_opposite, -row, row))
    d, objective = form.design.n_features, unit / ys
    add_columns(form, units, ys * column, objective)
    rho, linear = np.zeros(width), np.zeros(width)
    rho[:d] = form.columns.rho * (ys * column[:d]) ** 2 * objective
    linear[: column.size] = form.epigraph.linear * column * unit
    linear[:d] += form.linear * column[:d] * unit
    return UnitState(
        form,
        units.compiled(method, rho, linear, _by_rows(form)),
        column,
        ys,
        unit,
        samples.constant * objective,
        samples,
        sample_units,
        slice(places[0].start, places[1].stop),
        np.concatenate(signed[:2]),
    )


def _power(values: Any) -> Any:
    """Return the nearest powers of two."""
    return np.exp2(np.round(np.log2(values)))
