"""The directions in which the restricted problem may move the coefficients.

A direction is a signed column for L1-type and sorted penalties, a sign vector on a group for
GroupLinf. The coefficients are the sum of the directions times their multipliers.

What bounds and the levels of a sorted penalty cost are columns that belong to directions. A bound
``b_j <= upper`` lets ``q_j`` exceed its cost by ``r >= 0`` at the price ``upper r``; a lower bound
likewise on the other side. Bounds at zero cost nothing and are open sides of the row instead. A
sorted penalty with few levels lets ``a'q`` exceed its base by ``sum_l r_l`` with ``0 <= r_l <=
drop_l``, where each level has a budget ``count_l drop_l`` for all columns together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import Levels, LinearProgramForm
from rectiline.solvers.generation._programs import BoxedProgram, LinearProgram, Positions

_FEW_SAMPLES = 8  # one in so many, of which a copy is small


class Directions:
    """Sign vectors on some columns each, in the order in which they were added.

    Attributes
    ----------
    columns, signs : ndarray
        Those of all directions, one direction after the other.
    costs : ndarray
        What a unit of length costs along each direction; zero where the form knows it.
    """

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self.columns = np.zeros(0, dtype=np.int64)
        self.signs = np.zeros(0)
        self._ends = np.zeros(1, dtype=np.int64)  # direction a is [ends[a], ends[a + 1])
        self.costs = np.zeros(0)

    @property
    def size(self) -> int:
        """Number of directions."""
        return self.costs.size

    @property
    def are_columns(self) -> bool:
        """Whether each direction is one column."""
        return self.columns.size == self.size

    def add(
        self,
        columns: Indices,
        signs: Vector,
        sizes: Indices | None = None,
        costs: Vector | None = None,
    ) -> None:
        """Append signed columns, or with `sizes` sign vectors that take so many of them each."""
        sizes = np.ones(columns.size, dtype=np.int64) if sizes is None else sizes
        costs = np.zeros(sizes.size) if costs is None else costs
        self.columns = np.concatenate([self.columns, columns])
        self.signs = np.concatenate([self.signs, signs])
        self._ends = np.concatenate([self._ends, self._ends[-1] + np.cumsum(sizes)])
        self.costs = np.concatenate([self.costs, costs])

    def block(self, design: Design, samples: Indices, first: int = 0) -> Any:
        """Return X times the directions, at the samples; a copy."""
        X, start = design.X, self._ends[first]
        columns, signs = self.columns[start:], self.signs[start:]
        if design.is_sparse:
            if not self.are_columns:
                return sp.csr_array(X[samples] @ self._matrix(first))
            if X.format == "csr" and _FEW_SAMPLES * samples.size < X.shape[0]:
                part = X[samples][:, columns]
            else:  # in this order only the small part is ever copied
                part = X[:, columns][samples]
            part = sp.csr_array(part, dtype=np.float64)
            part.data *= signs[part.indices]
            return part
        takes_all = samples.size == X.shape[0] and bool((np.diff(samples) == 1).all())
        if self.are_columns:
            return (X[:, columns] if takes_all else X[np.ix_(samples, columns)]) * signs
        part = design if takes_all else Design(X[samples])  # no copy of X where it can be helped
        return _core.signed_sums(part.view, columns, self._ends[first:] - start, signs).T

    def along(self, values: Vector, first: int = 0) -> Vector:
        """Return the inner products with the directions."""
        start = self._ends[first]
        terms: Vector = self.signs[start:] * values[self.columns[start:]]
        return np.add.reduceat(terms, self._ends[first:-1] - start) if terms.size else terms

    def of_rows(self, rows: Any, first: int = 0) -> NDArray[np.float64]:
        """Return the products of a constraint matrix with the directions."""
        product = rows @ self._matrix(first)
        return product.toarray() if sp.issparse(product) else np.asarray(product)

    def spread(self, lengths: Vector) -> Vector:
        """Return the coefficients."""
        terms = self.signs * np.repeat(lengths, np.diff(self._ends))
        busy = np.flatnonzero(terms)
        columns, terms = self.columns[busy], terms[busy]
        coef: Vector = np.bincount(columns, terms, minlength=self._n_features).astype(np.float64)
        size = np.bincount(columns, np.abs(terms))[columns]
        # Opposite signs that cancel up to rounding.
        coef[columns[np.abs(coef[columns]) <= 1e-14 * size]] = 0.0
        return coef

    def allowed_range(self, form: LinearProgramForm, first: int) -> tuple[Vector, Vector]:
        """Return where -a'q must lie for each direction from `first` on."""
        if form.is_separable:
            columns, j = form.columns, self.columns[first:]
            low, high = -columns.l1[j], columns.l1[j]
            if columns.has_bounds:
                low = np.where(columns.upper[j] == 0, -np.inf, low)
                high = np.where(columns.lower[j] == 0, np.inf, high)
            return low, high
        if form.levels is not None:
            count = self.size - first
            return np.full(count, -form.levels.base), np.full(count, np.inf)
        return -self.costs[first:], self.costs[first:]

    def _matrix(self, first: int) -> sp.csc_array:
        """Return the directions as the columns of a matrix."""
        start = self._ends[first]
        ends = self._ends[first:] - start
        return sp.csc_array(
            (self.signs[start:], self.columns[start:], ends),
            shape=(self._n_features, ends.size - 1),
        )


