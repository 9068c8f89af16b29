"""Fit rows that lie on a GPU: seconds, passes and certified gaps, to ``results/gpu.csv``.

    python -m benchmarks.gpu [--small]

Needs PyTorch with CUDA. Data are made on the card: heavy-tailed, heteroscedastic, as in the table
of the guide on rows. The first fit of each kind compiles kernels and is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import rectiline as rl

from . import store

CASES = (
    # rows, columns, dtype, loss; the penalty is Ridge(n), that is C = 1 / n
    (10_000_000, 20, "float64", "pinball"),
    (10_000_000, 20, "float64", "hinge"),
    (100_000_000, 20, "float64", "pinball"),
    (100_000_000, 20, "float64", "hinge"),
    (20_000_000, 100, "float64", "pinball"),
    (20_000_000, 100, "float64", "hinge"),
    (1_000_000_000, 10, "float32", "pinball"),
    (1_000_000_000, 10, "float32", "hinge"),
)
TARGET = 1e-9


def make(n: int, d: int, dtype: str, loss: str) -> tuple[Any, Any]:
    """Return X and y on the card."""
    import torch

    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    X = torch.empty((n, d), dtype=kind, device="cuda").normal_()
    truth = torch.linspace(-1.0, 1.0, d, dtype=kind, device="cuda")
    signal = X @ truth
    noise = torch.empty(n, dtype=kind, device="cuda").normal_()
    noise *= 1.0 + 0.5 * signal.abs()
    y = signal + noise
    if loss == "hinge":
        y = torch.where(y > 0, 1.0, -1.0).to(kind)
    return X, y


def measure(n: int, d: int, dtype: str, loss: str, repeats: int = 3) -> dict[str, Any]:
    """Return one row of the table."""
    import torch

    X, y = make(n, d, dtype, loss)
    curve = rl.losses.Pinball(0.9) if loss == "pinball" else rl.losses.Hinge()
    best = float("inf")
    for turn in range(repeats + 1):
        rows = rl.rows.from_arrays(X, y)
        problem = rl.Problem(rows, loss=curve, penalty=rl.penalties.Ridge(float(n)))
        torch.cuda.synchronize()
        began = time.perf_counter()
        solution = rl.solve(problem, tol=TARGET)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
        if turn:
            best = min(best, seconds)
    proof = solution.certificate
    return {
        "rows": n,
        "columns": d,
        "dtype": dtype,
        "loss": loss,
        "seconds": round(best, 4),
        "passes": solution.passes,
        "kept": round(solution.rows_kept / n, 6),
        "status": solution.status.value,
        "gap": f"{proof.relative_gap:.1e}",
        "rounding": f"{proof.rounding / abs(proof.primal):.1e}",
    }


def rows(small: bool) -> Iterator[dict[str, Any]]:
    """Yield one row for each case; the small ones fit on any card."""
    for n, d, dtype, loss in CASES:
        if not small or n * d <= 300_000_000:
            yield measure(n, d, dtype, loss)


if __name__ == "__main__":
    store.run(rows, ("rows", "columns", "dtype", "loss"), small=False)
