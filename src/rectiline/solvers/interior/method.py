"""The compiled method on a program: which systems it gets, and what it thinks of its pair.

Most of many columns stay zero under L1 (`WorkingColumns`). The method runs on the columns that the
slopes at zero ask for. After a step, one product with all of X says which others
the present multipliers ask for, ``|x_j'g|`` near or above the strength. They join at zero, with
products of the present size, and the method goes on from where it is: an early point of the central
path ranks the columns well, and the duals of the rows do not depend on which columns there are. So
a run takes about as many steps as on the columns of the solution alone.

Source: pricing as in column generation (Dedieu, Mazumder and Wang, "Solving L1-regularized SVMs and
related linear programs"); there the restricted program is solved to the end by the simplex method.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._costs import SECONDS_PER_SPARSE_ENTRY_COPIED
from rectiline._polling import checkpoint, time_left
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import CompositeForm, EpigraphForm, FormPoint
from rectiline.solvers._screening import largest, zero_dual
from rectiline.solvers.interior.program import build
from rectiline.solvers.interior.rows import ProgramRows
from rectiline.solvers.interior.systems import DenseColumns, DenseRows

LARGEST_SYSTEM = 8_000  # rows of a dense matrix to factorise: half a gigabyte
_LARGEST_SPARSE_SYSTEM = 1_000_000
# Per step; beyond, calls of a library are faster than the compiled loops.
_MOST_COMPILED_PRODUCTS = 3e6
_EXPECTED_STEPS = 10
_COLUMNS_PER_STEADY_ROW = 1.7  # up to which a factor of the columns is as fast
_PROXIMAL_OF_32_DIGITS = 1e-20
_LARGEST_SIZE = 1e3  # of coefficients in units of the program; 1e2 restarts more, and gains little
_LEAST_ENTRIES_TO_COUNT_ZEROS = 1_000_000  # of an array
_LEAST_SPARSE_WIDTH = 200  # columns from which on a sparse factor can save time
_CONSTRAINTS_PER_DATA = 4  # stored entries, up to which sparse systems bear rows of constraints
# Share of the entries of a factor up to which it is faster than a dense one.
_MOST_SPARSE_FILL = 0.1
_FEASIBLE_VIOLATION = 1e-8  # where rows have norm one; the certificate repairs this much


class Verdict(NamedTuple):
    """An estimate of what the problem's certificate will say, in units of the program."""

    relative_gap: float
    violation: float  # largest violation of a row that must be satisfied
    mean_product: float  # of the complementarity products
    residual: float  # largest, of stationarity
    size: float  # of the objective

    @classmethod
    def of(cls, core: Any) -> Verdict:
        """Return the verdict on the present pair."""
        return cls(*core.verdict())

    def meets(self, target: float) -> bool:
        """Whether the pair looks good enough; small violations are repaired by the certificate."""
        return self.relative_gap <= target and self.violation <= _FEASIBLE_VIOLATION


class Method:
    """A program with the compiled method on it.

    Parameters
    ----------
    form : EpigraphForm
    digits : {16, 32}
        Of the arithmetic.
    proximal : float
        Weight of the proximal term.
    size : float
        Of the coefficients, in the units that the data suggest.
    """

    def __init__(self, form: EpigraphForm, digits: int, proximal: float, size: float = 1.0) -> None:
        if form.design.is_sparse:  # its rows are copied several times, see `ProgramRows`
            checkpoint(seconds=SECONDS_PER_SPARSE_ENTRY_COPIED * form.design.n_stored)
        self._digits, self._proximal, self._size = digits, proximal, size
        self.program = build(form, digits, size)
        given = self.program.compiled()
        rows = self.program.rows
        is_curved = bool((self.program.rho > 0).all())
        self._goes_far = is_curved and form.linear_rows.size > 0
        self.needs_python = False
        if digits == 32:
            by_rows = is_curved and bool(2 * rows.ends[1] < self.program.width)
            self.core: Any = _core.TwofoldInterior(
                given, *rows.compressed(), by_rows, _PROXIMAL_OF_32_DIGITS
            )
            return
        by_rows = _has_fewer_rows(form)
        if rows.data.is_steady and self.program.width <= _COLUMNS_PER_STEADY_ROW * rows.ends[1]:
            by_rows = False  # squares of rows are summed up once
        is_small = step_work(form, rows.data.is_steady) <= _MOST_COMPILED_PRODUCTS
        if is_small and (is_curved or not by_rows):
            by_rows = is_curved and bool(2 * rows.ends[1] < self.program.width)
            self.core = _core.UnitInterior(given, *rows.compressed(), by_rows, proximal)
            return
        sparse = None if by_rows else sparse_equations(rows)
        if sparse is not None:
            self.core = _core.UnitInterior(given, sparse, proximal)
            return
        system = (DenseRows if by_rows else DenseColumns)(self.program, proximal)
        self.core = _core.UnitInterior(given, system)
        self.needs_python = True

    def step(self, seconds: float) -> bool:
        """Take a step; return whether there was one."""
        return bool(self.core.step(seconds, self.needs_python))

    def in_fitting_units(self) -> Method:
        """Return the method, anew in larger units where coefficients have outgrown its own.

        A linear term can take coefficients as far as a small ridge lets it, which the data do not
        tell beforehand. From a start that is far too small, steps are short.
        """
        if not self._goes_far:
            return self
        size = float(np.sqrt(np.mean(self.core.point()[0] ** 2)))
        if size <= _LARGEST_SIZE:
            return self
        form, digits, proximal = self.program.form, self._digits, self._proximal
        return Method(form, digits, proximal, self._size * size)


