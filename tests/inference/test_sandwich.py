"""Sandwich covariances against direct formulas, and the hinge against simulation."""

import numpy as np
import pytest
from scipy.stats import norm

from rectiline.estimators import PLQClassifier, PLQRegressor
from rectiline.inference import covariance
from rectiline.losses import PiecewiseLQ

RNG = np.random.default_rng(3)
N = 250
X = RNG.standard_normal((N, 2))
Y = X @ [1.0, -2.0] + (1.0 + 0.5 * np.abs(X[:, 0])) * RNG.standard_t(4, N)
D = np.column_stack([np.ones(N), X])


def white(score, slope):
    """A^-1 B A^-1 from scores and their derivatives, written out."""
    A = (D * slope[:, None]).T @ D
    B = (D * score[:, None] ** 2).T @ D
    return np.linalg.inv(A) @ B @ np.linalg.inv(A)


def residuals(model):
    return Y - model.predict(X)


def test_least_squares_is_white():
    model = PLQRegressor("squared_error", penalty=None).fit(X, Y)
    u = residuals(model)
    np.testing.assert_allclose(covariance(model, X, Y), white(u, np.ones(N)), rtol=1e-8)


def test_huber():
    model = PLQRegressor("huber", penalty=None, loss_params={"delta": 1.2}, C=3.0).fit(X, Y)
    u = residuals(model)
    expected = white(np.clip(u, -1.2, 1.2), (np.abs(u) <= 1.2).astype(float))
    np.testing.assert_allclose(covariance(model, X, Y), expected, rtol=1e-7)


def test_expectile():
    model = PLQRegressor("expectile", penalty=None, loss_params={"quantile": 0.8}).fit(X, Y)
    u = residuals(model)
    side = np.where(u > 0, 0.8, 0.2)
    np.testing.assert_allclose(covariance(model, X, Y), white(side * u, side), rtol=1e-7)


def test_own_loss_equals_the_named_one():
    own = PiecewiseLQ([-1.0, 1.0], [(0, -1, -0.5), (0.5, 0, 0), (0, 1, -0.5)], of="residual")
    named = PLQRegressor("huber", penalty=None, loss_params={"delta": 1.0}).fit(X, Y)
    model = PLQRegressor(own, penalty=None).fit(X, Y)
    np.testing.assert_allclose(covariance(model, X, Y), covariance(named, X, Y), rtol=1e-5)


def test_kinks_count_through_their_density():
    # The check function as an own loss: the density at zero stands in for the curvature.
    own = PiecewiseLQ([0.0], [(0, -1, 0), (0, 1, 0)], of="residual")
    model = PLQRegressor(own, penalty=None).fit(X, Y)
    u, c = residuals(model), 0.4
    found = covariance(model, X, Y, kind="sandwich", bandwidth=c)
    expected = white(np.where(u > 1e-9, 1.0, -1.0), 2.0 * norm.pdf(u / c) / c)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_cluster_formula():
    groups = RNG.integers(0, 40, N)
    model = PLQRegressor("squared_error", penalty=None).fit(X, Y)
    u = residuals(model)
    sums = np.array([(D[groups == g] * u[groups == g, None]).sum(axis=0) for g in range(40)])
    bread = np.linalg.inv(D.T @ D)
    expected = bread @ sums.T @ sums @ bread
    np.testing.assert_allclose(covariance(model, X, Y, groups=groups), expected, rtol=1e-8)
    # One cluster per row is the plain sandwich.
    alone = covariance(model, X, Y, kind="cluster", groups=np.arange(N))
    np.testing.assert_allclose(alone, covariance(model, X, Y, kind="sandwich"), rtol=1e-8)


@pytest.mark.parametrize(("loss", "kind"), [("hinge", "margin_density"), ("squared_hinge", None)])
def test_classifier_errors_are_the_spread_over_samples(loss, kind):
    draws, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((600, 2))
        labels = rng.uniform(size=600) < 1.0 / (1.0 + np.exp(-(0.3 + Z @ [1.0, -0.5])))
        model = PLQClassifier(loss, penalty=None).fit(Z, labels)
        table = model.summary(Z, labels, kind=kind)
        draws.append(table.coef)
        errors.append(table.std_error)
    spread = np.std(draws, axis=0, ddof=1)
    # The spread of 60 draws is known to about 9 %; the density estimate has some bias.
    np.testing.assert_allclose(np.mean(errors, axis=0), spread, rtol=0.3)
