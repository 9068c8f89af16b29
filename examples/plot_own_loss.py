"""
A loss of your own
==================

A loss is a curve made of lines and parabolas. Here is one for a doctor who plans the length of
appointments: too long wastes time, too short is worse, up to five minutes either way do not matter,
and very long overruns are capped in how fast they grow. It is drawn, fitted and certified like any
other, because every such curve is a sum of two kinds of units.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl

# %%
# Pieces ``a t^2 + b t + c`` of the residual t (needed minus planned), left to right between knots.

own = rl.losses.PiecewiseLQ(
    knots=[-5.0, 5.0, 15.0],
    pieces=[(0, -0.5, -2.5), (0, 0, 0), (0.1, -1.0, 2.5), (0, 2.0, -20.0)],
)
units = own.units
print(f"{units.n_relu} relu units and {units.n_rehu} rehu units")

# %%
# Visits take longer with age, and longer visits are less predictable.

rng = np.random.default_rng(0)
age = rng.uniform(20, 90, 600)
needed = 8 + 0.15 * age + rng.gamma(2.0, 1.0 + 0.05 * age)
X = age[:, None]
models = {
    "own loss": rl.PLQRegressor(own, penalty=None),
    "absolute": rl.PLQRegressor("absolute", penalty=None),
    "squared_error": rl.PLQRegressor("squared_error", penalty=None),
}
for name, model in models.items():
    model.fit(X, needed)
    paid = own.value(needed, model.predict(X)).mean()
    print(f"{name:14} costs {paid:.3f} a visit, relative gap {model.certificate_.relative_gap:.0e}")

# %%

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
rl.reports.LossDisplay.from_losses([own], span=(-15, 25), ax=left)
left.set(xlabel="needed minus planned, minutes")
right.plot(age, needed, ".", color="0.7")
line = np.array([[20.0], [90.0]])
for name, model in models.items():
    right.plot(line[:, 0], model.predict(line), label=name)
right.set(xlabel="age", ylabel="minutes")
right.legend()
figure.tight_layout()
plt.show()