def sparse_equations(rows: ProgramRows) -> Any:
    """Return equations with a sparse factor, or None where that would not be sparse.

    The structure of a factor of X'X is known. Rows of single coefficients do not change it, an
    intercept and rows of constraints do.
    """
    known = rows.data.design.normal_equations
    if rows.width < _LEAST_SPARSE_WIDTH or known is None:
        return None
    is_known = not (rows.data.intercept or rows.matrix.shape[0])
    most = np.inf if rows.width > LARGEST_SYSTEM else _MOST_SPARSE_FILL * float(rows.width) ** 2
    sparse = _core.NormalEquations(*rows.compressed(), rows.width, not is_known)
    if is_known:
        sparse.adopt(known)
        return sparse
    found = sparse.analyse(most, time_left())
    checkpoint()
    return sparse if found else None


def largest_system(form: EpigraphForm) -> int:
    """Return how many unknowns the linear systems may have."""
    constraints = form.constraint_design.n_stored if form.n_constraints else 0
    is_sparse = constraints <= _CONSTRAINTS_PER_DATA * form.design.n_stored
    is_sparse = is_sparse and form.design.has_sparse_squares and not _has_fewer_rows(form)
    return _LARGEST_SPARSE_SYSTEM if is_sparse else LARGEST_SYSTEM


def n_unknowns(form: EpigraphForm) -> int:
    """Return the size of the linear systems."""
    rows = int(np.count_nonzero(form.weight)) + form.n_constraints
    return rows if _has_fewer_rows(form) else form.n_columns + form.fit_intercept


def _has_fewer_rows(form: EpigraphForm) -> bool:
    """Whether the systems get the size of the rows; those of a sorted penalty are too many.

    They are the more expensive ones: columns with a small diagonal are added to them.
    """
    columns = form.design.n_features + form.fit_intercept
    rows = int(np.count_nonzero(form.weight)) + form.n_constraints
    fewer = rows < columns and (1.3 * rows < columns or columns > LARGEST_SYSTEM)
    return fewer and (form.n_columns == form.design.n_features or form.groups is not None)


def step_work(form: EpigraphForm, is_steady: bool = False) -> float:
    """Return about how many multiply-adds a step takes; steady rows are summed up once."""
    width = float(form.n_columns + form.fit_intercept)
    rows = form.design.n_samples + form.n_constraints
    size, many = (rows, width) if 2 * rows < width else (width, rows)
    times = 1.0 / _EXPECTED_STEPS if is_steady else 1.0
    entries = ((form.design, times), (form.constraint_design, 1.0))
    squares = sum(times * float(_n_entries(design)) ** 2 for design, times in entries)
    return 0.5 * squares / max(many, 1) + size**3 / 6.0


def _n_entries(design: Design) -> int:
    """Return how many entries are not zero, as far as counting them takes no time."""
    stored = design.n_stored
    is_counted = not design.is_sparse and stored <= _LEAST_ENTRIES_TO_COUNT_ZEROS
    return int(np.count_nonzero(design.X)) if is_counted else stored


# ---- working sets of columns ---------------------------------------------------------------------


_COLUMNS_TO_GENERATE = 1000  # from this many columns on they are generated
_LARGEST_ASKED_SHARE = 0.9  # share of columns that slopes at zero ask for, up to which few are left
_FIRST_COLUMNS = 200  # 100 to 300 take about as long on tf-idf data
_JOINING_RATIO = 0.8  # slope over strength from which on a column joins with the violated ones
_MOST_GROWTH_SHARE = 0.5  # of the working set at once
_MOST_FIRST_DUAL_SHARE = 0.95  # dual of a column that joins, relative to its strength


