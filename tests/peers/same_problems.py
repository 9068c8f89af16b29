"""Random problems solved by sortedl1 (libslope) and skglm and by us; `make peers`.

Their coefficients are evaluated by our objective: they must never be better than the bound that our
certificate proves, nor better than our answer by more than its gap.
"""

from __future__ import annotations

import numpy as np
import pytest
import skglm.datafits as fits
import skglm.penalties as prices
from scipy import sparse as sp
from skglm.solvers import AndersonCD
from sortedl1 import Slope
from sortedl1_solver import strengths

import rectiline as rl

_SHAPES = {"tall": (60, 15), "wide": (30, 60), "sparse": (80, 40)}
_SHARES = [0.5, 0.1, 0.02]  # of the strength that leaves no column
_TOL = 1e-9


def _draw(shape, seed):
    n, d = _SHAPES[shape]
    rng = np.random.default_rng([n, d, seed])
    X = rng.standard_normal((n, d)) * (rng.uniform(size=(n, d)) < (0.2 if shape == "sparse" else 1))
    y = X[:, :5] @ rng.standard_normal(5) + rng.standard_normal(n)
    return (sp.csc_matrix(X) if shape == "sparse" else np.asfortranarray(X)), y


def _evaluate(problem, coef, intercept=0.0):
    answer = rl.solve(problem, tol=_TOL)
    assert answer.status == "solved"
    value = problem.objective(coef, intercept)
    assert answer.certificate.dual <= value * (1 + 1e-14)
    assert answer.objective <= value * (1 + _TOL)
    assert value <= answer.objective * (1 + 1e-4)  # otherwise it was another problem


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("share", _SHARES)
@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("kind", ["bh", "oscar", "lasso"])
def test_sorted_l1(kind, shape, share, fit_intercept, seed):
    X, y = _draw(shape, seed)
    n, d = X.shape
    lam = strengths(kind, d, 0.1, 1.0, 0.5)
    pull = np.sort(np.abs(X.T @ (y - y.mean() * fit_intercept)) / n)[::-1]
    alpha = share * np.max(np.cumsum(pull) / np.cumsum(lam))
    theirs = Slope(lam, alpha, fit_intercept, tol=1e-8).fit(X, y)
    problem = rl.Problem(
        X, y, "squared_error", rl.penalties.Slope(n * alpha * lam), fit_intercept=fit_intercept
    )
    _evaluate(problem, theirs.coef_, float(np.ravel(theirs.intercept_)[0]))


def _skglm(name, X, y, share):
    """Return a data fit and penalty of skglm and our problem, which is n times theirs."""
    n, d = X.shape
    alpha = share * np.abs(X.T @ y).max() / n
    loss, constraints = "squared_error", ()
    if name == "elastic_net":
        theirs = fits.Quadratic(), prices.L1_plus_L2(alpha, 0.7)
        penalty = rl.penalties.ElasticNet(l1=0.7 * n * alpha, l2=0.3 * n * alpha)
    elif name == "weighted":
        weights = np.linspace(0.5, 2.0, d)
        theirs = fits.Quadratic(), prices.WeightedL1(alpha, weights)
        penalty = rl.penalties.L1(n * alpha, weights=weights)
    elif name == "positive":
        theirs = fits.Quadratic(), prices.L1(alpha, positive=True)
        penalty, constraints = rl.penalties.L1(n * alpha), rl.constraints.Nonnegative()
    elif name == "huber":
        alpha /= 2
        theirs = fits.Huber(1.0), prices.L1(alpha)
        loss, penalty = rl.losses.Huber(1.0), rl.penalties.L1(n * alpha)
    else:
        theirs, penalty = (fits.Quadratic(), prices.L1(alpha)), rl.penalties.L1(n * alpha)
    return theirs, rl.Problem(X, y, loss, penalty, constraints, fit_intercept=False)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", _SHARES)
@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("name", ["lasso", "elastic_net", "weighted", "positive", "huber"])
def test_coordinate_descent(name, shape, share, seed):
    X, y = _draw(shape, seed)
    (fit, price), problem = _skglm(name, X, y, share)
    solver = AndersonCD(fit_intercept=False, tol=1e-10, max_iter=200)
    _evaluate(problem, solver.solve(X, y, fit, price)[0])
