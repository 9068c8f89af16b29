"""Expected shortfall: the two steps written out, truth on large samples, errors by simulation."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from rectiline.estimators import ExpectedShortfallRegressor, PLQRegressor, QuantileRegressor


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 3, (n, 1))
    return X, 2 * X[:, 0] + X[:, 0] * rng.standard_normal(n)


def test_steps_written_out():
    X, y = sample(400, 0)
    model = ExpectedShortfallRegressor(quantile=0.8).fit(X, y)
    v = QuantileRegressor(quantile=0.8, alpha=0).fit(X, y).predict(X)
    D = np.column_stack([np.ones(400), X])
    target = v + np.maximum(y - v, 0) / 0.2
    expected = np.linalg.lstsq(D, target, rcond=None)[0]
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_], expected, rtol=1e-6)
    np.testing.assert_allclose(model.predict_quantile(X), v)
    assert (model.predict(X) >= v - 1e-9).mean() > 0.99
    assert all(one.relative_gap <= 1e-9 for one in model.certificate_)


@pytest.mark.parametrize(("tail", "sign"), [("upper", 1.0), ("lower", -1.0)])
def test_truth(tail, sign):
    X, y = sample(40_000, 1)
    level = 0.9 if tail == "upper" else 0.1
    model = ExpectedShortfallRegressor(quantile=level, tail=tail).fit(X, y)
    truth = 2 + sign * norm.pdf(norm.ppf(0.9)) / 0.1
    np.testing.assert_allclose(model.coef_, truth, atol=0.15)


def test_tails_are_mirror_images():
    X, y = sample(300, 2)
    upper = ExpectedShortfallRegressor(quantile=0.7).fit(X, y)
    lower = ExpectedShortfallRegressor(quantile=0.3, tail="lower").fit(X, -y)
    np.testing.assert_allclose(upper.coef_, -lower.coef_, rtol=1e-6)


def test_standard_errors_are_the_spread_over_samples():
    draws, errors = [], []
    for seed in range(80):
        X, y = sample(800, seed)
        model = ExpectedShortfallRegressor(quantile=0.8).fit(X, y)
        draws.append(model.coef_[0])
        errors.append(model.summary(X, y).std_error[1])
    np.testing.assert_allclose(np.mean(errors), np.std(draws), rtol=0.25)


def test_other_losses_and_weights():
    X, y = sample(200, 3)
    model = ExpectedShortfallRegressor(quantile=0.8, loss="huber").fit(X, y)
    assert isinstance(model.shortfall_model_, PLQRegressor)
    weight = np.arange(200) % 3
    copies = np.repeat(np.arange(200), weight)
    weighted = ExpectedShortfallRegressor(quantile=0.8).fit(X, y, weight)
    copied = ExpectedShortfallRegressor(quantile=0.8).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6)


def test_fewer_samples_than_columns_take_the_least_norm():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((8, 20)), rng.standard_normal(8)
    model = ExpectedShortfallRegressor(quantile=0.8).fit(X, y)
    expected = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(model.coef_, expected, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-7)


def test_scikit_learn_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(ExpectedShortfallRegressor())
