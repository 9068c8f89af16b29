"""
Scores with monotone effects
============================

A score that falls when an applicant earns more, or works more, is hard to defend even if the data
say so. ``monotone`` fixes the direction of single columns, and a bound keeps one column from
deciding alone. The price is a number: how much the objective grows, certified on both sides.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

import rectiline as rl
from rectiline.datasets import load_adult_sample

people = load_adult_sample(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(people.data)
y = people.target

# %%
# Without rules, with directions, and with directions and a bound on what marriage may count.

rules = {
    "no rules": {},
    "directions": {"monotone": {"education_years": 1, "hours_per_week": 1, "capital_loss": -1}},
    "directions and a bound": {
        "monotone": {"education_years": 1, "hours_per_week": 1, "capital_loss": -1},
        "constraints": {"married": (None, 0.3)},
    },
}
models = {
    name: rl.PLQClassifier("smoothed_hinge", **rule).fit(X, y) for name, rule in rules.items()
}
free = models["no rules"].certificate_
for name, model in models.items():
    proof = model.certificate_
    # The lower bound of the free problem and the value of the other one: a proved price.
    price = (proof.primal - free.dual) / free.dual
    print(f"{name:22} accuracy {model.score(X, y):.3f}, objective at most {price:.2%} higher")

# %%

figure, ax = plt.subplots(figsize=(8, 4))
place = np.arange(X.shape[1])
for k, (name, model) in enumerate(models.items()):
    ax.barh(place + 0.27 * (1 - k), model.coef_[0], height=0.27, label=name)
ax.set_yticks(place, X.columns)
ax.invert_yaxis()
ax.axvline(0, color="k", linewidth=0.8)
ax.set(xlabel="coefficient of the standardised column", xlim=(-0.3, 1.0))
ax.legend()
figure.tight_layout()
plt.show()
