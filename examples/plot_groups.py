"""
Selecting groups of columns
===========================

Each of the ten measurements of the diabetes data becomes six columns of a spline, so that its
effect may bend. A penalty on groups decides about measurements and not about single columns of
their splines: a measurement is in the model with its whole curve, or not at all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import SplineTransformer

import rectiline as rl

X, y = load_diabetes(return_X_y=True, as_frame=True)
splines = SplineTransformer(n_knots=4, degree=3, include_bias=False).fit(X)
design = splines.transform(X)
design -= design.mean(axis=0)
owner = np.repeat(np.arange(10), design.shape[1] // 10)

# %%
# From a strong penalty to a weak one: which measurements have a curve?

strengths = np.geomspace(4000, 200, 12)
size = np.zeros((12, 10))
models = []
for k, strength in enumerate(strengths):
    problem = rl.Problem(design, y, rl.losses.Huber(50.0), rl.penalties.GroupLinf(strength, owner))
    models.append(rl.solve(problem))
    size[k] = [np.abs(models[-1].coef[owner == j]).max() for j in range(10)]

# %%
# On the left every line is a measurement. On the right the curves of the model in the middle.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
for j, name in enumerate(X.columns):
    left.plot(strengths, size[:, j], label=name)
left.set_xscale("log")
left.set_xticks([4000, 2000, 1000, 500, 200], ["4000", "2000", "1000", "500", "200"])
left.set_xticks([], minor=True)
left.invert_xaxis()
left.set(xlabel="strength", ylabel="largest coefficient of the group")
left.legend(ncols=2, fontsize="small")
chosen = models[6]
for j in np.flatnonzero(size[6]):
    order = np.argsort(X.iloc[:, j])
    curve = design[:, owner == j] @ chosen.coef[owner == j]
    right.plot(X.iloc[order, j], curve[order], label=X.columns[j])
right.set(xlabel="measurement (scaled)", ylabel="effect")
right.legend()
figure.tight_layout()
plt.show()
