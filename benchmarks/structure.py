"""Sparse structure: panels, trends, grids, splines, portfolios, beside solvers of LPs and QPs.

    python -m benchmarks.structure [TEXT ...] [--ours] [--limit 60]

Every case is a sum of units ``max over low <= a <= high of a (row b - target) - soft a^2/2`` on
sparse rows: losses, differences, prices. HiGHS gets linear programs in primal and dual form, by the
dual simplex method and by its interior point method; PIQP, Clarabel and OSQP get the boxed dual;
R's quantreg (`rq.fit.sfn`, which `rqss` calls) gets medians and quantiles. Others are asked for
1e-6 by their own measure, our answer has a certified relative gap of at most 1e-6, and all
objectives are evaluated from the coefficients. Each solver runs in a process of its own, on one
thread, under a limit in CPU seconds. Rows go to ``results/structure.csv``; the last lines give
exponents of time against size.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.io import mmwrite

import rectiline as rl

from . import qp
from .store import write_table
from .structure_cases import Case, Units, cases, trend

TOL = 1e-6
MOST_RIVAL_ROWS = 300_000  # larger cases go to HiGHS's interior method and to quantreg alone


# ---- rivals: each returns b ---------------------------------------------------------------------


def by_highs(units: Units, method: str, is_dual: bool) -> np.ndarray:
    import highspy

    rows, target, low, high, soft = units.stacked()
    if soft.any():
        raise NotImplementedError
    n, d = rows.shape
    lp = highspy.HighsLp()
    if is_dual:  # min target'a, rows'a = 0, low <= a <= high
        matrix, cost, bounds, right = rows.T.tocsc(), target, (low, high), np.zeros(d)
    else:  # min high'u - low'v, rows b - u + v = target
        eye, free, none = sp.identity(n), np.full(d, math.inf), np.zeros(2 * n)
        matrix = sp.hstack([rows, -eye, eye], format="csc")
        cost, right = np.concatenate([np.zeros(d), high, -low]), target
        bounds = np.append(-free, none), np.append(free, none + math.inf)
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, (lp.col_lower_, lp.col_upper_) = cost, bounds
    lp.row_lower_ = lp.row_upper_ = right
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "solver": method}.items():
        solver.setOptionValue(name, value)
    solver.passModel(lp)
    solver.run()
    found = solver.getSolution()
    return np.array(found.row_dual if is_dual else found.col_value[:d])


def _boxed_dual(units: Units) -> tuple[Any, ...]:
    rows, target, low, high, soft = units.stacked()
    return sp.diags(soft, format="csc"), target, rows.T.tocsc(), low, high


def by_piqp(units: Units) -> np.ndarray:
    import piqp

    P, q, E, low, high = _boxed_dual(units)
    solver = piqp.SparseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = TOL
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = TOL
    solver.setup(P, q, E, np.zeros(E.shape[0]), None, None, None, low, high)
    solver.solve()
    return np.array(solver.result.y)


def by_osqp(units: Units) -> np.ndarray:
    import osqp

    P, q, E, low, high = _boxed_dual(units)
    none, n = np.zeros(E.shape[0]), q.size
    solver = osqp.OSQP()
    A = sp.vstack([E, sp.identity(n)], format="csc")
    low, high = np.append(none, low), np.append(none, high)
    solver.setup(P, q, A, low, high, verbose=False, eps_abs=TOL, eps_rel=TOL, max_iter=100_000)
    return np.array(solver.solve().y[: E.shape[0]], dtype=float)


def by_clarabel(units: Units) -> np.ndarray:
    import clarabel

    P, q, E, low, high = _boxed_dual(units)
    eye = sp.identity(q.size, format="csr")
    above, below = np.isfinite(high), np.isfinite(low)
    A = sp.vstack([E, eye[above], -eye[below]], format="csc")
    right = np.concatenate([np.zeros(E.shape[0]), high[above], -low[below]])
    cones = [clarabel.ZeroConeT(E.shape[0]), clarabel.NonnegativeConeT(A.shape[0] - E.shape[0])]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOL
    found = clarabel.DefaultSolver(P, q, A, right, cones, settings).solve()
    return np.array(found.z[: E.shape[0]])


_QUANTREG = """
suppressMessages({library(quantreg); library(SparseM); library(Matrix)})
X <- as(as(readMM("rows.mtx"), "generalMatrix"), "RsparseMatrix")
X <- new("matrix.csr", ra = X@x, ja = X@j + 1L, ia = X@p + 1L, dim = X@Dim)
y <- scan("target.txt", quiet = TRUE); rhs <- scan("rhs.txt", quiet = TRUE)
control <- sfn.control(small = 1e-8, maxiter = 200, warn.mesg = FALSE)
k <- length(y)
control$nsubmax <- 40 * k; control$tmpmax <- 400 * k; control$nnzlmax <- 100 * k
taken <- system.time(found <- rq.fit.sfn(X, y, rhs = rhs, control = control))
write(found$coef, "coef.txt", ncolumns = 1)
cat(taken["user.self"])
"""


def by_quantreg(units: Units) -> tuple[np.ndarray, float]:
    """Return b, and the seconds that R counts for the fit alone."""
    rows, target, low, high, soft = units.stacked()
    if soft.any():
        raise NotImplementedError
    width = high - low  # rows scaled so that all boxes have width one
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        scaled = sp.csr_matrix(sp.diags(width) @ rows)
        mmwrite(place / "rows.mtx", scaled, symmetry="general")
        np.savetxt(place / "target.txt", target * width)
        np.savetxt(place / "rhs.txt", scaled.T @ (high / width))
        (place / "fit.R").write_text(_QUANTREG)
        done = subprocess.run(
            ["Rscript", "fit.R"], cwd=folder, check=True, capture_output=True, text=True
        )
        return np.loadtxt(place / "coef.txt"), float(done.stdout)


def by_us(case: Case) -> tuple[np.ndarray, dict[str, Any]]:
    problem = case.ours()
    rl.solve(trend(50, 1, "median").ours())  # what the first call loads
    began = time.process_time()
    found = rl.solve(problem, tol=TOL)
    seconds = time.process_time() - began
    about = {"seconds": seconds, "solver": found.solver, "status": found.status}
    about |= {"gap": found.certificate.relative_gap, "steps": found.n_iter}
    return found.coef, about


HIGHS = {
    f"highs-{method}-{'dual' if is_dual else 'primal'}": (method, is_dual)
    for method in ("simplex", "ipm")
    for is_dual in (True, False)
}
OTHERS: dict[str, Callable[[Units], Any]] = {
    "piqp": by_piqp,
    "clarabel": by_clarabel,
    "osqp": by_osqp,
    "quantreg": by_quantreg,
}


def _measure(case: Case, solver: str) -> dict[str, Any]:
    """Solve with one solver; return seconds, the objective and what is known besides."""
    if solver == "rectiline":
        b, about = by_us(case)
    else:
        units, about = case.units(), {}
        if solver != "quantreg":
            import_module(solver.split("-")[0].replace("highs", "highspy"))
        began = time.process_time()
        if solver in HIGHS:
            b = by_highs(units, *HIGHS[solver])
        else:
            b = OTHERS[solver](units)
        about["seconds"] = time.process_time() - began
        if isinstance(b, tuple):
            b, about["seconds"] = b
    about["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    units = case.units()
    about["objective"] = min(units.value(b), units.value(-b))  # signs of multipliers differ
    return about


def _in_child(case: Case, solver: str, limit: float, pipe: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 5))
    try:
        pipe.send(_measure(case, solver))
    except (ImportError, NotImplementedError, FileNotFoundError):
        pipe.send(None)


def measure(case: Case, solver: str, limit: float) -> dict[str, Any] | None:
    """Return what `_measure` does, infinite seconds beyond the limit, None if it does not apply."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_in_child, args=(case, solver, limit, theirs))
    child.start()
    theirs.close()
    try:
        found: dict[str, Any] | None = ours.recv()
    except EOFError:
        found = {"seconds": math.inf, "objective": math.nan, "memory": math.nan}
    child.join()
    return found


