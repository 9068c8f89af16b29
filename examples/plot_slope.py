"""
Slope: sorted strengths against false discoveries
=================================================

An L1 penalty has one strength for all coefficients. Slope has the largest strength for the largest
coefficient, a smaller one for the next, and so on, with strengths chosen so that the share of false
discoveries stays near a level q (Bogdan et al. 2015; exact for orthogonal columns, as here). 40
columns out of 200 matter, half of them weakly.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl

rng = np.random.default_rng(1)
n, d = 400, 200
X = np.linalg.qr(rng.standard_normal((n, d)))[0]
true = np.zeros(d)
true[:20], true[20:40] = 5.0, 3.3
y = X @ true + rng.standard_normal(n)

# %%
# Slope at three levels q, and the L1 penalty at the largest of the strengths of Slope.


def found(penalty):
    """Return which columns a fit uses."""
    problem = rl.Problem(X, y, "squared_error", penalty, fit_intercept=False)
    return rl.solve(problem, tol=1e-6).coef != 0


models = {f"Slope, q = {q}": rl.penalties.Slope.bh(d, q=q) for q in (0.05, 0.2, 0.5)}
models["L1"] = rl.penalties.L1(float(models["Slope, q = 0.05"].strengths[0]))
right, wrong = [], []
for name, penalty in models.items():
    chosen = found(penalty)
    right.append(chosen[:40].sum())
    wrong.append(chosen[40:].sum())
    share = wrong[-1] / max(chosen.sum(), 1)
    print(f"{name:16} {right[-1]:2d} of 40 found, {wrong[-1]:2d} false ({share:.0%})")

# %%
# The penalties as sequences of strengths, and what they find.

figure, (left, bars) = plt.subplots(ncols=2, figsize=(9, 3.8))
for name, penalty in models.items():
    strengths = getattr(penalty, "strengths", None)
    left.plot(strengths if strengths is not None else np.full(d, penalty.strength), label=name)
left.set(xlabel="rank of the coefficient", ylabel="strength")
left.legend()
bars.barh(list(models), right, label="true")
bars.barh(list(models), wrong, left=right, label="false")
bars.set(xlabel="columns found")
bars.legend()
figure.tight_layout()
plt.show()
