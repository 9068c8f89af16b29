"""The conditional distribution from quantiles on a grid, against integrals and normals."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import rectiline as rl

RNG = np.random.default_rng(2)
X = RNG.uniform(0, 1, (400, 2))
Y = X[:, 0] + (0.5 + X[:, 1]) * RNG.standard_normal(400)


@parametrize_with_checks([rl.DistributionRegressor(levels=5)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def model():
    return rl.DistributionRegressor(levels=19).fit(X, Y)


def test_the_grid_and_the_quantiles_of_single_fits(model):
    np.testing.assert_allclose(model.quantiles_, np.arange(1, 20) / 20)
    assert rl.DistributionRegressor().fit(X[:50], Y[:50]).coef_.shape == (99, 2)
    single = rl.QuantileRegressor(quantile=0.3, alpha=0).fit(X, Y)
    inside = np.diff(X @ model.coef_.T + model.intercept_, axis=1).min(axis=1) >= 0
    assert inside.sum() > 200
    found = model.quantile(X[inside], 0.3)
    np.testing.assert_allclose(found, single.predict(X[inside]), atol=1e-9)
    np.testing.assert_allclose(model.predict(X), model.quantile(X, 0.5))
    between = model.quantile(X, [0.3, 0.32, 0.35])
    np.testing.assert_allclose(between[:, 1], 0.6 * between[:, 0] + 0.4 * between[:, 2])


def test_cdf_and_quantile_are_inverse(model):
    for q in (0.07, 0.31, 0.5, 0.93):
        np.testing.assert_allclose(model.cdf(X, model.quantile(X, q)), q, atol=1e-9)
    low, high = model.quantile(X, 0.0), model.quantile(X, 1.0)
    assert (model.cdf(X, low - 1e-9) == 0).all() and (model.cdf(X, high) == 1).all()


def test_integrals(model):
    def score(row, y):
        def slope(q):
            return 2 * ((y < model.quantile(row, q)[0]) - q) * (model.quantile(row, q)[0] - y)

        breaks = [*model.quantiles_, model.cdf(row, [y])[0]]
        return integrate.quad(slope, 0, 1, points=np.unique(breaks), limit=200)[0]

    at = X[:3]
    targets = np.array([model.quantile(at[:1], 0.5)[0], -9.0, 9.0])
    expected = [score(at[i : i + 1], targets[i]) for i in range(3)]
    np.testing.assert_allclose(model.crps(at, targets), expected, rtol=1e-7)
    mean = integrate.quad(
        lambda q: model.quantile(at[:1], q)[0], 0, 1, points=model.quantiles_, limit=200
    )[0]
    assert model.mean(at[:1])[0] == pytest.approx(mean, rel=1e-9)
    assert model.score(at, targets) == pytest.approx(-np.mean(expected), rel=1e-7)


def test_normal_data_have_the_scores_of_normals():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (20000, 1))
    scale = 1 + x[:, 0]
    y = 2 * x[:, 0] + scale * rng.standard_normal(20000)
    fitted = rl.DistributionRegressor().fit(x, y)
    z = (y - 2 * x[:, 0]) / scale
    exact = scale * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - np.pi**-0.5)
    assert fitted.score(x, y) == pytest.approx(-exact.mean(), rel=5e-3)
    np.testing.assert_allclose(fitted.mean(x[:50]), 2 * x[:50, 0], atol=0.06)
    draws = fitted.sample(x[:20], 4000, random_state=0)
    assert draws.shape == (20, 4000)
    np.testing.assert_allclose(np.median(draws, axis=1), fitted.predict(x[:20]), atol=0.12)
    np.testing.assert_array_equal(draws, fitted.sample(x[:20], 4000, random_state=0))
    ends = fitted.predict_interval(x, 0.8)
    assert np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) == pytest.approx(0.8, abs=0.01)


def test_without_crossing_nothing_has_to_be_put_in_order(model):
    fitted = clone(model).set_params(non_crossing=True).fit(X, Y)
    plain = X @ model.coef_.T + model.intercept_
    assert np.diff(plain, axis=1).min() < 0  # otherwise the test shows nothing
    assert np.diff(X @ fitted.coef_.T + fitted.intercept_, axis=1).min() >= -1e-12
    assert fitted.certificate_.relative_gap <= 1e-8


def test_refusals(model):
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.quantile(X, 1.5)
    with pytest.raises(ValueError, match="strictly between 0"):
        rl.DistributionRegressor(levels=[0.0, 0.5]).fit(X, Y)
