"""Solve the small convex quadratic programs of Maros and Meszaros and compare with Clarabel.

    python -m benchmarks.maros_meszaros FOLDER [NAME ...] [--limit 60]

FOLDER holds one .mat file per problem with P, q, r, A, l, u of ``min x'Px/2 + q'x + r`` over
``l <= Ax <= u``, as osqp_benchmarks and maros_meszaros_qpbenchmark keep them; rows of A with one
entry are bounds. Problems with more than 1,200 columns are left out. A problem counts as solved if
its certificate holds at 1e-6; Clarabel's value is there to compare.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, linalg
from scipy import sparse as sp
from scipy.sparse.linalg import splu

import rectiline as rl

from .store import write_table

MOST_COLUMNS = 1200
_INFINITE = 1e19  # the files write numbers near 1e20 for no bound


@dataclass(frozen=True)
class QuadraticProgram:
    """``min x'Px/2 + q'x + r`` over ``l <= Ax <= u`` and ``lower <= x <= upper``."""

    P: Any
    q: np.ndarray
    r: float
    A: Any
    l: np.ndarray  # noqa: E741
    u: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def read(cls, path: Path) -> QuadraticProgram:
        """Read a file; rows of A with one entry become bounds of that column."""
        content = io.loadmat(path)
        P = sp.csc_array(content["P"].astype(float))
        A = sp.csr_array(content["A"].astype(float))
        A.eliminate_zeros()
        q, l, u = (content[name].astype(float).ravel() for name in "qlu")  # noqa: E741
        l, u = np.where(l <= -_INFINITE, -np.inf, l), np.where(u >= _INFINITE, np.inf, u)  # noqa: E741
        lower, upper = np.full(q.size, -np.inf), np.full(q.size, np.inf)
        single = np.diff(A.indptr) == 1
        for row in np.flatnonzero(single):
            column, value = A.indices[A.indptr[row]], A.data[A.indptr[row]]
            ends = sorted((l[row] / value, u[row] / value))
            lower[column] = max(lower[column], ends[0])
            upper[column] = min(upper[column], ends[1])
        rest = np.flatnonzero(np.diff(A.indptr) > 1)
        r = float(content["r"].ravel()[0])
        return cls(P, q, r, A[rest], l[rest], u[rest], lower, upper)

    def problem(self) -> rl.Problem:
        """The program as a problem of ours: half the squares of the rows of a factor of P."""
        constraints: list[Any] = [rl.constraints.Box(self.lower, self.upper)]
        if self.A.shape[0]:
            constraints.append(rl.constraints.LinearConstraint(self.A, self.l, self.u))
        factor = factor_of(self.P)
        if factor.shape[0] == 0:
            return rl.Problem(None, constraints=constraints, linear=self.q)
        return rl.Problem(factor, None, "squared_error", constraints=constraints, linear=self.q)

    def value(self, x: np.ndarray) -> float:
        return float(x @ (self.P @ x) / 2 + self.q @ x + self.r)

    def clarabel(self) -> float:
        """Clarabel's value, the independent answer."""
        import clarabel

        rows = sp.vstack([self.A, sp.eye_array(self.q.size)], format="csc")
        l, u = np.r_[self.l, self.lower], np.r_[self.u, self.upper]  # noqa: E741
        equal = l == u
        above, below = np.isfinite(u) & ~equal, np.isfinite(l) & ~equal
        A = sp.vstack([rows[equal], rows[above], -rows[below]], format="csc")
        b = np.r_[u[equal], u[above], -l[below]]
        cones = [clarabel.ZeroConeT(int(equal.sum()))]
        cones.append(clarabel.NonnegativeConeT(int(above.sum() + below.sum())))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        upper_half = sp.csc_matrix(sp.triu(self.P))
        solver = clarabel.DefaultSolver(upper_half, self.q, sp.csc_matrix(A), b, cones, settings)
        answer = solver.solve()
        return float(answer.obj_val) + self.r if "Solved" in str(answer.status) else np.nan


