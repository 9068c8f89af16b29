"""
Expected shortfall: the mean beyond a quantile
==============================================

A quantile of 0.9 is exceeded by one value in ten; it does not show by how much. The expected
shortfall (CVaR) is the mean beyond the quantile. Both are fitted as linear functions on Engel's
households, and then a portfolio is chosen whose shortfall is smallest.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import load_engel, make_returns

X, y = load_engel(return_X_y=True)
model = rl.ExpectedShortfallRegressor(quantile=0.9).fit(X, y)
print(model.summary(X, y))

# %%
# Minimising the shortfall of a portfolio is a quantile regression as well (Bassett, Koenker and
# Kordas 2004): of zero on the returns, with an intercept and a budget.

returns = make_returns(750, 12)
budget = rl.constraints.LinearEquality(np.ones(12), -1.0)
portfolio = rl.QuantileRegressor(
    quantile=0.95, alpha=0, constraints=[budget, rl.constraints.Nonnegative()]
).fit(returns, np.zeros(len(returns)))


def shortfall(shares):
    """Return the mean loss on the worst twentieth of the days."""
    outcome = np.sort(returns @ shares)
    return -outcome[: len(outcome) // 20].mean()


equal = np.full(12, 1 / 12)
print(f"equal shares {shortfall(equal):.2f} %, chosen shares {shortfall(portfolio.coef_):.2f} %")

# %%

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
line = np.array([[400.0], [3000.0]])
left.plot(X[:, 0], y, "k.", markersize=3)
left.plot(line[:, 0], model.predict_quantile(line), label="quantile 0.9")
left.plot(line[:, 0], model.predict(line), label="mean beyond it")
left.set(xlabel="income", ylabel="food expenditure", xlim=(300, 3100), ylim=(200, 2200))
left.legend()
bins = np.linspace(-8, 8, 60)
right.hist(returns @ equal, bins, alpha=0.5, label="equal shares")
right.hist(returns @ portfolio.coef_, bins, alpha=0.5, label="smallest shortfall")
right.set(xlabel="return of a day, %", ylabel="days")
right.legend()
figure.tight_layout()
plt.show()
