"""
Quantiles that do not cross
===========================

Quantiles fitted one by one may cross where data are thin. Fitted together under linear constraints
they keep their order everywhere on the bounding box of the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from rectiline.estimators import QuantileRegressor
from rectiline.reports import QuantileDisplay

rng = np.random.default_rng(4)
X = rng.uniform(0, 1, (40, 1)) ** 2
y = X[:, 0] + (0.1 + 0.4 * X[:, 0]) * rng.standard_normal(40)
levels = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95]

# %%
# On the left every quantile has its own problem; on the right all of them are one problem.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 4), sharey=True)
for ax, together in ((left, False), (right, True)):
    model = QuantileRegressor(quantile=levels, alpha=0, non_crossing=together).fit(X, y)
    QuantileDisplay.from_estimator(model, X, y, ax=ax)
    crossing = np.diff(model.predict(np.array([[0.0], [1.0]])), axis=1).min()
    ax.set_title(f"{'together' if together else 'one by one'}: smallest step {crossing:.3f}")
figure.tight_layout()
plt.show()
