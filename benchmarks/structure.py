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
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.io import mmwrite

import rectiline as rl

from . import qp
from .store import write_table

TOL = 1e-6
MOST_RIVAL_ROWS = 300_000  # larger cases go to HiGHS's interior method and to quantreg alone


@dataclass
class Units:
    """Rows of a program with the dual box and the softness of each, collected piece by piece."""

    pieces: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, rows: Any, target: Any, low: float, high: float, soft: float = 0.0) -> Units:
        n = rows.shape[0]
        values = (np.broadcast_to(np.asarray(v, float), n) for v in (target, low, high, soft))
        self.pieces.append((sp.csr_matrix(rows), *values))
        return self

    def stacked(self) -> tuple[Any, ...]:
        rows = sp.vstack([piece[0] for piece in self.pieces], format="csr")
        return rows, *(np.concatenate([p[k] for p in self.pieces]) for k in range(1, 5))

    def value(self, b: np.ndarray) -> float:
        rows, target, low, high, soft = self.stacked()
        u = rows @ b - target
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.where(soft > 0, np.clip(u / soft, low, high), np.where(u > 0, high, low))
        return math.fsum(np.where(u == 0, 0.0, a * u - 0.5 * soft * a * a))


@dataclass(frozen=True)
class Case:
    """How we state a problem, and the same one as units; `size` is what time is fitted to."""

    name: str
    size: int
    ours: Callable[[], rl.Problem]
    units: Callable[[], Units]
    family: str = ""


# ---- losses: what we call them, and their units on rows ------------------------------------------

LOSSES: dict[str, tuple[Any, Callable[[Units, Any, Any], Units]]] = {
    "median": ("absolute", lambda u, X, y: u.add(X, y, -1.0, 1.0)),
    "quantile 0.9": (
        rl.losses.Pinball(0.9),
        lambda u, X, y: u.add(X, y, -0.9, 1.0 - 0.9),
    ),
    "huber": (rl.losses.Huber(1.0), lambda u, X, y: u.add(X, y, -1.0, 1.0, 1.0)),
    "squared": ("squared_error", lambda u, X, y: u.add(X, y, -math.inf, math.inf, 1.0)),
}


# ---- families -----------------------------------------------------------------------------------


def panel(n: int, firms: int, years: int, loss: str, effects: str) -> Case:
    """Columns, firms and years: two columns, or five beside 100,000 firms."""

    def data() -> tuple[Any, np.ndarray]:
        rng = np.random.default_rng(0)
        k = 5 if n > 500_000 else 2
        firm, year, x = (
            rng.integers(firms, size=n),
            rng.integers(years, size=n),
            rng.normal(size=(n, k)),
        )
        y = x.sum(1) + 2 * rng.normal(size=firms)[firm] + rng.standard_t(3, n)
        y += rng.normal(size=years)[year]
        at, ones = np.arange(n), np.ones(n)
        parts = [sp.csr_matrix(x), sp.csr_matrix((ones, (at, firm)), shape=(n, firms))]
        if years > 1:  # the first year is the reference
            later = year > 0
            parts.append(
                sp.csr_matrix((ones[later], (at[later], year[later] - 1)), shape=(n, years - 1))
            )
        return sp.hstack(parts, format="csr"), y

    def strengths(X: Any) -> np.ndarray:
        weight = np.zeros(X.shape[1])
        weight[X.shape[1] - firms - (years - 1) : X.shape[1] - (years - 1)] = 1.0
        return weight

    def ours() -> rl.Problem:
        X, y = data()
        weight, none = strengths(X), np.zeros(X.shape[1])
        penalty = {
            "free": None,
            "L1": rl.penalties.L1(1.0, weights=weight),
            "ridge": rl.penalties.Columnwise(none, weight),
        }[effects]
        return rl.Problem(X, y, LOSSES[loss][0], penalty, fit_intercept=False)

    def units() -> Units:
        X, y = data()
        found = LOSSES[loss][1](Units(), X, y)
        priced = sp.identity(X.shape[1], format="csr")[strengths(X) > 0]
        if effects == "L1":
            found.add(priced, 0.0, -1.0, 1.0)
        if effects == "ridge":
            found.add(priced, 0.0, -math.inf, math.inf, 1.0)
        return found

    name = f"panel {n} x {firms} + {years}: {loss}, effects {effects}"
    return Case(name, n, ours, units, f"panel {loss}, effects {effects}")


