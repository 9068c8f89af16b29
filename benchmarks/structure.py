"""Sparse structure: panels, trends, grids, splines, portfolios, beside solvers of LPs and QPs.

    python -m benchmarks.structure [--words TEXT ...] [--limit 60]
    python -m benchmarks.structure --ours --csv FILE           # without rivals

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

import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.io import mmwrite

import rectiline as rl

from . import store
from .process import apart
from .quadratic import OSQP, PIQP, Clarabel, HiGHS, Program
from .structure_cases import Case, Units, cases, panel, portfolio, trend

TOL = 1e-6
MOST_RIVAL_ROWS = 300_000  # larger cases go to HiGHS's interior method and to quantreg alone
QUADRATIC = {"piqp": PIQP, "clarabel": Clarabel, "osqp": OSQP}
LINEAR = {
    f"highs-{method}-{form}": (method, form)
    for method in ("simplex", "ipm")
    for form in ("dual", "primal")
}
REFUSED = {"refused": True}
RIVALS = (*LINEAR, *QUADRATIC, "quantreg")


# ---- rivals: each returns b, and the seconds where the process does not tell ---------------------


def by_highs(units: Units, method: str, form: str) -> np.ndarray:
    rows, target, low, high, _ = units.stacked()
    n, d = rows.shape
    if form == "dual":  # min target'a, rows'a = 0, low <= a <= high
        none = np.zeros(d)
        program = Program(None, target, rows.T, none, none, low, high)
    else:  # min high'u - low'v, rows b - u + v = target
        eye, free = sp.identity(n), np.full(d, math.inf)
        matrix = sp.hstack([rows, -eye, eye], format="csc")
        cost = np.concatenate([np.zeros(d), high, -low])
        program = Program(None, cost, matrix, target, target, np.append(-free, np.zeros(2 * n)))
    call = HiGHS(program, solver=method)
    x, multipliers, _ = call.read(call.solve(1e-7, math.inf))
    return multipliers if form == "dual" else x[:d]


def by_quadratic(units: Units, solver: str) -> np.ndarray:
    rows, target, low, high, soft = units.stacked()
    none = np.zeros(rows.shape[1])
    call = QUADRATIC[solver](Program(soft, target, rows.T.tocsc(), none, none, low, high))
    return call.read(call.solve(TOL, 1e6))[1]


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
    rows, target, low, high, _ = units.stacked()
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


# ---- measuring ----------------------------------------------------------------------------------


def by_us(problem: rl.Problem, tol: float = TOL) -> tuple[rl.Solution, dict[str, Any]]:
    rl.solve(trend(50, 1, "median").ours())  # what the first call loads
    began = time.process_time()
    found = rl.solve(problem, tol=tol)
    about = {"seconds": time.process_time() - began, "solver": found.solver}
    return found, about | {"gap": found.certificate.relative_gap, "steps": found.n_iter}


def measure(name: str, solver: str) -> dict[str, Any]:
    """Solve with one solver; return seconds, the objective and what is known besides."""
    case = next(one for one in cases() if one.name == name)
    units = case.units()
    about: dict[str, Any] = {}
    seconds = None
    if (solver in LINEAR or solver == "quantreg") and units.stacked()[-1].any():
        return REFUSED
    try:
        if solver == "rectiline":
            found, about = by_us(case.ours())
            b = found.coef
        elif solver == "quantreg":
            b, seconds = by_quantreg(units)
        else:
            tiny = trend(50, 1, "median").units()  # what the first call loads
            for one in (tiny, units):
                began = time.process_time()
                b = (
                    by_highs(one, *LINEAR[solver])
                    if solver in LINEAR
                    else by_quadratic(one, solver)
                )
            seconds = time.process_time() - began
    except (ImportError, FileNotFoundError):
        return REFUSED
    about |= {} if seconds is None else {"seconds": seconds}
    about["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    about["objective"] = min(units.value(b), units.value(-b))  # signs of multipliers differ
    return about


def row_of(case: Case, limit: float, ours_alone: bool) -> dict[str, Any]:
    """Return one row of the table."""
    stopped = {"seconds": math.inf, "objective": math.nan}
    found = apart(measure, case.name, "rectiline", seconds=4 * limit) or stopped
    row: dict[str, Any] = {"case": case.name, "family": case.family, "size": case.size}
    row["rectiline"] = f"{found['seconds']:.3f}"
    if found["seconds"] < math.inf:
        row |= {"solver": found["solver"], "gap": f"{found['gap']:.0e}", "steps": found["steps"]}
        row |= {"memory_gb": f"{found['memory']:.2f}"}
    if ours_alone:
        return row
    best = found["objective"]
    fastest = {"highs": math.inf, "others": math.inf}
    for solver in RIVALS:
        if case.size > MOST_RIVAL_ROWS and solver not in ("highs-ipm-dual", "quantreg"):
            continue
        other = apart(measure, case.name, solver, seconds=limit) or stopped
        if other == REFUSED:
            continue
        error = (other["objective"] - best) / abs(best)
        row |= {solver: f"{other['seconds']:.3f}", f"{solver}_error": f"{error:.0e}"}
        if error <= 1e-4:
            kind = "highs" if solver in LINEAR else "others"
            fastest[kind] = min(fastest[kind], other["seconds"])
    for kind, seconds in fastest.items():
        row[f"of_{kind}"] = f"{found['seconds'] / seconds:.2f}" if seconds < math.inf else ""
    return row


def portfolio_row(factors: int, ours_alone: bool) -> dict[str, Any]:
    """Return the row of OSQP's portfolio problem; the least CPU time of three counts."""
    problem, program = portfolio(factors)
    tries = [by_us(problem()) for _ in range(3)]
    solution, said = min(tries, key=lambda found: found[1]["seconds"])
    size = 100 * factors
    row = {"case": f"portfolio {size} x {factors}", "family": "portfolio", "size": size}
    row |= {"solver": said["solver"], "rectiline": f"{said['seconds']:.4f}"}
    row |= {"gap": f"{said['gap']:.1e}"}
    fastest = math.inf
    for name, solver in {} if ours_alone else QUADRATIC.items():
        taken = math.inf
        for _ in range(3):
            began = time.process_time()
            try:
                call = solver(program)
            except ImportError:
                break
            x = call.read(call.solve(TOL, 30.0))[0]
            taken = min(taken, time.process_time() - began)
        if taken < math.inf:
            error = (program.value(x) - solution.objective) / abs(solution.objective)
            row |= {name: f"{taken:.4f}", f"{name}_error": f"{error:.0e}"}
            if abs(error) <= 1e-4 and program.violation(x) <= 1e-4:
                fastest = min(fastest, taken)
    return row | ({} if ours_alone else {"ratio": f"{said['seconds'] / fastest:.2f}"})


