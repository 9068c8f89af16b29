"""
Quantiles that do not cross
===========================

Quantiles fitted one by one may cross where data are thin: on 25 of Engel's households the line of
a higher quantile falls below that of a lower one before the end of the data. Fitted together under
linear constraints they keep their order everywhere in the convex hull of the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from rectiline.datasets import load_engel
from rectiline.estimators import QuantileRegressor

X, y = load_engel(return_X_y=True)
rows = np.random.default_rng(18).permutation(len(y))[:25]
X, y = X[rows], y[rows]
levels = [0.1, 0.3, 0.5, 0.7, 0.9]
grid = np.linspace(X.min(), X.max(), 200)[:, None]

# %%
# On the left every quantile has a problem of its own, and some of them cross (red). On the right
# all of them are one problem: the order holds, and the sum of the pinball losses is hardly larger.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 4), sharey=True)
for ax, together in ((left, False), (right, True)):
    model = QuantileRegressor(quantile=levels, alpha=0, non_crossing=together).fit(X, y)
    lines = model.predict(grid)
    ax.plot(X, y, "o", color="0.6", markersize=4)
    for k, level in enumerate(levels):
        ax.plot(grid, lines[:, k], color=plt.cm.viridis(0.85 * k / 4), label=f"{level:g}")
    step = np.diff(lines, axis=1)
    crossed = step.min(axis=1) < -1e-9 * np.ptp(y)
    ax.fill_between(
        grid[:, 0], lines.min(axis=1), lines.max(axis=1), where=crossed, color="C3", alpha=0.3
    )
    ax.set(xlabel="income", title="fitted together" if together else "fitted one by one")
    total = np.sum([proof.primal for proof in np.atleast_1d(model.certificate_)])
    print(f"{ax.get_title()}: lines cross on {crossed.mean():.0%} of the range")
    print(f"smallest step between lines {step.min():.1f}, sum of the mean losses {total:.2f}")
left.set_ylabel("food expenditure")
right.legend(title="quantile")
figure.tight_layout()
plt.show()
