"""
The newsvendor: when too little costs more than too much
========================================================

A bakery decides in the morning how many loaves to bake. A loaf too many costs its flour, 1; a loaf
too few costs the margin of a sale, 4. The decision that costs least on average is not the
expected demand but its quantile at 4 / (4 + 1) = 0.8, and it can be fitted directly with the cost
as the loss.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import make_demand

X, y = make_demand(800)
train, test = slice(0, 500), slice(500, None)
cost = rl.losses.Asymmetric(over=1.0, under=4.0)

# %%
# The loss is a parameter of the model. The penalty is switched off: three columns need none.

plans = {
    "mean (least squares)": rl.PLQRegressor("squared_error", penalty=None),
    "median (absolute)": rl.PLQRegressor("absolute", penalty=None),
    "cost of the decision": rl.PLQRegressor(cost, penalty=None),
}
paid, sold_out = {}, {}
for name, plan in plans.items():
    decision = plan.fit(X[train], y[train]).predict(X[test])
    paid[name] = cost.value(y[test], decision).mean()
    sold_out[name] = np.mean(y[test] > decision)
    print(f"{name:22} {paid[name]:6.2f} per day, sold out on {sold_out[name]:.0%} of the days")

# %%
# Each day's decision against what was asked for. Baking for the mean sells out every second day.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.6), width_ratios=(2, 1))
day = np.arange(60)
left.plot(day, y[test][:60], "k.", label="asked for")
for name in ("mean (least squares)", "cost of the decision"):
    left.plot(day, plans[name].predict(X[test])[:60], label=name)
left.set(xlabel="day", ylabel="loaves")
left.legend()
right.barh(list(paid), list(paid.values()))
right.set(xlabel="cost per day")
figure.tight_layout()
plt.show()