def sharp_panel_row(n: int, firms: int) -> dict[str, Any]:
    """Return the row of a median with firm effects, certified to 1e-9."""
    problem = panel(n, firms, 1, "median", "free").ours()
    _, said = by_us(problem, tol=1e-9)
    row = {"case": f"panel {n} x {firms} + 1: median to 1e-9", "family": "panel to 1e-9"}
    row |= {"size": n, "rectiline": f"{said['seconds']:.3f}", "solver": said["solver"]}
    return row | {"gap": f"{said['gap']:.0e}", "steps": said["steps"]}


def non_crossing_row(n: int, d: int, levels: int) -> dict[str, Any]:
    """Return the row of quantiles that do not cross; the ratio is to as many fits on their own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + (1.0 + 0.5 * np.abs(X[:, 0])) * rng.standard_t(3, n)
    quantiles = np.linspace(0.0, 1.0, levels + 2)[1:-1]
    seconds = {}
    for joint in (False, True):
        tries = []
        for _ in range(2):
            model = rl.QuantileRegressor(quantile=quantiles, alpha=0.0, non_crossing=joint)
            began = time.process_time()
            model.fit(X, y)
            tries.append(time.process_time() - began)
        seconds[joint] = min(tries)
    row = {"case": f"non-crossing {n} x {d}, {levels} levels", "family": "non-crossing", "size": n}
    ratio = f"{seconds[True] / seconds[False]:.2f}"
    return row | {"rectiline": f"{seconds[True]:.3f}", "ratio": ratio}


def exponents(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the exponent of time against size for each family with several sizes."""
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family]
        sizes = np.log([row["size"] for row in own])
        parts = []
        for solver in ("rectiline", *RIVALS):
            taken = np.array([float(row.get(solver) or "nan") for row in own])
            seen = np.isfinite(taken) & (taken > 0)
            if seen.sum() > 1:
                slope = np.polyfit(sizes[seen], np.log(taken[seen]), 1)[0]
                parts.append(f"{solver} {slope:.2f}")
        if parts:
            yield f"{family}: time grows as size to the power " + ", ".join(parts)


def measured(words: list[str], ours: bool, limit: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of cases whose names contain all of the words."""
    if ours and "--csv" not in sys.argv:
        raise SystemExit("--ours: name a file with --csv, results/structure.csv has the rivals")
    wanted = {case.name: lambda c=case: row_of(c, limit, ours) for case in cases()}
    for k in (20, 100):
        wanted[f"portfolio {100 * k} x {k}"] = lambda k=k: portfolio_row(k, ours)
    wanted["panel 50000 x 2000 + 1: median to 1e-9"] = lambda: sharp_panel_row(50_000, 2_000)
    wanted["non-crossing 4000 x 20, 13 levels"] = lambda: non_crossing_row(4_000, 20, 13)
    rows = []
    for name, make in wanted.items():
        if all(word in name for word in words):
            rows.append(make())
            yield rows[-1]
    print("\n".join(exponents(rows)))


if __name__ == "__main__":
    store.run(measured, ("case",), words=[""], ours=False, limit=60.0)
