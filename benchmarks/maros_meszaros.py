"""Solve the small convex quadratic programs of Maros and Meszaros and compare with Clarabel.

    python -m benchmarks.maros_meszaros FOLDER [--filter NAME] [--limit 60]

FOLDER holds one .mat file per problem with P, q, r, A, l, u of ``min x'Px/2 + q'x + r`` over
``l <= Ax <= u``, as osqp_benchmarks and maros_meszaros_qpbenchmark keep them; rows of A with one
entry are bounds. Problems with more than 1,200 columns are left out. A problem counts as solved if
its certificate holds at 1e-6; Clarabel's value is there to compare.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, linalg
from scipy import sparse as sp
from scipy.sparse.linalg import splu

import rectiline as rl

from . import store
from .quadratic import Clarabel, Program

MOST_COLUMNS = 1200
_INFINITE = 1e19  # the files write numbers near 1e20 for no bound


def read(path: Path) -> tuple[Program, float]:
    """Read a file: the program, and the constant of its objective."""
    content = io.loadmat(path)
    A = sp.csr_array(content["A"].astype(float))
    A.eliminate_zeros()
    q, low, high = (content[name].astype(float).ravel() for name in "qlu")
    low, high = np.where(low <= -_INFINITE, -np.inf, low), np.where(high >= _INFINITE, np.inf, high)
    P = sp.csc_array(content["P"].astype(float))
    return Program(P, q, A, low, high), float(content["r"].ravel()[0])


def as_problem(program: Program) -> rl.Problem:
    """Half the squares of the rows of a factor of P; rows of A with one entry become bounds."""
    q, A, low, high = program.q, program.A, program.low, program.high
    lower, upper = np.full(q.size, -np.inf), np.full(q.size, np.inf)
    for row in np.flatnonzero(np.diff(A.indptr) == 1):
        column, value = A.indices[A.indptr[row]], A.data[A.indptr[row]]
        ends = sorted((low[row] / value, high[row] / value))
        lower[column] = max(lower[column], ends[0])
        upper[column] = min(upper[column], ends[1])
    constraints: list[Any] = [rl.constraints.Box(lower, upper)]
    rest = np.flatnonzero(np.diff(A.indptr) > 1)
    if rest.size:
        constraints.append(rl.constraints.LinearConstraint(A[rest], low[rest], high[rest]))
    factor = factor_of(program.P)
    if factor.shape[0] == 0:
        return rl.Problem(None, constraints=constraints, linear=q)
    return rl.Problem(factor, None, "squared_error", constraints=constraints, linear=q)


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


def measure(path: Path, limit: float) -> dict[str, Any]:
    """Return the row of one problem."""
    program, constant = read(path)
    size = {"columns": program.q.size, "rows": int(np.sum(np.diff(program.A.indptr) > 1))}
    row: dict[str, Any] = {"problem": path.stem, **size}
    clarabel = Clarabel(program)
    expected = program.value(clarabel.read(clarabel.solve(1e-6, 30.0))[0]) + constant
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rl.ConvergenceWarning)
            solution = rl.solve(as_problem(program), tol=1e-6, time_limit=limit)
    except Exception as error:
        return {**row, "status": f"{type(error).__name__}: {error}"[:120]}
    value = program.value(solution.coef) + constant
    return {
        **row,
        "status": str(solution.status),
        "solver": solution.solver,
        "gap": f"{solution.certificate.relative_gap:.1e}",
        "objective": f"{value:.8g}",
        "clarabel": f"{expected:.8g}",
        "difference": f"{abs(value - expected) / max(1.0, abs(expected - constant)):.1e}",
        "seconds": f"{time.perf_counter() - started:.2f}",
    }


def rows(folder: Path, filter: str, limit: float) -> Iterator[dict[str, Any]]:
    """Yield a row for each small problem of the folder whose name contains the text."""
    for path in sorted(folder.glob("*.mat")):
        if filter in path.stem and io.loadmat(path, variable_names=["q"])["q"].size <= MOST_COLUMNS:
            yield measure(path, limit)


if __name__ == "__main__":
    store.run(rows, ("problem",), folder=Path, filter="", limit=60.0)