def factor_of(P: Any) -> Any:
    """Return a sparse F with ``F'F = P``, by a Cholesky factor of each connected block."""
    n_blocks, block = sp.csgraph.connected_components(P, directed=False)
    order = np.argsort(block, kind="stable")
    parts = []
    for columns in np.split(order, np.cumsum(np.bincount(block, minlength=n_blocks))[:-1]):
        part = _block_factor(P[columns][:, columns])
        rows, at = np.nonzero(part)
        parts.append(
            sp.coo_array((part[rows, at], (rows, columns[at])), shape=(len(part), P.shape[0]))
        )
    return sp.vstack(parts, format="csr")


def _block_factor(block: Any) -> np.ndarray:
    """Factor one block with pivoting or, if that fills in, in an order with little fill-in."""
    square = block.toarray()
    scale = np.sqrt(np.maximum(np.diag(square), 0.0))
    scale[scale == 0.0] = 1.0
    unit = square / np.outer(scale, scale)
    found = [_pivoted(unit), _in_sparse_order(unit)]
    found = [part for part in found if np.abs(part.T @ part - unit).max() <= 1e-12]
    if not found:
        raise ValueError("P is not positive semidefinite")
    fills_in = np.count_nonzero(found[0]) > 2 * np.count_nonzero(found[-1])
    return found[-1 if fills_in else 0] * scale


def _in_sparse_order(unit: np.ndarray) -> np.ndarray:
    """A factor in minimum degree order; pivots at the level of rounding are skipped."""
    shifted = sp.csc_matrix(unit + 1e-8 * np.eye(len(unit)))
    order = np.argsort(
        splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        ).perm_c
    )
    rest, rows = unit[np.ix_(order, order)].copy(), []
    for k in range(len(unit)):
        if rest[k, k] > 1e-12:
            row = np.zeros(len(unit))
            row[k:] = rest[k, k:] / np.sqrt(rest[k, k])
            used = np.flatnonzero(row)
            rest[np.ix_(used, used)] -= np.outer(row[used], row[used])
            rows.append(row)
    part = np.zeros((len(rows), len(unit)))
    part[:, order] = np.reshape(rows, part.shape)
    return part


def _pivoted(unit: np.ndarray) -> np.ndarray:
    """A factor whose pivots are the largest that are left."""
    upper, pivots, rank, _ = linalg.lapack.dpstrf(unit, lower=0)
    part = np.zeros((rank, len(unit)))
    part[:, pivots - 1] = np.triu(upper)[:rank]
    return part


def run(path: Path, limit: float) -> dict[str, Any]:
    program = QuadraticProgram.read(path)
    row: dict[str, Any] = {
        "problem": path.stem,
        "columns": program.q.size,
        "rows": program.A.shape[0],
    }
    expected = program.clarabel()
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rl.ConvergenceWarning)
            solution = rl.solve(program.problem(), tol=1e-6, time_limit=limit)
    except Exception as error:
        return {**row, "status": f"{type(error).__name__}: {error}"[:120]}
    value = program.value(solution.coef)
    return {
        **row,
        "status": str(solution.status),
        "solver": solution.solver,
        "gap": f"{solution.certificate.relative_gap:.1e}",
        "objective": f"{value:.8g}",
        "clarabel": f"{expected:.8g}",
        "difference": f"{abs(value - expected) / max(1.0, abs(expected - program.r)):.1e}",
        "seconds": f"{time.perf_counter() - started:.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=60.0)
    chosen = parser.parse_args()
    rows = []
    for path in sorted(chosen.folder.glob("*.mat")):
        if chosen.names and path.stem not in chosen.names:
            continue
        if io.loadmat(path, variable_names=["q"])["q"].size > MOST_COLUMNS:
            continue
        rows.append(run(path, chosen.limit))
        print(*rows[-1].values(), flush=True)
    solved = sum(row["status"] == "solved" for row in rows)
    print(f"{solved} of {len(rows)} solved")
    write_table("maros_meszaros", rows, ("problem",))


if __name__ == "__main__":
    main()