# ---- columns that belong to directions -----------------------------------------------------------


_NOWHERE: Positions = np.zeros(0, dtype=np.int32)


class ExtraColumns:
    """Keeps the columns of bounds and levels, in the order of directions, and the budget rows."""

    def __init__(
        self,
        form: LinearProgramForm,
        program: LinearProgram | BoxedProgram,
        box_scale: float,
        cost_scale: float,
    ) -> None:
        self._form, self._program = form, program
        self._box_scale, self._cost_scale = box_scale, cost_scale
        self.rows = _NOWHERE
        self._levels = _levels(form)
        if self._levels is not None:
            budget = self._budget(1.0)
            self.rows = program.add_rows(
                np.full(budget.size, -np.inf), budget, _NOWHERE, np.zeros((budget.size, 0))
            )
        self._level_columns = [_NOWHERE] * self.rows.size
        self._bound_columns = [_NOWHERE] * 2

    def rebase(self, form: LinearProgramForm) -> None:
        """Take the levels of a form that differs in its strength only."""
        self._form, self._levels = form, _levels(form)

    def columns(self) -> list[Positions]:
        """Return the positions of all columns, kind by kind."""
        return [*self._bound_columns, *self._level_columns]

    def place(
        self,
        directions: Directions,
        first: int,
        rows: Positions,
        scale: Vector,
        factor: float,
    ) -> None:
        """Add the columns of the directions from `first` on, whose scaled rows are `rows`."""
        if self._form.is_separable and self._form.columns.has_bounds:
            self._place_bounds(directions, first, rows, scale)
        elif self._levels is not None:
            self._place_levels(rows, scale, factor)

    def _place_bounds(
        self, directions: Directions, first: int, rows: Positions, scale: Vector
    ) -> None:
        columns, j = self._form.columns, directions.columns[first:]
        sides = ((columns.upper[j], 1.0), (columns.lower[j], -1.0))
        for side, (bound, sign) in enumerate(sides):
            here = np.flatnonzero(np.isfinite(bound) & (bound != 0))
            added = self._program.add_columns(
                -sign * bound[here] / (scale[here] * self._cost_scale),
                np.zeros(here.size),
                np.full(here.size, np.inf),
                rows[here],
                sp.csr_array(sign * sp.eye_array(here.size)),
            )
            self._bound_columns[side] = np.concatenate([self._bound_columns[side], added])

    def _budget(self, factor: float) -> Vector:
        assert self._levels is not None
        budget: Vector = factor * self._levels.n_largest * self._levels.drop / self._box_scale
        return budget

    def _place_levels(self, rows: Positions, scale: Vector, factor: float) -> None:
        assert self._levels is not None
        entries = sp.vstack([sp.eye_array(rows.size), (1.0 / scale)[None, :]], format="csr")
        for place, (drop, budget) in enumerate(zip(self._levels.drop, self.rows)):
            added = self._program.add_columns(
                np.zeros(rows.size),
                np.zeros(rows.size),
                factor * drop * scale / self._box_scale,
                np.append(rows, budget).astype(np.int32),
                entries,
            )
            known = self._level_columns[place]
            self._level_columns[place] = np.concatenate([known, added])

    def set_factor(self, factor: float, scale: Vector) -> None:
        """Scale what the levels allow; `scale` is the scale of the directions' rows."""
        if self._levels is None:
            return
        budget = self._budget(factor)
        self._program.change_row_bounds(self.rows, np.full(budget.size, -np.inf), budget)
        for drop, columns in zip(self._levels.drop, self._level_columns):
            high = factor * drop * scale / self._box_scale
            self._program.change_column_bounds(columns, np.zeros(columns.size), high)


def _levels(form: LinearProgramForm) -> Levels | None:
    return form.levels if form.levels is not None and form.levels.drop.size else None
