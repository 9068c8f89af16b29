"""
Top-coded targets: the mean is biased, quantiles are not
========================================================

Surveys often record large amounts as "1,000 or more". A mean is biased by that, whatever the
sample size. A quantile is not, as long as it lies below the cap: replacing a value above the
fitted quantile by another one above it does not change the fit. We cap Engel's food expenditures
ourselves, so that the truth is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import load_engel

X, y = load_engel(return_X_y=True)
cap = 1200.0
capped = np.minimum(y, cap)
print(f"{np.mean(y > cap):.0%} of the households are capped")

# %%
# Least squares loses a fifth of its slope. The lower quartile lies below the cap but for the
# richest households and loses least. The upper quartile is the trap: for large incomes it lies
# above the cap, where nothing is known about it.

models = {
    "least squares": rl.PLQRegressor("squared_error", penalty=None),
    "quantile 0.25": rl.QuantileRegressor(quantile=0.25, alpha=0),
    "quantile 0.75": rl.QuantileRegressor(quantile=0.75, alpha=0),
}
slopes = {
    name: [float(model.fit(X, target).coef_[0]) for target in (y, capped)]
    for name, model in models.items()
}
for name, (full, cut) in slopes.items():
    print(f"{name:14} slope {full:.3f} with all the data, {cut:.3f} with capped data")

# %%
# The way out is to use only rows where the fitted quantile stays below the cap, found by repeating
# the fit (Powell 1986, Buchinsky and Hahn 1998).

inside = np.ones(len(y), dtype=bool)
for _ in range(10):
    upper = rl.QuantileRegressor(quantile=0.75, alpha=0).fit(X[inside], capped[inside])
    inside = upper.predict(X) < cap
print(f"{'repeated fit':14} slope {upper.coef_[0]:.3f} on {inside.sum()} rows")

# %%

line = np.array([[400.0], [2500.0]])
figure, ax = plt.subplots(figsize=(7, 4))
ax.plot(X[:, 0], y, ".", color="0.7", label="not seen")
ax.plot(X[:, 0], capped, "k.", markersize=3, label="seen")
truth = rl.QuantileRegressor(quantile=0.75, alpha=0).fit(X, y)
ax.plot(line[:, 0], truth.predict(line), "k--", label="quantile 0.75, all the data")
naive = models["quantile 0.75"].fit(X, capped)
ax.plot(line[:, 0], naive.predict(line), label="quantile 0.75, capped")
ax.plot(line[:, 0], upper.predict(line), label="quantile 0.75, repeated fit")
ax.axhline(cap, color="0.5", linewidth=0.8)
ax.set(xlabel="income", ylabel="food expenditure", xlim=(300, 2600), ylim=(200, 1700))
ax.legend()
figure.tight_layout()
plt.show()
