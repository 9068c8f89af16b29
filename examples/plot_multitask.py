"""
Many related tasks: what they share, and when that helps
========================================================

Two sets of tasks on the digits that come with scikit-learn.

*Pairs.* Telling digit i from digit j is a task; there are 45 of them, with a handful of images
each. If each digit had a vector of its own, the coefficients of pair (i, j) would be the difference
of two of ten vectors, so they would lie in a subspace of dimension nine, and sharing finds it.

*Completion.* Every pixel of the lower half of an image is a task, the pixels of the upper half are
the columns. Here all tasks see the same rows, and there is little to gain.

The certificate says how far an answer can be from the optimum, and ``aso_bound_`` how far the model
restricted to the found subspace can be from the best model in *any* subspace of that dimension, a
problem that is not convex.
"""

# %%
# Pairs: six images per task, all the others to test on.

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rectiline.estimators.multitask import MultiTaskRegressor
from rectiline.reports import SubspaceDisplay

digits = load_digits()
X, label = digits.data / 16.0, digits.target
rng = np.random.default_rng(0)
train, test, names = [], [], []
for i, j in combinations(range(10), 2):
    one, other = (rng.permutation(np.flatnonzero(label == k)) for k in (i, j))
    train.append(np.concatenate([one[:3], other[:3]]))
    test.append(np.concatenate([one[3:], other[3:]]))
    names.append(f"{i}{j}")


def sign(rows, name):
    """Return +1 for the second digit of the pair, -1 for the first."""
    return np.where(label[rows] == int(name[1]), 1.0, -1.0)


targets = [sign(rows, name) for rows, name in zip(train, names)]
truth = np.concatenate([sign(rows, name) for rows, name in zip(test, names)])

# %%
# Dimension 45 is no sharing at all: one ridge fit per pair. In between the subspace helps, most at
# nine.

models = {}
for shared_dim in (1, 3, 9, 15, 45):
    model = MultiTaskRegressor(shared_dim=shared_dim, alpha=1.0, beta=0.1, tol=1e-4)
    model.fit([X[rows] for rows in train], targets)
    scores = np.concatenate(model.predict([X[rows] for rows in test]))
    models[shared_dim] = model
    print(
        f"dimension {shared_dim:2d}: {np.mean(scores * truth <= 0):.2%} wrong, certified gap "
        f"{model.certificate_.relative_gap:.0e}, within {model.aso_bound_:.0e} of the best subspace"
    )

# %%
# What the tasks share, and where they lie. Pairs with a digit in common lie on the same side.

models[9].tasks_ = names
SubspaceDisplay.from_estimator(models[9])

# %%
# The shared components are images themselves.

figure, row = plt.subplots(1, 9, figsize=(9, 1.4))
for axis, component in zip(row, models[9].shared_components_):
    axis.imshow(component.reshape(8, 8), cmap="RdBu_r")
    axis.axis("off")

# %%
# Completion: 32 outputs on the same rows. Sharing neither helps nor hurts much.

upper, lower = X.reshape(-1, 8, 8)[:, :4], X.reshape(-1, 8, 8)[:, 4:]
upper, lower = upper.reshape(-1, 32), lower.reshape(-1, 32)
known = rng.permutation(len(X))[:60]
new = np.setdiff1d(np.arange(len(X)), known)
spread = np.mean((lower[new] - lower[known].mean(axis=0)) ** 2)
for shared_dim in (2, 8, 32):
    model = MultiTaskRegressor(shared_dim=shared_dim, alpha=0.1, beta=0.03, tol=1e-4)
    found = model.fit(upper[known], lower[known]).predict(upper[new])
    explained = 1.0 - np.mean((lower[new] - found) ** 2) / spread
    print(f"dimension {shared_dim:2d}: {explained:.3f} of the variance explained")

plt.show()
