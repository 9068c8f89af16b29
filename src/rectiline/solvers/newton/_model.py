"""A rectified form as the compiled Newton method sees it.

Coefficients are scaled so that every column of X has standard deviation one (root mean square one
without an intercept), the intercept is that of centred columns, and constraint rows have norm one.
All this is applied to d-vectors and d x d matrices only: X itself is never touched. The terms of
the columns and constraints are compiled, see ``rectiline/newton/newton_terms.hpp``.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._polling import checkpoint
from rectiline._typing import Mask, Matrix, Vector
from rectiline.backends import Design, take_rows
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers._base import Budget


class Multipliers(NamedTuple):
    """Duals of the kinked columns and of the constraint rows, in scaled units."""

    column: Vector
    constraint: Vector

    @classmethod
    def of(cls, run: _core.NewtonRun) -> Multipliers:
        """Return those of the pair that a run has arrived at."""
        return cls(run.column, run.constraint_multipliers())


class Schedule(NamedTuple):
    """How stiff the augmented terms start, how fast they grow, and most steps to one of them."""

    start: float = 1.0
    factor: float = 3.0
    inner_steps: int = 15  # more than this means that the penalty grew too fast
    guards: int = 4  # most times that it may


def take_routines() -> bool:
    """Hand SciPy's Cholesky and symmetric product to the compiled core; return whether it can.

    SciPy exports the Fortran routines it is built on as capsules, each named after the C type of
    its function. The core takes them if they have the type it calls, with 32-bit integers, and
    keeps its own loops otherwise.
    """
    try:
        lapack: dict[str, Any] = import_module("scipy.linalg.cython_lapack").__pyx_capi__
        blas: dict[str, Any] = import_module("scipy.linalg.cython_blas").__pyx_capi__
        _core.use_dense_routines(lapack["dpotrf"], lapack["dpotrs"], blas["dsyrk"])
    except (ImportError, AttributeError, KeyError, ValueError):
        return False
    return True


take_routines()


class Model:
    """Scaled columns, constraints and units of a rectified form."""

    def __init__(self, form: RectifiedForm) -> None:
        self.form = form
        self.d = form.design.n_features
        self.order = self.d + form.fit_intercept
        center, self.unit = form.problem.data.column_units(form.fit_intercept)
        self.argument_scale = form.argument_scale()
        self.slope_width, self.is_kinked = form.slope_width()
        self._set_constraints()
        self.terms = _core.NewtonTerms(
            form.columns.core,
            self.unit,
            center,
            form.fit_intercept,
            self.rows,
            self.offset,
            form.is_equality,
            self.argument_scale,
            self.slope_width,
            form.total_weight,
            not self.is_kinked,
        )

    def times_strength(self, factor: float) -> Model:
        """Return the model with a penalty so many times as strong; it shares everything else."""
        other = copy(self)
        other.terms = self.terms.times_strength(factor)
        return other

    def _set_constraints(self) -> None:
        form = self.form
        self.row_norm = self.offset = np.zeros(0)
        self.rows: Matrix = np.zeros((form.n_constraints, self.order))
        if not form.n_constraints:
            return
        raw = form.constraint_design.X
        dense = raw.toarray() if sp.issparse(raw) else np.asarray(raw)
        self.rows[:, : self.d] = dense * self.unit
        norm = np.linalg.norm(self.rows, axis=1)
        self.row_norm = np.where(norm > 0, norm, 1.0)
        self.rows /= self.row_norm[:, None]
        self.offset = form.constraint_offset / self.row_norm

    # ---- there and back --------------------------------------------------------------------

    def joined(self, coef: Vector, intercept: float) -> Vector:
        """Return coefficients in the user's units as one vector, with an intercept last."""
        return np.append(coef, intercept) if self.form.fit_intercept else np.ascontiguousarray(coef)

    def to_user(self, b: Vector) -> tuple[Vector, float]:
        """Return coefficients and intercept in the user's units."""
        user = self.terms.expand(b)
        return user[: self.d].copy(), float(user[self.d]) if self.form.fit_intercept else 0.0

    def from_user(self, coef: Vector, intercept: float) -> Vector:
        """Return scaled variables."""
        return self.terms.shrink(self.joined(coef, intercept))

    # ---- starts ----------------------------------------------------------------------------

    def no_multipliers(self) -> Multipliers:
        """Return zero multipliers."""
        return Multipliers(np.zeros(self.terms.n_kinked), np.zeros(self.offset.size))

    def multipliers(self, b: Vector, warm: FormPoint) -> Multipliers:
        """Return those of a warm start; kinked columns pull against everything else."""
        constraint = warm.constraint * self.row_norm
        if not self.terms.n_kinked:
            return Multipliers(np.zeros(0), constraint)
        gradient = np.zeros(self.order)
        gradient[: self.d] = self.form.design.tdot(np.ascontiguousarray(warm.sample))
        pull = self.terms.contract(gradient) - self.rows.T @ constraint
        return Multipliers(self.terms.column_multipliers(b, pull), constraint)

    def gentle_start(self) -> float:
        """Return a growth at which one row's envelope is about as stiff as the ridge part.

        With about as many columns as rows the data can be fitted exactly, and multipliers are tiny
        against their boxes: a start in units of the boxes would be far too stiff.
        """
        form = self.form
        row = form.design.mean_row_square(1.0 / form.columns.rho)
        mean_width = form.total_weight * self.slope_width / form.design.n_samples
        return 10.0 * self.argument_scale / max(mean_width * row, 1e-300)


