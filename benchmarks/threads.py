"""What threads buy: products, passes, Newton matrices, certificates, and fits of many problems.

    python -m benchmarks.threads                       # 4,000,000 rows, 1 2 4 8 16 threads, minutes
    python -m benchmarks.threads --suites passes --rows 500_000 --threads 1 2

Rows go to ``results/threads.csv``, one per operation: the least wall seconds of some repeats with
each number of threads, and whether all numbers of threads gave equal bits. Linear algebra of
NumPy stays on one thread, so that only our own threads are measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import sparse as sp

import rectiline as rl
from rectiline import _core
from rectiline.backends import Design

from . import tables
from .passes import LOSSES, made

Work = Callable[[int], Any]  # of a number of threads; returns what must not depend on it
COUNTS = (1, 2, 4, 8, 16)
COSTS = (1, 10_000)  # of the losses, over the number of rows
PATIENCE = 1.0  # seconds for the repeats of one number of threads


def products(n: int) -> Iterator[tuple[str, Work]]:
    """Yield products with dense and sparse X, plain and in twofold arithmetic."""
    rng = np.random.default_rng(0)
    shape = f"{n} x 20"
    dense = Design(rng.standard_normal((n, 20)))
    b, g = np.linspace(-1, 1, 20), rng.standard_normal(n)
    yield f"X b, {shape}", lambda t: dense.dot(b)
    yield f"X' g, {shape}", lambda t: dense.tdot(g)
    yield f"X b and X' g, {shape}", lambda t: np.concatenate(dense.both(b, g))
    yield f"X b twofold, {shape}", lambda t: np.concatenate(_core.twofold_dot(dense.view, b))
    yield f"X' g twofold, {shape}", lambda t: np.concatenate(_core.twofold_tdot(dense.view, g))
    for d in (1000, 100_000):
        m, each = n // 2, 20
        values, columns = rng.standard_normal(m * each), rng.integers(0, d, (m, each))
        pointers = np.arange(0, m * each + 1, each)
        X = sp.csr_array((values, np.sort(columns).ravel().astype(np.int32), pointers), (m, d))
        sparse, c = Design(X), rng.standard_normal(d)
        u, name = g[:m], f"CSR {m} x {d}"
        yield f"X b, {name}", lambda t, of=sparse, c=c: of.dot(c)
        yield f"X' g, {name}", lambda t, of=sparse, u=u: of.tdot(u)


def solves(X: Any, y: Any, loss: str, solver: str, cost: float, tol: float) -> Work:
    """Return a certified solve of a fresh problem."""

    def work(threads: int) -> Any:
        problem = rl.Problem(X, y, loss=LOSSES[loss], penalty=rl.penalties.Ridge(len(y) / cost))
        found = rl.solve(problem, solver, tol=tol)
        assert found.status == "solved", found.status
        return np.concatenate([found.coef, [found.intercept], found.dual.sample])

    return work


def passes(n: int) -> Iterator[tuple[str, Work]]:
    """Yield fits by `passes`."""
    for d, rows in ((20, n), (100, n // 4)):
        for losses in (("hinge", "squared_hinge"), ("pinball", "huber")):
            X, y = made(rows, d, losses[0])
            for loss in losses:
                for cost in COSTS if d == 20 else COSTS[1:]:
                    name = f"passes, {loss} C={cost}/n, {rows} x {d}"
                    yield name, solves(X, y, loss, "passes", cost, 1e-9)


def newton(n: int) -> Iterator[tuple[str, Work]]:
    """Yield fits by `newton` (`huber`: all rows are in its matrices), and a certificate."""
    X, y = made(n // 8, 100, "huber")
    for loss in ("huber", "pinball"):
        name = f"newton, {loss}, {n // 8} x 100"
        yield name, solves(X, y, loss, "newton", 10_000, 1e-6)
    problem = rl.Problem(X, y, loss=LOSSES["huber"], penalty=rl.penalties.Ridge(1.0))
    found = rl.solve(problem, "newton", tol=1e-6)

    def certify(threads: int) -> Any:
        fresh = rl.Problem(X, y, loss=LOSSES["huber"], penalty=rl.penalties.Ridge(1.0))
        proof = fresh.certify(found)
        return np.array([proof.primal, proof.gap])

    yield f"Problem and certify, {n // 8} x 100", certify


def fits(n: int) -> Iterator[tuple[str, Work]]:
    """Yield fits of estimators that consist of several problems, by `n_jobs`."""
    m = n // 200
    X, y = made(m, 50, "hinge")

    def search(threads: int) -> Any:
        model = rl.PLQClassifierCV("hinge", cv=16, n_jobs=threads).fit(X, y)
        return np.concatenate([model.coef_.ravel(), model.cv_results_["mean_test_score"]])

    yield f"16 folds of a search, {m} x 50", search


SUITES = {"products": products, "passes": passes, "newton": newton, "fits": fits}


def bits(found: Any) -> bytes:
    """Return the bytes of an array."""
    return np.ascontiguousarray(found, dtype=np.float64).tobytes()


def seconds(work: Work, threads: int) -> tuple[float, bytes]:
    """Return the least seconds of a few runs, and the bits of the result."""
    least, spent, found = np.inf, 0.0, b""
    for repeat in range(20):
        rl.set_threads(threads)
        began = time.perf_counter()
        result = work(threads)
        took = time.perf_counter() - began
        least, spent = min(least, took), spent + took
        if repeat == 0:
            found = bits(result)
        if spent > (PATIENCE if repeat else 3 * PATIENCE):
            break
    return least, found


def measured(
    suites: list[str], rows: int, threads: list[int], filter: str
) -> Iterator[dict[str, str]]:
    """Yield a row for each operation of the suites whose name contains the text."""
    for suite in suites:
        for operation, work in SUITES[suite](rows):
            if filter not in operation:
                continue
            found = [seconds(work, count) for count in threads]
            took = {f"seconds_{t}": f"{one:.4f}" for t, (one, _) in zip(threads, found)}
            equal = all(one == found[0][1] for _, one in found)
            yield {"operation": operation, **took, "bits": "equal" if equal else "different"}


if __name__ == "__main__":
    tables.run(
        measured,
        ("operation",),
        suites=list(SUITES),
        rows=4_000_000,
        threads=list(COUNTS),
        filter="",
    )
