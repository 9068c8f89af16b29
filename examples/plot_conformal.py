"""
Intervals that cover, also in small groups
==========================================

Quantile regressions at 0.05 and 0.95 aim at nine marks out of ten. On new wines they reach this
only if the model is right. Conformal calibration moves the ends of the intervals by an amount
measured on held-out data, which gives the coverage for any model; with ``groups`` it covers each
group by itself.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import load_wine_quality

X, y = load_wine_quality(return_X_y=True)
rng = np.random.default_rng(0)
y = y + rng.uniform(-0.5, 0.5, y.size)  # marks are whole numbers; spread them over their interval
strong = np.where(X[:, -1] > 11.5, "strong", "light")  # alcohol
rows = rng.permutation(y.size)
train, calibrate, test = rows[:120], rows[120:620], rows[620:]

# %%
# Eleven columns on 120 wines: the fitted quantiles follow these wines too closely.

model = rl.QuantileRegressor(quantile=[0.05, 0.95], alpha=0).fit(X[train], y[train])
plain = model.predict(X[test])
split = rl.inference.conformal(model, X[calibrate], y[calibrate], coverage=0.9)
grouped = rl.inference.conformal(
    model, X[calibrate], y[calibrate], coverage=0.9, groups=strong[calibrate]
)
intervals = {
    "quantiles": np.sort(plain, axis=1),
    "conformal": split.predict_interval(X[test]),
    "conformal by group": grouped.predict_interval(X[test], groups=strong[test]),
}

# %%

figure, ax = plt.subplots(figsize=(7, 3.6))
for k, (name, ends) in enumerate(intervals.items()):
    covered = (ends[:, 0] <= y[test]) & (y[test] <= ends[:, 1])
    shares = [covered.mean(), *(covered[strong[test] == g].mean() for g in ("light", "strong"))]
    width = np.mean(ends[:, 1] - ends[:, 0])
    print(f"{name:20} covers {shares[0]:.1%}, strong wines {shares[2]:.1%}, mean width {width:.2f}")
    ax.bar(np.arange(3) + 0.27 * (k - 1), shares, width=0.27, label=name)
ax.axhline(0.9, color="k", linewidth=0.8)
ax.set_xticks(range(3), ["all", "light wines", "strong wines"])
ax.set(ylabel="share covered on new wines", ylim=(0.6, 1.0))
ax.legend(loc="lower left")
figure.tight_layout()
plt.show()
