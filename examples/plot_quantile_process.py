"""
Coefficients along the quantiles, with intervals
================================================

Rich households spend a smaller part of an additional franc on food, and the spread grows with
income. Both are seen in the slope of the quantiles: it rises from 0.4 to 0.7. The band is a
pointwise 95 % interval by the method of the standard errors "nid" (Hendricks and Koenker 1992);
the line is least squares.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import load_engel

X, y = load_engel(return_X_y=True)
levels = np.linspace(0.05, 0.95, 19)
model = rl.QuantileRegressor(quantile=levels, alpha=0).fit(X, y)
bands = np.array([table.interval for table in model.summary(X, y, "nid")])  # (level, term, end)

# %%
# A test of equal slopes at the quartiles agrees with the picture.

quartiles = rl.QuantileRegressor(quantile=[0.25, 0.5, 0.75], alpha=0).fit(X, y)
print(rl.inference.equal_slopes(quartiles, X, y))

# %%

least_squares = rl.PLQRegressor("squared_error", penalty=None).fit(X, y)
figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
left.plot(X[:, 0], y, "k.", markersize=3)
line = np.array([[400.0], [2500.0]])
left.plot(line[:, 0], model.predict(line)[:, ::3], color="C0", linewidth=0.9)
left.set(xlabel="income", ylabel="food expenditure", xlim=(300, 2600), ylim=(200, 1800))
right.fill_between(levels, bands[:, 1, 0], bands[:, 1, 1], alpha=0.3)
right.plot(levels, model.coef_[:, 0], "o-", label="slope of the quantile")
right.axhline(least_squares.coef_[0], color="k", linestyle="--", label="least squares")
right.set(xlabel="quantile", ylabel="slope of income")
right.legend()
figure.tight_layout()
plt.show()
