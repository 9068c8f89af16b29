"""The solver `passes` on arrays in memory: passes, rows kept, and times in products ``X @ b``.

    python -m benchmarks.passes memory --threads 1 2        # large tables, `newton` beside
    python -m benchmarks.passes crossover --rows 500_000    # smaller ones: where `auto` changes
    python -m benchmarks.passes tables                      # real tables: passes and rows kept
    python -m benchmarks.passes family                      # nine quantiles against one

Rows go to ``results/passes.csv``. Times are wall times, the least of several fits of a fresh
problem (of CPU time where only one thread works, so that a busy machine distorts them less); a
product ``X @ b`` is NumPy's, on one thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import sparse as sp

import rectiline as rl

from . import datasets, machine, store
from .cases import Data
from .process import least_seconds

LOSSES: dict[str, Any] = {
    "hinge": rl.losses.Hinge(),
    "pinball": rl.losses.Pinball(0.9),
    "huber": rl.losses.Huber(1.0),
    "squared_hinge": rl.losses.SquaredHinge(),
}
LARGE = ((4_000_000, 20), (1_000_000, 100))
WIDTHS = (5, 20, 50, 100, 200)  # columns of the tables of `crossover`
TABLES = ("census_kdd", "kddcup99_10pc", "diamonds", "keggundirected", "adult")
COSTS = (1.0, 10_000.0)  # of the losses, over the number of rows
KEYS = ("part", "table", "rows", "columns", "loss", "cost", "threads")
QUANTILES = np.linspace(0.1, 0.9, 9)


def made(n: int, d: int, loss: str) -> tuple[Any, Any]:
    """Return heavy-tailed, heteroscedastic rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X @ np.linspace(-1, 1, d) + rng.standard_t(3, n) * (1.0 + 0.5 * np.abs(X[:, 0]))
    return X, np.where(y > 0, 1.0, -1.0) if "hinge" in loss else y


def fitted(
    X: Any, y: Any, loss: str, cost: float, tol: float, solver: str, threads: int, repeats: int
) -> tuple[Any, float]:
    """Return a certified answer and its seconds."""
    penalty = rl.penalties.Ridge(X.shape[0] / cost)
    clock = time.process_time if threads == 1 else time.perf_counter

    def fit() -> Any:
        problem = rl.Problem(X, y, loss=LOSSES[loss], penalty=penalty)
        return rl.solve(problem, solver, tol=tol)

    rl.set_threads(threads)
    return least_seconds(fit, repeats, clock)


def compared(
    sizes: tuple[tuple[int, int], ...], losses: list[str], tol: float, threads: list[int]
) -> Iterator[dict[str, Any]]:
    """Yield rows with times of `passes` and `newton`, in products with X."""
    for n, d in sizes:
        for loss in losses:
            X, y = made(n, d, loss)
            b = np.linspace(-1, 1, d)
            repeats = 3 if n * d > 10_000_000 else 7
            _, product = least_seconds(lambda X=X, b=b: X @ b, 7)
            for cost in COSTS:
                row = {"rows": n, "columns": d, "loss": loss, "cost": cost}
                for count in threads:
                    found, seconds = fitted(X, y, loss, cost, tol, "passes", count, repeats)
                    row[f"passes_{count}"] = round(seconds / product, 1)
                found_too, seconds = fitted(X, y, loss, cost, tol, "newton", 1, repeats - 1)
                row["newton_1"] = round(seconds / product, 1)
                row |= counters(found, n) | {"newton_status": found_too.status.value}
                yield row


def counters(solution: Any, n: int) -> dict[str, Any]:
    """Return what a solution says about its passes."""
    gap = solution.certificate.relative_gap
    kept = round(solution.rows_kept / n, 4)
    return {
        "passes": solution.passes,
        "kept": kept,
        "gap": f"{gap:.1e}",
        "status": solution.status.value,
    }


def real_tables(tol: float) -> Iterator[dict[str, Any]]:
    """Yield rows about real tables."""
    for name in TABLES:
        regression = name in ("diamonds", "keggundirected")
        for loss in ("pinball", "huber") if regression else ("hinge", "squared_hinge"):
            table = datasets.load(Data("real", name, task="residual" if regression else "margin"))
            X, y = table.X, table.y
            X = X.tocsr() if sp.issparse(X) else X
            for cost in COSTS:
                found, seconds = fitted(X, y, loss, cost, tol, "passes", 1, 1)
                n, d = X.shape
                row = {"table": name, "rows": n, "columns": d, "loss": loss, "cost": cost}
                yield row | {"seconds": round(seconds, 2)} | counters(found, n)


def family(tol: float, threads: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the time of nine quantiles over that of one."""
    X, y = made(1_000_000, 20, "pinball")
    for cost in COSTS:
        penalty = rl.penalties.Ridge(1_000_000 / cost)

        def fit(levels: Any, count: int, penalty: Any = penalty) -> Any:
            first = rl.Problem(X, y, loss=rl.losses.Pinball(levels[0]), penalty=penalty)
            others = [first.with_loss(rl.losses.Pinball(q)) for q in levels[1:]]
            return rl.solve_family([first, *others], tol=tol, n_threads=count)

        for count in threads:
            clock = time.process_time if count == 1 else time.perf_counter
            _, one = least_seconds(partial(fit, [0.9], count), 5, clock)
            found, nine = least_seconds(partial(fit, QUANTILES, count), 3, clock)
            solved = all(each.status == "solved" for each in found)
            row = {"cost": cost, "threads": count, "one": round(one, 3), "nine": round(nine, 3)}
            yield row | {"ratio": round(nine / one, 2), "passes": found[0].passes, "solved": solved}


def measured(
    part: str, threads: list[int], losses: list[str], rows: list[int], columns: list[int]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one part."""
    sizes = tuple((n, d) for d in columns for n in rows if n * d <= 40_000_000)
    parts = {
        "memory": lambda: compared(LARGE, losses, 1e-9, threads),
        "crossover": lambda: compared(sizes, losses, 1e-6, [1]),
        "tables": lambda: real_tables(1e-9),
        "family": lambda: family(1e-9, threads),
    }
    about = machine.describe()
    for row in parts[part]():
        yield {"part": part, "machine": f"{about['cpu']}, {about['cores']} cores", **row}


if __name__ == "__main__":
    store.run(
        measured,
        KEYS,
        part=str,
        threads=[1],
        losses=list(LOSSES),
        rows=[50_000, 200_000, 500_000],
        columns=list(WIDTHS),
    )
