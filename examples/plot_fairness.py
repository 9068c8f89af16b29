"""
What fairness costs
===================

A classifier whose decisions may covary with a sensitive column only up to a tolerance: accuracy
against that tolerance.
"""

import matplotlib.pyplot as plt
import numpy as np

from rectiline.estimators import PLQClassifier
from rectiline.reports import FairnessDisplay

rng = np.random.default_rng(0)
group = rng.integers(0, 2, 1000)
X = rng.normal(size=(1000, 5)) + group[:, None] * np.array([1.0, 0.5, 0.0, 0.0, 0.0])
y = (X @ [1.0, 1.0, 1.0, 0.5, 0.0] + rng.normal(size=1000) > 0.75).astype(int)

# %%
# The display fits the classifier at eight tolerances. Every fit is certified, so the curve shows
# the price of the constraint and not of a solver that gave up.

FairnessDisplay.from_estimator(PLQClassifier(C=0.1), X, y, group)
plt.show()
