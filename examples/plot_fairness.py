"""
What fairness costs
===================

Who earns more than 50,000 dollars? The model does not see the sex of a person, but hours, age and
marriage are correlated with it. A constraint bounds how much the decision may covary with sex, and
the curve shows accuracy against that bound.
"""

import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from rectiline.constraints import Fairness
from rectiline.datasets import load_adult_sample
from rectiline.estimators import PLQClassifier
from rectiline.reports import FairnessDisplay

people = load_adult_sample(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(people.data)

# %%
# Without a constraint men are predicted to earn more several times as often as women.

plain = PLQClassifier(C=0.1).fit(X, people.target, sensitive_features=people.male)
fair = PLQClassifier(C=0.1, constraints=[Fairness(tolerance=0.02)])
fair.fit(X, people.target, sensitive_features=people.male)
for name, model in (("without", plain), ("with", fair)):
    rates = model.fairness_["positive_rate"]
    score = model.score(X, people.target)
    print(f"{name:8} women {rates[0]:.1%}, men {rates[1]:.1%}, accuracy {score:.3f}")
print(
    f"relative gap {fair.certificate_.relative_gap:.1e}, violation {fair.certificate_.violation:g}"
)

# %%
# The display fits the classifier at eight tolerances. Every fit is certified, so the curve shows
# the price of the constraint and not of a solver that gave up.

FairnessDisplay.from_estimator(PLQClassifier(C=0.1), X, people.target, people.male)
plt.show()

# %%
# What the constraint changes.

figure, ax = plt.subplots(figsize=(7, 3.8))
place = range(X.shape[1])
ax.barh([k - 0.2 for k in place], plain.coef_[0], height=0.4, label="without")
ax.barh([k + 0.2 for k in place], fair.coef_[0], height=0.4, label="with")
ax.set_yticks(list(place), X.columns)
ax.invert_yaxis()
ax.set(xlabel="coefficient", xlim=(-0.3, 0.8))
ax.legend()
figure.tight_layout()
plt.show()
