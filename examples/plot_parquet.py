"""
Rows that need not fit in memory
================================

Half a million trips in a folder of Parquet files, and the fare that nine trips in ten stay below.
The solver ``passes`` reads the files a few times, block by block: a sample tells which rows are far
from every kink of the loss, and only the others are kept. The certificate is about all rows.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet

import rectiline as rl

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for month in range(5):
    miles = rng.gamma(2.0, 1.5, 100_000)
    night = rng.random(100_000) < 0.3
    rush = rng.random(100_000) < 0.2
    spread = rng.gamma(3.0, 0.4 + 0.2 * miles)
    fare = 3.0 + 2.2 * miles + 1.0 * night + spread * (1.0 + 0.5 * rush)
    table = pa.table({"miles": miles, "night": night, "rush": rush, "fare": fare})
    pa.parquet.write_table(table, folder / f"month{month}.parquet")

# %%
# ``rl.rows`` names the files and the target; nothing is read yet. The problem is like any other.

rows = rl.rows.from_parquet(folder, target="fare")
problem = rl.Problem(rows, loss=rl.losses.Pinball(0.9), penalty=rl.penalties.Ridge(1e-3))
solution = rl.solve(problem, tol=1e-6)
print(solution.certificate)
print(
    f"{solution.passes} passes over {rows.n_rows:,} rows, {solution.rows_kept:,} rows kept at most"
)

# %%
# Several quantiles share their passes: each block is read once for all of them.

levels = [0.1, 0.25, 0.5, 0.75, 0.9]
family = rl.solve_family(
    [rl.Problem(rows, loss=rl.losses.Pinball(q), penalty=rl.penalties.Ridge(1e-3)) for q in levels]
)

# %%

miles = np.linspace(0, 12, 50)
figure, ax = plt.subplots(figsize=(7, 4))
for level, one in zip(levels, family):
    ax.plot(miles, one.intercept + one.coef[0] * miles, label=f"{level:g}")
ax.set(xlabel="miles, by day, no rush", ylabel="fare", title="quantiles of the fare")
ax.legend(title="quantile")
figure.tight_layout()
plt.show()
