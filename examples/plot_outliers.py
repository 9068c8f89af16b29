"""
Outliers: stack loss and the District of Columbia
=================================================

Least squares follows whatever is far away. A Huber loss grows linearly far away, so that each
sample has bounded influence; the absolute loss grows linearly everywhere. Two classic data sets
show by how much this changes the answer, and which samples are responsible.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import load_stackloss, load_statecrime

losses = ["squared_error", "huber", "absolute"]

# %%
# A plant on 21 days. Days 1, 3, 4 and 21 are known to be odd; the absolute loss passes through
# some days exactly and leaves these four far away.

X, y = load_stackloss(return_X_y=True, as_frame=True)
for loss in losses:
    model = rl.PLQRegressor(loss, penalty=None).fit(X, y)
    error = np.abs(y - model.predict(X))
    worst = np.sort(np.argsort(-error)[:4]) + 1
    print(f"{loss:14} {model.coef_.round(2)}, largest residuals on days {worst}")

# %%
# Murder rates of 51 states against single-parent families. The District of Columbia is a city.

crime = load_statecrime()
single = crime.data[:, [crime.feature_names.index("single")]]
line = np.array([[20.0], [62.0]])
figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
left.plot(single[:, 0], crime.target, "k.")
for name in ("District of Columbia", "Louisiana"):
    k = int(np.flatnonzero(crime.state == name)[0])
    left.annotate(
        name,
        (single[k, 0], crime.target[k]),
        xytext=(-10, -12),
        textcoords="offset points",
        ha="right",
        fontsize="small",
    )
for loss in losses:
    model = rl.PLQRegressor(loss, penalty=None).fit(single, crime.target)
    left.plot(line[:, 0], model.predict(line), label=f"{loss}: slope {model.coef_[0]:.2f}")
left.set(xlabel="families of single parents, %", ylabel="murders per 100,000")
left.legend()
rl.reports.LossDisplay.from_losses(
    [rl.losses.SquaredError(), rl.losses.Huber(1.0), rl.losses.Absolute()], span=(-3, 3), ax=right
)
figure.tight_layout()
plt.show()
