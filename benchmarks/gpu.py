"""Fit rows that lie on a GPU and print seconds, passes and certified gaps.

    python -m benchmarks.gpu [--small]

Needs PyTorch with CUDA. Data are made on the card: heavy-tailed, heteroscedastic, as in the table
of the guide on rows. The first fit of each kind compiles kernels and is not counted.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import rectiline as rl

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


def measure(n: int, d: int, dtype: str, loss: str, repeats: int = 3) -> str:
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
    return (
        f"{n:>13,} x {d:<4} {dtype} {loss:8} {best:8.3f} s  passes {solution.passes}  "
        f"kept {solution.rows_kept / n:.3%}  {solution.status}  gap {proof.relative_gap:.1e}  "
        f"rounding {proof.rounding / abs(proof.primal):.1e}"
    )


def main(argv: list[str]) -> int:
    """Print the table."""
    for n, d, dtype, loss in CASES:
        if "--small" in argv and n * d > 300_000_000:
            continue
        try:
            print(measure(n, d, dtype, loss), flush=True)
        except Exception as error:  # the next case may still tell something
            print(f"{n:>13,} x {d:<4} {dtype} {loss:8} failed: {type(error).__name__}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
