"""
Quantiles that do not cross
===========================

Quantiles fitted one by one may cross where data are thin: on forty of Engel's households two lines
change places before the end of the data. Fitted together under linear constraints they keep their
order everywhere in the convex hull of the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from rectiline.datasets import load_engel
from rectiline.estimators import QuantileRegressor
from rectiline.reports import QuantileDisplay

X, y = load_engel(return_X_y=True)
rows = np.random.default_rng(0).permutation(len(y))[:40]
X, y = X[rows], y[rows]
levels = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95]
ends = np.array([[X.min()], [X.max()]])

# %%
# On the left every quantile has its own problem; on the right all of them are one problem.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 4), sharey=True)
for ax, together in ((left, False), (right, True)):
    model = QuantileRegressor(quantile=levels, alpha=0, non_crossing=together).fit(X, y)
    QuantileDisplay.from_estimator(model, X, y, ax=ax)
    crossing = np.diff(model.predict(ends), axis=1).min()
    ax.set_title(f"{'together' if together else 'one by one'}: smallest step {crossing:.1f}")
    print(f"objective {np.sum([p.primal for p in np.atleast_1d(model.certificate_)]):.3f}")
figure.tight_layout()
plt.show()
