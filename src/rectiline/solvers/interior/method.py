"""The compiled method on a program: which systems it gets, and what it thinks of its pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._costs import SECONDS_PER_SPARSE_ENTRY_COPIED
from rectiline._polling import checkpoint, time_left
from rectiline.backends import Design
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers.interior.program import build
from rectiline.solvers.interior.rows import ProgramRows
from rectiline.solvers.interior.systems import DenseColumns, DenseRows

__all__ = [
    "LARGEST_SYSTEM",
    "Method",
    "Verdict",
    "largest_system",
    "n_unknowns",
    "sparse_equations",
    "step_work",
]

LARGEST_SYSTEM = 8_000  # rows of a dense matrix to factorise: half a gigabyte
_LARGEST_SPARSE_SYSTEM = 1_000_000
# Per step; beyond, calls of a library are faster than the compiled loops.
_MOST_COMPILED_PRODUCTS = 3e6
_EXPECTED_STEPS = 10
_COLUMNS_PER_STEADY_ROW = 1.7  # up to which a factor of the columns is as fast
_PROXIMAL_OF_32_DIGITS = 1e-20
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
    is_part : bool
        Whether the columns are a working set that may grow: systems have their size, and are dense.
    """

    def __init__(
        self, form: EpigraphForm, digits: int, proximal: float, is_part: bool = False
    ) -> None:
        if form.design.is_sparse:  # its rows are copied several times, see `ProgramRows`
            checkpoint(seconds=SECONDS_PER_SPARSE_ENTRY_COPIED * form.design.n_stored)
        self.program = build(form, digits)
        given = self.program.compiled()
        rows = self.program.rows
        is_curved = bool((self.program.rho > 0).all())
        self.needs_python = False
        if digits == 32:
            by_rows = is_curved and bool(2 * rows.ends[1] < self.program.width)
            self.core: Any = _core.TwofoldInterior(
                given, *rows.compressed(), by_rows, _PROXIMAL_OF_32_DIGITS
            )
            return
        by_rows = _has_fewer_rows(form) and not is_part
        if rows.data.is_steady and self.program.width <= _COLUMNS_PER_STEADY_ROW * rows.ends[1]:
            by_rows = False  # squares of rows are summed up once
        is_small = step_work(form, rows.data.is_steady) <= _MOST_COMPILED_PRODUCTS
        if is_small and (is_curved or not by_rows):
            by_rows = is_curved and bool(2 * rows.ends[1] < self.program.width)
            self.core = _core.UnitInterior(given, *rows.compressed(), by_rows, proximal)
            return
        sparse = None if by_rows or is_part else sparse_equations(rows)
        if sparse is not None:
            self.core = _core.UnitInterior(given, sparse, proximal)
            return
        system = (DenseRows if by_rows else DenseColumns)(self.program, proximal)
        self.core = _core.UnitInterior(given, system)
        self.needs_python = True

    def step(self, seconds: float) -> bool:
        """Take a step; return whether there was one."""
        return bool(self.core.step(seconds, self.needs_python))


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
