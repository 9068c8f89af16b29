"""Live linear programs: rows and columns are added, the basis stays hot.

    maximise  cost'x   subject to   row_low <= M x <= row_high,   low <= x <= high

`BoxedProgram` is the compiled simplex method, for programs whose columns are all boxed (`low` is
zero, `high` finite). It keeps the matrix dense and inverts only the part of the basis that is not
slack, which on the masters of dense data is about ten times faster than HiGHS. `LinearProgram` is
HiGHS, for all others. Its presolve is off: that would throw the basis away, which costs six times
as many simplex steps. Both have the same methods.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline import _core
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems.forms import LinearProgramForm

Positions = NDArray[np.int32]
Statuses = NDArray[np.uint8]
Block = Any  # a dense block, or a CSR one where X is sparse

LOW, BASIC, HIGH, FREE = range(4)  # statuses in a basis

_DENSE_SHARE_OF_ENTRIES = 0.1  # from this share of stored entries on, columns are stored dense
_MOST_STEPS_PER_ROW_AND_COLUMN = 100
_MOST_HIGHS_STEPS = 2**31 - 1  # the default of HiGHS
_HIGHS_PRODUCTS_PER_ENTRY = 10.0  # of the compiled method in the time of one step of HiGHS
_FEASIBILITY_TOLERANCE = 1e-9  # primal and dual; HiGHS allows 1e-10
_NEEDED = "linear programs with constraints, bounds other than zero or a sparse X need highspy"


def highs_refusal() -> str | None:
    """Return why HiGHS cannot be used in this process, or None."""
    if sys.modules.get("highspy") is not None:
        return None
    if "ortools" in sys.modules:
        return (
            f"{_NEEDED}, which cannot share a process with ortools (both bring their own HiGHS); "
            "ortools is already imported"
        )
    if not _is_found(importlib.util.find_spec):
        return f"{_NEEDED}, which is not installed: pip install highspy"
    return None


@cache
def _is_found(find: Callable[[str], Any]) -> bool:
    """Return whether highspy is installed: a search through the file system, made once."""
    return find("highspy") is not None


def _highspy() -> Any:
    reason = highs_refusal()
    if reason is not None:
        raise ImportError(f"Solver 'generation': {reason}.")
    import highspy

    return highspy


class _Program:
    """One program to maximise; `solve` starts from where the last one ended."""

    _model: Any
    _append_columns: Any  # the same arguments as below
    _append_rows: Any

    def __init__(self) -> None:
        self.n_rows = self.n_columns = self.n_steps = 0

    def add_columns(
        self, cost: Vector, low: Vector, high: Vector, rows: Positions, values: Block
    ) -> Positions:
        """Add columns with entries ``values[r, j]`` in row ``rows[r]``; return their positions."""
        self._append_columns(cost, low, high, rows, values)
        self.n_columns += cost.size
        return np.arange(self.n_columns - cost.size, self.n_columns, dtype=np.int32)

    def add_rows(self, low: Vector, high: Vector, columns: Positions, values: Block) -> Positions:
        """Add rows with entries ``values[r, j]`` in column ``columns[j]``; return their places."""
        self._append_rows(low, high, columns, values)
        self.n_rows += low.size
        return np.arange(self.n_rows - low.size, self.n_rows, dtype=np.int32)

    def release(self) -> None:
        """Give the memory back; nothing else may be asked of the program afterwards."""
        del self._model


class LinearProgram(_Program):
    """A program in HiGHS.

    Attributes
    ----------
    work : float
        Products of the compiled method in the time that the steps so far took.
    """

    def __init__(self) -> None:
        super().__init__()
        self.work = 0.0
        self._n_entries = 0
        self._lib = _highspy()
        self.infinity = float(self._lib.kHighsInf)
        model = self._lib.Highs()
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("primal_feasibility_tolerance", _FEASIBILITY_TOLERANCE),
            ("dual_feasibility_tolerance", _FEASIBILITY_TOLERANCE),
        ):
            model.setOptionValue(option, value)
        model.changeObjectiveSense(self._lib.ObjSense.kMaximize)
        self._model = model

    def _append_columns(
        self, cost: Vector, low: Vector, high: Vector, rows: Positions, values: Block
    ) -> None:
        start, index, data = _entries(values.T, rows)
        bounds = self._finite(low), self._finite(high)
        self._check(self._model.addCols(cost.size, cost, *bounds, data.size, start, index, data))
        self._n_entries += data.size

    def _append_rows(self, low: Vector, high: Vector, columns: Positions, values: Block) -> None:
        start, index, data = _entries(values, columns)
        bounds = self._finite(low), self._finite(high)
        self._check(self._model.addRows(low.size, *bounds, data.size, start, index, data))
        self._n_entries += data.size

    def change_row_bounds(self, rows: Positions, low: Vector, high: Vector) -> None:
        """Replace the bounds of some rows; the basis stays."""
        low, high = self._finite(low), self._finite(high)
        if hasattr(self._model, "changeRowsBounds"):
            self._check(self._model.changeRowsBounds(rows.size, rows, low, high))
            return
        for one in zip(rows.tolist(), low.tolist(), high.tolist()):  # highspy 1.12 and older
            self._check(self._model.changeRowBounds(*one))

    def change_column_bounds(self, columns: Positions, low: Vector, high: Vector) -> None:
        """Replace the bounds of some columns; the basis stays."""
        self._check(
            self._model.changeColsBounds(
                columns.size, columns, self._finite(low), self._finite(high)
            )
        )

    def solve(self, seconds: float, work: float = np.inf) -> str:
        """Return "optimal", "infeasible", "unbounded", "limit" or "trouble"."""
        model, status = self._model, self._lib.HighsModelStatus
        limit = model.getRunTime() + seconds if np.isfinite(seconds) else self.infinity
        model.setOptionValue("time_limit", limit)
        per_step = _HIGHS_PRODUCTS_PER_ENTRY * max(self._n_entries, 1)
        most = min(np.ceil(max(work, 0.0) / per_step), _MOST_HIGHS_STEPS)
        model.setOptionValue("simplex_iteration_limit", int(most))
        model.run()
        steps = max(int(model.getInfo().simplex_iteration_count), 0)
        self.n_steps += steps
        self.work += steps * per_step
        words = {
            status.kOptimal: "optimal",
            status.kInfeasible: "infeasible",
            status.kUnbounded: "unbounded",
            status.kUnboundedOrInfeasible: "infeasible",
            status.kTimeLimit: "limit",
            status.kIterationLimit: "limit",
            status.kInterrupt: "limit",
        }
        return words.get(model.getModelStatus(), "trouble")

    def restart(self) -> None:
        """Discard the basis, so that the next solve starts cold."""
        self._model.clearSolver()

    def solution(self) -> tuple[Vector, Vector]:
        """Return the values of the columns and the multipliers of the rows."""
        found = self._model.getSolution()
        return np.array(found.col_value), np.array(found.row_dual)

    def basis(self) -> tuple[Statuses, Statuses]:
        """Return the status of columns and rows: BASIC, LOW, HIGH or FREE."""
        found, kind = self._model.getBasis(), self._lib.HighsBasisStatus
        code = {kind.kBasic: BASIC, kind.kUpper: HIGH, kind.kLower: LOW}
        columns = np.array([code.get(one, FREE) for one in found.col_status], dtype=np.uint8)
        rows = np.array([code.get(one, FREE) for one in found.row_status], dtype=np.uint8)
        return columns, rows

    def set_basis(self, columns: Statuses, rows: Statuses) -> None:
        """Start the next solve from this basis; HiGHS repairs what does not fit."""
        kind = self._lib.HighsBasisStatus
        word = [kind.kLower, kind.kBasic, kind.kUpper, kind.kZero]
        basis = self._lib.HighsBasis()
        basis.col_status = [word[code] for code in columns.tolist()]
        basis.row_status = [word[code] for code in rows.tolist()]
        basis.valid = True
        self._model.setBasis(basis)

    def _check(self, answer: Any) -> None:
        """Raise if HiGHS has refused numbers: entries above 1e15, or that are not finite."""
        if answer == self._lib.HighsStatus.kError:
            raise FloatingPointError("HiGHS refuses numbers of a linear program.")

    def _finite(self, bound: Vector) -> Vector:
        return np.clip(bound, -self.infinity, self.infinity)


def _entries(values: Block, names: Positions) -> tuple[Positions, Positions, Vector]:
    """Return (start, index, data) of the rows of `values`, whose column j is called names[j]."""
    if sp.issparse(values):
        rows = sp.csr_array(values)
        start = rows.indptr[:-1].astype(np.int32)
        return start, names[rows.indices].astype(np.int32, copy=False), rows.data
    count, width = values.shape
    start = (np.arange(count) * width).astype(np.int32)
    return start, np.tile(names, count), np.ascontiguousarray(values).ravel()


class BoxedProgram(_Program):
    """A program in the compiled simplex method."""

    _model: _core.BoxedSimplex

    def __init__(self) -> None:
        super().__init__()
        self._model = _core.BoxedSimplex()

    def _append_columns(
        self, cost: Vector, low: Vector, high: Vector, rows: Positions, values: Block
    ) -> None:
        assert not low.any()
        if not np.isfinite(high).all():
            raise OverflowError("the width of a column is no finite number")
        self._model.add_columns(_vector(cost), _vector(high), rows, _dense(values))

    def _append_rows(self, low: Vector, high: Vector, columns: Positions, values: Block) -> None:
        self._model.add_rows(_vector(low), _vector(high), columns, _dense(values))

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
        most = _MOST_STEPS_PER_ROW_AND_COLUMN * (self.n_rows + self.n_columns)
        before = self._model.n_steps
        status = self._model.solve(most, seconds, work)
        self.n_steps += self._model.n_steps - before
        return status

    def restart(self) -> None:
        """Discard the basis, so that the next solve starts cold."""
        self._model.forget_basis()

    def solution(self) -> tuple[Vector, Vector]:
        """Return the values of the columns and the multipliers of the rows."""
        return self._model.values(), self._model.multipliers()

    def basis(self) -> tuple[Statuses, Statuses]:
        """Return the status of columns and rows: BASIC, LOW or HIGH."""
        columns = np.zeros(self.n_columns, dtype=np.uint8)
        rows = np.zeros(self.n_rows, dtype=np.uint8)
        self._model.basis(columns, rows)
        return columns, rows

    def set_basis(self, columns: Statuses, rows: Statuses) -> None:
        """Start the next solve from this basis; what does not fit is dropped."""
        self._model.set_basis(columns, rows)


def _vector(values: Vector) -> Vector:
    return np.ascontiguousarray(values, dtype=np.float64)


def _dense(values: Block) -> NDArray[np.float64]:
    return np.ascontiguousarray(values.toarray() if sp.issparse(values) else values, dtype=float)


def is_mostly_zeros(design: Design) -> bool:
    """Whether leaving out the zeros of X saves time."""
    return (
        design.is_sparse
        and design.n_stored < _DENSE_SHARE_OF_ENTRIES * design.n_samples * design.n_features
    )


def is_boxed(form: LinearProgramForm) -> bool:
    """Whether every column of the program has two finite ends, and X is not mostly zeros."""
    if form.n_constraints or is_mostly_zeros(form.design):
        return False
    columns = form.columns if form.is_separable else None
    if columns is None or not columns.has_bounds:
        return True
    bounds = np.concatenate([columns.lower, columns.upper])
    return not bool(np.any(np.isfinite(bounds) & (bounds != 0)))


# ---- blocks of a program's matrix, dense or sparse -----------------------------------------------


def row_norms(rows: Any) -> Vector:
    """Return the Euclidean norm of each row, 1 for rows of zeros."""
    squares = (rows * rows).sum(axis=1)
    norms = np.sqrt(np.asarray(squares, dtype=np.float64)).ravel()
    return np.where(norms > 0, norms, 1.0)


def row_scale(block: Any) -> Vector:
    """Return one over the root mean square of each row."""
    return np.asarray(np.sqrt(max(block.shape[1], 1)) / row_norms(block))


def scaled_rows(block: Any, scale: Vector) -> Any:
    """Return the block with every row multiplied by its scale."""
    return sp.diags_array(scale) @ block if sp.issparse(block) else block * scale[:, None]


def beside(left: Any, right: Any) -> Any:
    """Return the two blocks side by side, sparse if one is."""
    if not right.shape[1]:
        return left
    if sp.issparse(left) or sp.issparse(right):
        return sp.hstack([left, sp.csr_array(right)], format="csr")
    return np.hstack([left, right])


def below(top: Any, bottom: Any) -> Any:
    """Return `top` above `bottom`, sparse if `bottom` is."""
    if sp.issparse(bottom):
        return sp.vstack([sp.csr_array(top), bottom], format="csr")
    return np.vstack([top, bottom])