# ---- rows near a knot ----------------------------------------------------------------------------


_LEAST_NEAR_SHARE, _LEAST_NEAR_PER_COLUMN = 0.01, 8


def row_lengths(model: Model) -> Vector:
    """Return how much each row's argument moves when the scaled coefficients move by one."""
    form = model.form
    squares = form.design.by_rows.row_squares(model.unit**2)
    return np.sqrt(squares / model.d + 1.0)


def copy_rows(
    model: Model, index: NDArray[np.int64], b: Vector, scale: float = 1.0
) -> _core.NewtonRows:
    """Return copies of some rows at b with weights times `scale`, if there is time for that."""
    checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * index.size * model.order)
    form = model.form
    samples = form.problem.data.samples.take(index)
    samples = replace(samples, weight=scale * samples.weight)
    design = Design(take_rows(form.design.without_zeros.X, index))
    rows = _core.NewtonRows(design.view, samples.rows, samples.fit_intercept)
    rows.place(model.terms.expand(b))
    return rows


@dataclass(slots=True, eq=False)
class WorkingSet:
    """Rows near a knot, side by side, and what the others add around a point b."""

    model: Model
    b: Vector
    reach: float
    index: NDArray[np.int64]
    rows: _core.NewtonRows
    frozen: _core.NewtonFrozen | None  # None if no row is
    frozen_dual: Vector

    @classmethod
    def whole(cls, rows: _core.NewtonRows, model: Model, b: Vector) -> WorkingSet:
        """Return all rows, as they are."""
        index = np.arange(rows.n, dtype=np.int64)
        return cls(model, b, np.inf, index, rows, None, np.empty(rows.n))

    @classmethod
    def split(
        cls,
        rows: _core.NewtonRows,
        model: Model,
        b: Vector,
        reach: float,
        length: Vector,
        budget: Budget,
        kept: Mask | None = None,
    ) -> WorkingSet | None:
        """Keep the rows within `reach` times their `length` of a knot and those of `kept`.

        Returns None when half of the rows or more would be kept, or no time is left. The kept
        rows are enlarged until they can balance the frozen ones under a free intercept (the reduced
        problem would be unbounded).
        """
        n = rows.n
        slack = rows.slack() / length
        if kept is not None:
            slack[kept] = 0.0
        least = max(int(_LEAST_NEAR_SHARE * n), _LEAST_NEAR_PER_COLUMN * model.order)
        while True:
            keep = slack <= reach
            count = int(np.count_nonzero(keep))
            if count < least and least < n:
                reach = float(np.partition(slack, least)[least])
                keep = slack <= reach
                count = int(np.count_nonzero(keep))
            if count >= n // 2:
                return None
            frozen = rows.freeze(model.terms, keep.view(np.uint8), b, budget.left())
            if frozen is not None:
                index = np.flatnonzero(keep).astype(np.int64)
                return cls(model, b, reach, index, copy_rows(model, index, b), *frozen)
            if budget.is_over():
                return None
            reach, least = 3.0 * reach, 2 * count  # more rows, also where `reach` is zero

    def solve(
        self,
        sample: Vector,
        multipliers: Multipliers,
        schedule: Schedule,
        objective: float,
        target: float,
        max_steps: int,
        budget: Budget,
    ) -> tuple[_core.NewtonRun, Vector, int, bool]:
        """Solve on the near rows, which start at their multipliers in `sample`.

        Returns the run, multipliers of all rows, its steps and whether it failed. `target` is
        relative to `objective`, of all rows, if it is not zero.
        """
        self.rows.set_multiplier(np.ascontiguousarray(sample[self.index]))
        run = _core.NewtonRun(
            self.model.terms,
            self.rows,
            self.frozen,
            self.b,
            *multipliers,
            schedule,
            abs(objective),
        )
        steps, failed = run.solve(target, max_steps, budget.left())
        dual = self.frozen_dual
        dual[self.index] = self.rows.dual()
        run.move_to_polished()
        return run, dual, steps, failed