def row_of(case: Case, limit: float, ours_alone: bool) -> dict[str, Any]:
    """Return one row of the table."""
    found = measure(case, "rectiline", 4 * limit)
    assert found is not None
    row: dict[str, Any] = {"case": case.name, "family": case.family, "size": case.size}
    row["rectiline"] = f"{found['seconds']:.3f}"
    if found["seconds"] < math.inf:
        row |= {"solver": found["solver"], "gap": f"{found['gap']:.0e}", "steps": found["steps"]}
        row |= {"memory_gb": f"{found['memory']:.2f}"}
    if ours_alone:
        return row
    best = found["objective"]
    fastest = {"highs": math.inf, "others": math.inf}
    for solver in (*HIGHS, *OTHERS):
        if case.size > MOST_RIVAL_ROWS and solver not in ("highs-ipm-dual", "quantreg"):
            continue
        other = measure(case, solver, limit)
        if other is None:
            continue
        error = (other["objective"] - best) / abs(best)
        row |= {solver: f"{other['seconds']:.3f}", f"{solver}_error": f"{error:.0e}"}
        if error <= 1e-4:
            kind = "highs" if solver in HIGHS else "others"
            fastest[kind] = min(fastest[kind], other["seconds"])
    for kind, seconds in fastest.items():
        row[f"of_{kind}"] = f"{found['seconds'] / seconds:.2f}" if seconds < math.inf else ""
    return row


def exponents(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the exponent of time against size for each family with several sizes."""
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family]
        if len(own) < 2:
            continue
        sizes = np.log([row["size"] for row in own])
        parts = []
        for solver in ("rectiline", *HIGHS, *OTHERS):
            taken = np.array([float(row.get(solver) or "nan") for row in own])
            seen = np.isfinite(taken) & (taken > 0)
            if seen.sum() > 1:
                slope = np.polyfit(sizes[seen], np.log(taken[seen]), 1)[0]
                parts.append(f"{solver} {slope:.2f}")
        yield f"{family}: time grows as size to the power " + ", ".join(parts)


def portfolio_row(k: int) -> dict[str, Any]:
    """Return the row of OSQP's portfolio with k factors, by the programs of `qp`."""
    qp_row = qp.row_of(qp.portfolio, k, 3)
    return {"case": f"portfolio {100 * k} x {k}", "family": "portfolio", "size": 100 * k} | {
        name: value for name, value in qp_row.items() if name != "program"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="cases whose names contain all of these")
    parser.add_argument("--ours", action="store_true", help="without rivals; writes nothing")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a rival")
    asked = parser.parse_args()
    rows = []
    for case in cases():
        if all(word in case.name for word in asked.words):
            rows.append(row_of(case, asked.limit, asked.ours))
            print("  ".join(f"{k}={v}" for k, v in rows[-1].items() if k != "family"), flush=True)
            if not asked.ours:
                write_table("structure", [rows[-1]], ("case",))
    for k in (20, 100):
        if all(word in f"portfolio {100 * k} x {k}" for word in asked.words):
            row = portfolio_row(k)
            print("  ".join(f"{k}={v}" for k, v in row.items() if k != "family"), flush=True)
            if not asked.ours:
                write_table("structure", [row], ("case",))
    print("\n".join(exponents(rows)))


if __name__ == "__main__":
    main()
