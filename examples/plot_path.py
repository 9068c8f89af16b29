"""
A certified path
================

Coefficients of a robust, sparse regression from the smallest strength with nothing but zeros down.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from rectiline.estimators import PLQRegressorCV
from rectiline.reports import PathDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
scaled = StandardScaler().set_output(transform="pandas").fit_transform(X)

# %%
# Five folds choose the strength; the path on all the data comes with the model.

model = PLQRegressorCV(loss="absolute", penalty="l1").fit(scaled, y)
print(model.path_)
PathDisplay.from_estimator(model)
plt.show()
