"""
Losses for two classes
======================

Five losses of the margin, and how fast the certified gap closes for each of these losses.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import rectiline as rl
from rectiline.estimators import PLQClassifier
from rectiline.reports import ConvergenceDisplay, LossDisplay

X, y = load_breast_cancer(return_X_y=True)
losses = [rl.losses.Hinge(), rl.losses.SquaredHinge(), rl.losses.SmoothedHinge()]
figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 4))
LossDisplay.from_losses(losses, span=(-1.5, 2.0), ax=left)
for loss in losses:
    model = PLQClassifier(loss).fit(X, y)
    ConvergenceDisplay.from_estimator(model, ax=right, labels=[repr(loss)])
figure.tight_layout()
plt.show()
