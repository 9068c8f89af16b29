"""
A portfolio with small deviations and a budget
==============================================

Choose shares of twelve assets that sum to one, are not negative and reach a mean return, so that
the mean absolute deviation of the portfolio is smallest (Konno and Yamazaki 1991). This is a
regression of zero on the centred returns with the absolute loss under linear constraints: the
absolute value is a sum of two units, and the answer comes with a proof.
"""

import matplotlib.pyplot as plt
import numpy as np

import rectiline as rl
from rectiline.datasets import make_returns

returns = make_returns(750, 12)
mean = returns.mean(axis=0)
centred = returns - mean
n, d = returns.shape

# %%
# One problem for each mean return that is asked for. The objective is a sum over days, so it is
# divided by their number.


def portfolio(target):
    """Return the problem of the least deviation among portfolios with at least this return."""
    return rl.Problem(
        centred,
        np.zeros(n),
        loss="absolute",
        penalty=None,
        constraints=[
            rl.constraints.Nonnegative(),
            rl.constraints.LinearEquality(np.ones(d), -1.0),
            rl.constraints.LinearInequality(mean, -target),
        ],
        fit_intercept=False,
    )


targets = np.linspace(np.median(mean), mean.max(), 15)
deviation, shares = [], []
for target in targets:
    solution = rl.solve(portfolio(target), tol=1e-8)
    deviation.append(solution.objective / n)
    shares.append(solution.coef)

# %%
# The frontier, and what the portfolios on it are made of.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8))
left.plot(deviation, targets, "o-", label="certified frontier")
left.plot(np.abs(centred).mean(axis=0), mean, "k.", label="single assets")
left.set(xlabel="mean absolute deviation, % a day", ylabel="mean return, % a day")
left.legend()
right.stackplot(targets, np.array(shares).T)
right.set(xlabel="mean return, % a day", ylabel="share", ylim=(0, 1))
figure.tight_layout()
plt.show()

# %%
# A return above every asset's is infeasible; the solver proves it:

print(rl.solve(portfolio(2 * mean.max())).infeasibility)