def generates_columns(form: EpigraphForm) -> bool:
    """Whether columns may be generated: many, each with a price and nothing else."""
    plain = form.problem.is_separable and form.columns.is_plain_l1 and not form.n_constraints
    many = form.design.n_features >= _COLUMNS_TO_GENERATE
    return plain and many and bool((form.columns.l1 > 0).all())


@dataclass(slots=True, eq=False)
class WorkingColumns:
    """The columns in the program, of all columns of the form."""

    form: EpigraphForm
    columns: Indices  # in order
    part: EpigraphForm  # the problem on them
    proximal: float  # term of the method
    excess: float = np.inf  # by which other columns exceeded their strengths at the last look
    q: Vector = field(default_factory=lambda: np.zeros(0))  # then, of all columns,
    ratio: Vector = field(default_factory=lambda: np.zeros(0))  # and of the others in strengths

    @classmethod
    def first(
        cls, form: EpigraphForm, warm: FormPoint | None, proximal: float
    ) -> WorkingColumns | None:
        """Return the columns that the slopes at zero, or at a given point, ask for.

        None where they ask for nearly all columns, as under a weak penalty, and all of them fit.
        """
        if warm is None:
            g, support = zero_dual(CompositeForm.apply(form.problem))[1], np.zeros(0, dtype=np.intp)
        else:
            g, support = warm.sample, np.flatnonzero(warm.coef)
        ratio = np.abs(form.design.tdot(g)) / form.columns.l1
        asked = np.count_nonzero(ratio > 1.0)
        if asked > _LARGEST_ASKED_SHARE * ratio.size and n_unknowns(form) <= largest_system(form):
            return None
        columns = np.union1d(largest(ratio, _FIRST_COLUMNS, -np.inf), support)
        return cls(form, columns, _on_columns(form, columns), proximal)

    def spread(self, point: FormPoint) -> FormPoint:
        """Return a point in terms of all columns."""
        coef = np.zeros(self.form.design.n_features)
        coef[self.columns] = point.coef
        return replace(point, coef=coef)

    def look(self, sample: Vector, verdict: Verdict) -> Verdict:
        """Look at the other columns; return the verdict with what they add to it.

        `sample` are the multipliers of the samples. The certificate shrinks all multipliers by as
        much as the worst column exceeds its strength. Columns that join late cost the more steps
        the smaller the products have become: one pass over X after each step is worth its time.
        """
        self.q = self.form.design.tdot(sample)
        self.ratio = np.abs(self.q) / self.form.columns.l1
        self.ratio[self.columns] = 0.0
        self.excess = max(float(self.ratio.max()) - 1.0, 0.0)
        return verdict._replace(relative_gap=verdict.relative_gap + self.excess)

    def grow(self, method: Method) -> Method:
        """Return the method that goes on, with the columns that the last look asks for, if any."""
        room = LARGEST_SYSTEM - self.columns.size
        if self.excess == 0.0 or room <= 0:
            return method
        most = min(max(int(_MOST_GROWTH_SHARE * self.columns.size), 1), room)
        old = self.columns
        self.columns = np.union1d(old, largest(self.ratio, most, _JOINING_RATIO))
        self.part = _on_columns(self.form, self.columns)
        new_method = Method(self.part, 16, self.proximal)
        _continue(new_method, method, np.searchsorted(self.columns, old), self.q[self.columns])
        return new_method


def _on_columns(form: EpigraphForm, columns: Indices) -> EpigraphForm:
    return EpigraphForm.apply(form.problem.on_columns(columns))


def _continue(method: Method, old: Method, place: Indices, q: Vector) -> None:
    """Go on from the old method on more columns: `place` says where its own are, q is ``X'g``."""
    program, before = method.program, old.program
    x_old, y_old = old.core.point()
    sides_old, mean = old.core.sides(), Verdict.of(old.core).mean_product
    x = np.zeros(program.width)
    x[place] = x_old[: place.size]
    x[q.size :] = x_old[place.size :]
    units, caps = program.price[: q.size], program.units[2][program.price[: q.size]]
    # A column that joins balances the rows as far as its strength allows.
    pulled = q * program.scales.column * program.unit
    y, sides = np.zeros(program.row.size), np.zeros((4, program.row.size))
    y[units] = np.clip(-pulled, -_MOST_FIRST_DUAL_SHARE * caps, _MOST_FIRST_DUAL_SHARE * caps)
    sides[0, units], sides[2, units] = y[units] + caps, caps - y[units]
    sides[1, units], sides[3, units] = mean / sides[0, units], mean / sides[2, units]
    # All units but prices are those of the samples, which come first in both programs.
    n = int(before.price[0])
    for new, was in ((y, y_old), *zip(sides, sides_old, strict=True)):
        new[:n] = was[:n]
        new[units[place]] = was[before.price[: place.size]]
    method.core.resume(x, y, sides)
