"""
Verifying a certificate
=======================

A fit is saved with its proof. Somebody else, who has the data and one file of ours that contains no
solver, repeats the proof. Then the file and the data are changed, one after the other, to see what
the checker says.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import rectiline as rl

X, y = load_diabetes(return_X_y=True)
problem = rl.Problem(X, y, loss=rl.losses.Pinball(0.9), penalty=rl.penalties.Ridge(1e-3))
solution = rl.solve(problem, tol=1e-8)
file = Path(tempfile.mkdtemp()) / "fit.rlcert"
solution.save(file)
print(f"{file.stat().st_size:,} bytes")

# %%
# The checker streams over the data once. With ``exact=True`` it computes in rational numbers.

print(rl.verify.sentence(rl.verify.check(file, [(X, y)])))
print(rl.verify.sentence(rl.verify.check(file, [(X, y)], True)))

# %%
# Other data, or a changed file, are refused with a reason.

other = y.copy()
other[0] += 1e-6
try:
    rl.verify.check(file, [(X, other)])
except rl.verify.Refused as reason:
    print("other data:  ", reason)

broken = bytearray(file.read_bytes())
broken[len(broken) // 2] ^= 1
file.with_suffix(".bad").write_bytes(broken)
try:
    rl.verify.check(file.with_suffix(".bad"), [(X, y)])
except rl.verify.Refused as reason:
    print("changed file:", reason)

# %%
# The gap grows with any change of the coefficients: what a certificate says about answers that
# are wrong by a little.

scales = np.geomspace(1e-8, 1e-1, 15)
rng = np.random.default_rng(0)
step = rng.standard_normal(10) * np.abs(solution.coef)
gaps = [
    problem.certify(solution.coef + s * step, solution.intercept, solution.dual).relative_gap
    for s in scales
]
figure, ax = plt.subplots(figsize=(6, 3.6))
ax.loglog(scales, gaps, "o-")
ax.set(xlabel="relative change of the coefficients", ylabel="certified relative gap")
figure.tight_layout()
plt.show()
