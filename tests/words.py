"""Sparse tables like counts of words under L1, and their optimum by Clarabel, for tests."""

import cvxpy as cp
import numpy as np
from scipy import sparse as sp

import rectiline as rl
from rectiline.penalties import L1


def words(seed=0, n=400, d=1500):
    """Return counts of words, some common and most rare, and labels that a few of them decide."""
    rng = np.random.default_rng(seed)
    share = 0.3 / np.arange(1, d + 1) ** 0.6
    X = sp.csr_array((rng.random((n, d)) < share) * rng.uniform(0.5, 1.5, (n, d)))
    coef = np.zeros(d)
    coef[:60] = rng.normal(size=60)
    z = X @ coef
    return X, np.where(z + rng.normal(size=n) > np.median(z), 1.0, -1.0)


def problem_of(loss, share, X, y, **options):
    """Return a problem whose strength is a share of the largest correlation."""
    top = float(np.abs(X.T @ (y - y.mean())).max())
    return rl.Problem(X, y, loss, L1(share * top), **options)


def optimum(problem, cost):
    """Return the optimal value by Clarabel; `cost` maps predictions to a sum of losses."""
    X = problem.design.X
    b, b0 = cp.Variable(X.shape[1]), cp.Variable()
    z = X @ b + (b0 if problem.fit_intercept else 0.0)
    program = cp.Problem(cp.Minimize(cost(z) + problem.penalty.strength * cp.norm1(b)))
    return program.solve(solver=cp.CLARABEL)
