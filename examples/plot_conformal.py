"""
Intervals that cover, also in small groups
==========================================

Conformal calibration gives prediction intervals with guaranteed coverage over all samples. A group
may still be covered too rarely, if another one is covered more often instead. With ``groups`` each
group is calibrated by itself and has the coverage on its own.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import load_wine_quality

X, y = load_wine_quality(return_X_y=True)
alcohol, acidity = X[:, -1], X[:, [1]]
y = y + np.random.default_rng(0).uniform(-0.5, 0.5, y.size)  # marks are whole numbers: spread them
group = np.where(alcohol > 12, "strong", "other")

# %%
# The model predicts the mark of a wine from its acidity alone. It does not know the alcohol, and
# strong wines have better marks. The shares below are means over twenty splits of 1,599 wines: 500
# to fit, 500 to calibrate, the others to count.

NAMES = ("quantiles", "conformal", "conformal by group")
KINDS = ("all", "other", "strong")


def shares(seed):
    """Return the share covered for each method and each kind of wine, on one split."""
    rows = np.random.default_rng(seed).permutation(y.size)
    train, held, test = rows[:500], rows[500:1000], rows[1000:]
    model = rl.QuantileRegressor(quantile=[0.05, 0.95], alpha=0).fit(acidity[train], y[train])
    calibrated = rl.inference.conformal(model, acidity[held], y[held], coverage=0.9)
    by_group = rl.inference.conformal(
        model, acidity[held], y[held], coverage=0.9, groups=group[held]
    )
    found = []
    for ends in (
        np.sort(model.predict(acidity[test]), axis=1),
        calibrated.predict_interval(acidity[test]),
        by_group.predict_interval(acidity[test], groups=group[test]),
    ):
        covered = (ends[:, 0] <= y[test]) & (y[test] <= ends[:, 1])
        found.append([covered[(group[test] == k) | (k == "all")].mean() for k in KINDS])
    return found


mean = np.mean([shares(seed) for seed in range(20)], axis=0)
for name, (every, _, strong) in zip(NAMES, mean, strict=True):
    print(f"{name:20} covers {every:.1%} of all wines, {strong:.1%} of strong ones")

# %%

figure, ax = plt.subplots(figsize=(7, 3.6))
for k, name in enumerate(NAMES):
    bars = ax.bar(np.arange(3) + 0.27 * (k - 1), mean[k], width=0.27, label=name)
    ax.bar_label(bars, fmt="{:.0%}", fontsize=8)
ax.axhline(0.9, color="k", linewidth=0.8)
share = np.mean(group == "strong")
ax.set_xticks(range(3), ["all wines", "up to 12 % alcohol", f"strong wines ({share:.0%} of all)"])
ax.set(ylabel="share covered on new wines", ylim=(0.7, 1.0))
ax.legend(loc="upper left", ncols=3, fontsize=8)
figure.tight_layout()
plt.show()