def _noisy(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.sin(np.linspace(0, 9, n)) + 0.3 * rng.standard_t(3, n)


def _fused(name: str, family: str, y: np.ndarray, loss: str, penalty: Any) -> Case:
    eye = sp.identity(y.size, format="csr")

    def units() -> Units:
        rows = penalty.matrix(y.size)
        return LOSSES[loss][1](Units(), eye, y).add(rows, 0.0, -penalty.strength, penalty.strength)

    def ours() -> rl.Problem:
        return rl.Problem(eye, y, LOSSES[loss][0], penalty, fit_intercept=False)

    return Case(name, y.size, ours, units, family)


def trend(n: int, order: int, loss: str) -> Case:
    strength = (5.0, 5.0, 20.0)[order - 1]
    penalty = rl.penalties.Fused(strength, order=order)
    family = f"trend of order {order}, {loss}"
    return _fused(f"{family}: n = {n}", family, _noisy(n), loss, penalty)


def grid(side: int, order: int, loss: str) -> Case:
    at = np.arange(side * side).reshape(side, side)
    edges = np.vstack(
        [
            np.column_stack([at[:, 1:].ravel(), at[:, :-1].ravel()]),
            np.column_stack([at[1:].ravel(), at[:-1].ravel()]),
        ]
    )
    rng = np.random.default_rng(2)
    steps = np.add.outer(np.arange(side) > side / 3, np.arange(side) > side / 2)
    y = (steps + 0.3 * rng.standard_t(3, (side, side))).ravel()
    penalty = rl.penalties.Fused(1.0, order=order, graph=edges)
    family = f"grid of order {order}, {loss}"
    return _fused(f"{family}: {side} x {side}", family, y, loss, penalty)


def spline(n: int, knots: int, loss: str) -> Case:
    """Cubic B-splines with a ridge on second differences of their coefficients."""
    from scipy.interpolate import BSpline

    def data() -> tuple[Any, np.ndarray, Any]:
        rng = np.random.default_rng(3)
        x = np.sort(rng.random(n))
        places = np.concatenate([[0.0] * 3, np.linspace(0, 1, knots - 2), [1.0] * 3])
        X = sp.csr_matrix(BSpline.design_matrix(x, places, 3))
        D = rl.penalties.Fused(1.0, order=2).matrix(X.shape[1])
        return X, np.sin(20 * x * x) + 0.3 * rng.standard_t(3, n), D

    def ours() -> rl.Problem:
        X, y, D = data()
        losses = [rl.losses.get(LOSSES[loss][0]), rl.losses.SquaredError()]
        return rl.Problem(
            sp.vstack([X, D], format="csr"),
            np.append(y, np.zeros(D.shape[0])),
            losses,
            None,
            fit_intercept=False,
            loss_index=np.repeat([0, 1], [n, D.shape[0]]),
        )

    def units() -> Units:
        X, y, D = data()
        return LOSSES[loss][1](Units(), X, y).add(D, 0.0, -math.inf, math.inf, 1.0)

    return Case(f"spline {n} x {knots}: {loss}", n, ours, units, f"spline {loss}")


def cases() -> Iterator[Case]:
    """Yield all cases but portfolios, which are those of `qp`."""
    for n, firms, years in ((20_000, 2_000, 1), (200_000, 20_000, 10), (1_000_000, 100_000, 20)):
        for loss in LOSSES:
            yield panel(n, firms, years, loss, "free")
        for effects in ("L1", "ridge"):
            yield panel(n, firms, years, "median", effects)
    for n in (3_000, 20_000, 100_000):
        for order in (1, 2, 3):
            yield trend(n, order, "quantile 0.9")
        for loss in ("huber", "squared"):
            yield trend(n, 2, loss)
    for side in (100, 300):
        for order, loss in ((1, "median"), (1, "squared"), (2, "median")):
            yield grid(side, order, loss)
    for n, knots in ((20_000, 200), (200_000, 2_000)):
        for loss in ("median", "huber"):
            yield spline(n, knots, loss)


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
