"""
Few columns out of a thousand
=============================

The breast cancer data have 30 measurements of cells. We add 970 columns that mean nothing: shuffled
copies of the real ones, as a stand-in for genes that have nothing to do with a disease. A support
vector machine with an L1 penalty has to find its way among 1,000 columns with 200 samples, and
since the shuffled columns are known, its mistakes can be counted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import rectiline as rl

X, y = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
rows = rng.permutation(len(y))
fake = np.column_stack([rng.permutation(X[:, j % 30]) for j in range(970)])
wide = StandardScaler().fit_transform(np.column_stack([X, fake]))
train, test = rows[:200], rows[200:]

# %%
# A path of strengths from "nothing is used" down, each point with a certified gap.

path = rl.path(rl.Problem(wide[train], y[train], "hinge", rl.penalties.L1(1.0)), n_strengths=25)
coef = path.coefs
accuracy = [
    np.mean((wide[test] @ b + b0 > 0) == (y[test] > 0)) for b, b0 in zip(coef, path.intercepts)
]
used = coef != 0
print(f"largest certified gap along the path: {max(s.certificate.relative_gap for s in path):.1e}")

# %%
# Real columns enter first. When the strength becomes small, meaningless ones follow and the
# accuracy on new cells falls.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
left.semilogx(path.strengths, used[:, :30].sum(axis=1), label="real columns used")
left.semilogx(path.strengths, used[:, 30:].sum(axis=1), label="shuffled columns used")
left.invert_xaxis()
left.set(xlabel="strength", ylabel="columns")
left.legend()
right.semilogx(path.strengths, accuracy)
right.invert_xaxis()
right.set(xlabel="strength", ylabel="accuracy on 369 new samples")
figure.tight_layout()
plt.show()
