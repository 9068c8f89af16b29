"""
Rows on a GPU
=============

Tensors of PyTorch are a source of rows like any other. The passes over them run where they are:
only sums and the few rows near a kink come back. Without a GPU the same lines run on the
processor, as they did when this page was built if it says so below.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl

try:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
except ImportError:  # the extra [gpu] is not installed: arrays do the same
    torch, device = None, "numpy"
print(f"rows are on: {device}")

# %%
# Data of growing size, made where they are used.


def make(n, d=20):
    """Return rows and targets with heavy tails."""
    if torch is None:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        return X, X[:, 0] + rng.standard_t(3, n)
    draw = torch.Generator(device=device).manual_seed(0)
    X = torch.randn((n, d), generator=draw, device=device, dtype=torch.float64)
    noise = torch.randn((n, 4), generator=draw, device=device, dtype=torch.float64)
    heavy = noise[:, 0] / (noise[:, 1:] ** 2).mean(dim=1).sqrt()
    return X, X[:, 0] + heavy


rl.solve(rl.Problem(rl.rows.of(*make(1000)), loss="absolute", penalty="l2"))  # warm up
sizes = [20_000, 60_000, 200_000] if device != "cuda" else [10**5, 10**6, 10**7]
seconds, gaps = [], []
for n in sizes:
    X, y = make(n)
    problem = rl.Problem(
        rl.rows.of(X, y), loss=rl.losses.Pinball(0.9), penalty=rl.penalties.Ridge(1.0)
    )
    start = time.perf_counter()
    solution = rl.solve(problem, tol=1e-6)
    seconds.append(time.perf_counter() - start)
    gaps.append(solution.certificate.relative_gap)
    print(f"{n:>10,} rows: {solution.passes} passes, gap {gaps[-1]:.1e}")

# %%

figure, ax = plt.subplots(figsize=(6, 3.6))
ax.loglog(sizes, seconds, "o-")
ax.set(xlabel="rows", ylabel="seconds", title=f"quantile 0.9 on 20 columns, {device}")
figure.tight_layout()
plt.show()
