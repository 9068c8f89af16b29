"""Linear and quadratic programs, and one adapter for each solver of them.

An adapter translates a program when it is made; `solve` runs it; `read` returns the variables, the
multipliers of the rows that are equations, and what the solver says about itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse as sp

Vector = np.ndarray


@dataclass(frozen=True)
class Program:
    """``min x'P x/2 + q'x`` under ``low <= A x <= high`` and ``lower <= x <= upper``.

    ``P`` may be the diagonal only, or `None` in a linear program; bounds may be left out.
    """

    P: Any
    q: Vector
    A: Any
    low: Vector
    high: Vector
    lower: Vector | None = None
    upper: Vector | None = None

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        free = np.full(self.q.size, np.inf)
        lower, upper = self.lower, self.upper
        return (-free if lower is None else lower), (free if upper is None else upper)

    @property
    def square(self) -> Any:
        """P as a sparse matrix."""
        return sp.diags(self.P, format="csc") if isinstance(self.P, np.ndarray) else self.P

    def split(self) -> tuple[Any, Vector, Any, Vector, Vector]:
        """Return the equations and their right side, then the other rows with their two."""
        equal, rows = self.low == self.high, sp.csr_matrix(self.A)
        others = rows[~equal], self.low[~equal], self.high[~equal]
        return rows[equal], self.low[equal], *others

    def value(self, x: Vector) -> float:
        return float(0.5 * x @ (self.square @ x) + self.q @ x)

    def violation(self, x: Vector) -> float:
        z = self.A @ x
        return float(max((self.low - z).max(), (z - self.high).max(), 0.0))


class OSQP:
    """Operator splitting."""

    package = "osqp"

    def __init__(self, program: Program, **options: Any) -> None:
        import osqp

        self.make, self.options, self.rows = osqp.OSQP, options, program.A.shape[0]
        lower, upper = program.bounds
        boxed = np.isfinite(lower) | np.isfinite(upper)
        eye = sp.eye(boxed.size, format="csr")[boxed]
        self.P, self.q = sp.triu(program.square, format="csc"), program.q
        self.A = sp.vstack([program.A, eye], format="csc")
        self.low = np.concatenate([program.low, lower[boxed]])
        self.high = np.concatenate([program.high, upper[boxed]])

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.make()
        settings = {"verbose": False, "max_iter": 10_000_000, "time_limit": time_limit}
        settings |= {"eps_abs": tol, "eps_rel": tol, **self.options}
        solver.setup(self.P, self.q, self.A, self.low, self.high, **settings)
        return solver.solve()

    def read(self, raw: Any) -> tuple[Vector, Vector, dict[str, Any]]:
        word = {"iterations": int(raw.info.iter), "status": str(raw.info.status)}
        return np.array(raw.x, dtype=float), np.array(raw.y)[: self.rows], word


class Clarabel:
    """Interior point."""

    package = "clarabel"

    def __init__(self, program: Program) -> None:
        import clarabel

        self.clarabel, self.P, self.q = clarabel, sp.triu(program.square, format="csc"), program.q
        E, f, G, low, high = program.split()
        self.equations = f.size
        eye = sp.eye(self.q.size, format="csr")
        rows, right = [E], [f]
        for matrix, bound, sign in (
            (G, high, 1.0),
            (G, low, -1.0),
            (eye, program.bounds[1], 1.0),
            (eye, program.bounds[0], -1.0),
        ):
            rows.append(sign * matrix[np.isfinite(bound)])
            right.append(sign * bound[np.isfinite(bound)])
        self.A, self.b = sp.vstack(rows, format="csc"), np.concatenate(right)
        above = self.b.size - f.size
        self.cones = [clarabel.ZeroConeT(f.size), clarabel.NonnegativeConeT(above)]

    def solve(self, tol: float, time_limit: float) -> Any:
        settings = self.clarabel.DefaultSettings()
        settings.verbose, settings.max_threads, settings.time_limit = False, 1, time_limit
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        solver = self.clarabel.DefaultSolver(self.P, self.q, self.A, self.b, self.cones, settings)
        return solver.solve()

    def read(self, raw: Any) -> tuple[Vector, Vector, dict[str, Any]]:
        word = {"iterations": int(raw.iterations), "status": str(raw.status)}
        return np.array(raw.x), np.array(raw.z)[: self.equations], word


class PIQP:
    """Proximal interior point; takes bounds as such."""

    package = "piqp"

    def __init__(self, program: Program) -> None:
        import piqp

        self.make = piqp.SparseSolver
        E, f, G, low, high = program.split()
        others = (sp.csc_matrix(G), low, high) if low.size else (None, None, None)
        self.model = (program.square, program.q, sp.csc_matrix(E), f, *others, *program.bounds)

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.make()
        settings = solver.settings
        settings.verbose, settings.max_iter = False, 500
        settings.eps_abs = settings.eps_rel = tol
        settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = tol
        solver.setup(*self.model)
        return solver, solver.solve()

    def read(self, raw: Any) -> tuple[Vector, Vector, dict[str, Any]]:
        result = raw[0].result
        word = {"iterations": int(result.info.iter), "status": str(raw[1])}
        return np.array(result.x), np.array(result.y), word


class HiGHS:
    """Linear programs, by the dual simplex method or by interior points (``solver="ipm"``)."""

    package = "highspy"

    def __init__(self, program: Program, **options: Any) -> None:
        import highspy

        self.highspy, self.options = highspy, options
        self.lp = lp = highspy.HighsLp()
        matrix = sp.csc_matrix(program.A)
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_, (lp.col_lower_, lp.col_upper_) = program.q, program.bounds
        lp.row_lower_, lp.row_upper_ = program.low, program.high
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data

    def solver(self, tol: float, time_limit: float) -> Any:
        """Return the solver with the program in it, not yet run."""
        solver = self.highspy.Highs()
        settings = {"output_flag": False, "threads": 1, "time_limit": float(time_limit)}
        settings |= {"primal_feasibility_tolerance": tol, "dual_feasibility_tolerance": tol}
        for name, value in (settings | self.options).items():
            solver.setOptionValue(name, value)
        solver.passModel(self.lp)
        return solver

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.solver(tol, time_limit)
        solver.run()
        return solver

    def read(self, raw: Any) -> tuple[Vector, Vector, dict[str, Any]]:
        found = raw.getSolution()
        word = {"iterations": int(raw.getInfo().simplex_iteration_count)}
        word["status"] = raw.modelStatusToString(raw.getModelStatus())
        return np.array(found.col_value), np.array(found.row_dual), word
