"""A live linear program on the compiled simplex method, for programs whose columns are all boxed.

The same program and the same methods as in `_highs.py`. The matrix is kept dense and only the part
of the basis that is not slack is inverted, which on the masters of dense data is about ten times
faster than HiGHS.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems.forms import LinearProgramForm
from rectiline.solvers.generation._highs import Block, Positions

__all__ = ["BoxedProgram", "is_boxed", "is_mostly_zeros"]

_MANY = 0.1  # share of the entries that are stored, from which on zeros are, too

_MOST_STEPS = 100  # per row and column


class BoxedProgram:
    """One program to maximise; `solve` starts from where the last one ended."""

    def __init__(self) -> None:
        self._model = _core.BoxedSimplex()
        self.n_rows = self.n_columns = self.n_steps = 0

    def add_columns(
        self, cost: Vector, low: Vector, high: Vector, rows: Positions, values: Block
    ) -> Positions:
        """Add columns with entries ``values[r, j]`` in row ``rows[r]``; return their positions."""
        assert not low.any() and np.isfinite(high).all()
        count = cost.size
        self._model.add_columns(_vector(cost), _vector(high), rows, _dense(values))
        added = np.arange(self.n_columns, self.n_columns + count, dtype=np.int32)
        self.n_columns += count
        return added

    def add_rows(self, low: Vector, high: Vector, columns: Positions, values: Block) -> Positions:
        """Add rows with entries ``values[r, j]`` in column ``columns[j]``; return their places."""
        count = low.size
        self._model.add_rows(_vector(low), _vector(high), columns, _dense(values))
        added = np.arange(self.n_rows, self.n_rows + count, dtype=np.int32)
        self.n_rows += count
        return added

    def change_row_bounds(self, rows: Positions, low: Vector, high: Vector) -> None:
        """Replace the bounds of some rows; the basis stays."""
        self._model.set_row_bounds(rows, _vector(low), _vector(high))

    def change_column_bounds(self, columns: Positions, low: Vector, high: Vector) -> None:
        """Replace the bounds of some columns; the basis stays."""
        assert not low.any()
        self._model.set_widths(columns, _vector(high))

    @property
    def work(self) -> float:
        """Products that the steps so far took."""
        return self._model.work

    def solve(self, seconds: float, work: float = np.inf) -> str:
        """Return "optimal", "infeasible", "limit", "step_limit", "stalled" or "trouble".

        After "stalled" the multipliers are feasible, but nothing shows that they are the best.
        """
        most = _MOST_STEPS * (self.n_rows + self.n_columns)
        before = self._model.n_steps
        status = self._model.solve(most, seconds, work)
        self.n_steps += self._model.n_steps - before
        return status

    def restart(self) -> None:
        """Discard the basis, so that the next solve starts cold."""
        self._model.forget_basis()

    def release(self) -> None:
        """Give the memory back; nothing else may be asked of the program afterwards."""
        del self._model

    def solution(self) -> tuple[Vector, Vector]:
        """Return the values of the columns and the multipliers of the rows."""
        return self._model.values(), self._model.multipliers()

    def ray(self) -> Vector | None:
        """Return the multipliers of the rows that prove infeasibility."""
        return self._model.ray()

    def basis(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the status of columns and rows: BASIC, LOW or HIGH."""
        columns = np.zeros(self.n_columns, dtype=np.uint8)
        rows = np.zeros(self.n_rows, dtype=np.uint8)
        self._model.basis(columns, rows)
        return columns.astype(np.int8), rows.astype(np.int8)

    def set_basis(self, columns: NDArray[np.int8], rows: NDArray[np.int8]) -> None:
        """Start the next solve from this basis; what does not fit is dropped."""
        self._model.set_basis(columns.astype(np.uint8), rows.astype(np.uint8))


def _vector(values: Vector) -> Vector:
    return np.ascontiguousarray(values, dtype=np.float64)


def _dense(values: Block) -> NDArray[np.float64]:
    return np.ascontiguousarray(values.toarray() if sp.issparse(values) else values, dtype=float)


def is_mostly_zeros(design: Design) -> bool:
    """Whether it pays to leave out the zeros of X."""
    return design.is_sparse and design.n_stored < _MANY * design.n_samples * design.n_features


def is_boxed(form: LinearProgramForm) -> bool:
    """Whether every column of the program has two finite ends, and X is not mostly zeros."""
    if form.n_constraints or is_mostly_zeros(form.design):
        return False
    columns = form.columns if form.is_separable else None
    if columns is None or not columns.has_bounds:
        return True
    bounds = np.concatenate([columns.lower, columns.upper])
    return not bool(np.any(np.isfinite(bounds) & (bounds != 0)))
