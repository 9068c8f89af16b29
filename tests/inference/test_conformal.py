"""Conformal intervals: exact order statistics, coverage on exchangeable draws, groups, errors."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from rectiline.estimators import PLQRegressor, QuantileRegressor
from rectiline.inference import conformal, cross_conformal


def sample(n, rng):
    X = rng.uniform(0, 3, (n, 1))
    return X, np.exp(0.5 * X[:, 0]) + (0.2 + X[:, 0]) * rng.standard_t(5, n)


def covered(intervals, y):
    return (intervals[:, 0] <= y) & (y <= intervals[:, 1])


def fitted(rng, n=150):
    X, y = sample(n, rng)
    return QuantileRegressor(quantile=[0.1, 0.9], alpha=0).fit(X, y)


def test_the_widening_is_the_right_order_statistic():
    rng = np.random.default_rng(0)
    model = fitted(rng)
    X, y = sample(99, rng)
    low, high = model.predict(X).T
    scores = np.sort(np.maximum(low - y, y - high))
    made = conformal(model, X, y, coverage=0.8)
    np.testing.assert_allclose(made.widening, scores[79])  # the 80th of 99
    np.testing.assert_allclose(
        made.predict_interval(X), np.column_stack([low, high]) + scores[79] * np.array([-1, 1])
    )
    sides = conformal(model, X, y, coverage=0.8, symmetric=False).widening
    np.testing.assert_allclose(sides, [np.sort(low - y)[89], np.sort(y - high)[89]])


@pytest.mark.parametrize("symmetric", [True, False])
def test_coverage_on_exchangeable_draws(symmetric):
    hits = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        model = fitted(rng, 60)
        X, y = sample(59, rng)
        made = conformal(model, X, y, coverage=0.8, symmetric=symmetric)
        X, y = sample(40, rng)
        hits.append(covered(made.predict_interval(X), y).mean())
    # At least 0.8, at most 0.8 + 1/60 (2/60 for two sides), up to three standard errors.
    error = 3 * np.std(hits) / np.sqrt(150)
    assert 0.8 - error <= np.mean(hits) <= 0.8 + (1 if symmetric else 2) / 60 + error


def test_cross_conformal_coverage_and_formula():
    hits = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = sample(100, rng)
        model = QuantileRegressor(quantile=[0.1, 0.9], alpha=0)
        made = cross_conformal(model, X, y, coverage=0.8)
        new, target = sample(40, rng)
        hits.append(covered(made.predict_interval(new), target).mean())
    assert 0.78 <= np.mean(hits) <= 0.86
    lower = [m.predict(new[:1])[0, 0] - s[:, 0] for m, s in zip(made.models, made.scores)]
    upper = [m.predict(new[:1])[0, 1] + s[:, 1] for m, s in zip(made.models, made.scores)]
    expected = np.sort(np.concatenate(lower))[100 - 81], np.sort(np.concatenate(upper))[80]
    np.testing.assert_allclose(made.predict_interval(new[:1])[0], expected)


def test_cross_conformal_sides_and_splitters():
    X, y = sample(120, np.random.default_rng(1))
    model = QuantileRegressor(quantile=[0.1, 0.9], alpha=0)
    made = cross_conformal(model, X, y, coverage=0.8, symmetric=False, cv=KFold(4), n_jobs=2)
    again = cross_conformal(model, X, y, coverage=0.8, symmetric=False, cv=KFold(4))
    assert len(made.models) == 4
    np.testing.assert_array_equal(made.predict_interval(X), again.predict_interval(X))
    with pytest.raises(ValueError, match="two folds"):
        cross_conformal(model, X, y, cv=[(np.arange(60), np.arange(60))] * 2)


def test_groups_are_covered_separately():
    rng = np.random.default_rng(3)
    model = fitted(rng)
    X, y = sample(4000, rng)
    groups = np.where(X[:, 0] > 2, "far", "near")
    y = np.where(groups == "far", y + 3 * rng.standard_normal(4000), y)
    half = slice(0, 2000)
    made = conformal(model, X[half], y[half], coverage=0.9, groups=groups[half])
    assert made.widening.shape == (2, 2)
    intervals = made.predict_interval(X[2000:], groups=groups[2000:])
    hit = covered(intervals, y[2000:])
    for one in ("far", "near"):
        assert abs(hit[groups[2000:] == one].mean() - 0.9) < 0.04
    with pytest.raises(ValueError, match="groups is needed"):
        made.predict_interval(X)
    with pytest.raises(ValueError, match="'other'"):
        made.predict_interval(X[:1], groups=["other"])


def test_any_regressor_can_be_widened():
    rng = np.random.default_rng(4)
    X, y = sample(400, rng)
    for model in (LinearRegression(), PLQRegressor("huber", C=1.0)):
        made = conformal(model.fit(X[:200], y[:200]), X[200:], y[200:], coverage=0.7)
        widths = np.diff(made.predict_interval(X), axis=1)
        np.testing.assert_allclose(widths, widths[0, 0])
        assert covered(made.predict_interval(X[200:]), y[200:]).mean() >= 0.7


def test_the_central_pair_is_used_where_it_was_fitted():
    rng = np.random.default_rng(5)
    X, y = sample(200, rng)
    model = QuantileRegressor(quantile=[0.05, 0.25, 0.5, 0.75, 0.95], alpha=0).fit(X, y)
    assert conformal(model, X, y, coverage=0.5).pair == (1, 3)
    assert conformal(model, X, y, coverage=0.6).pair == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coverage": 1.0}, "coverage=1.0"),
        ({"coverage": 0.95}, "10 calibration samples are too few.*at least 19"),
        ({"coverage": 0.5, "groups": [1, 2]}, "one label for each of the 10"),
        ({"coverage": 0.8, "groups": [0] * 8 + [1] * 2}, "group .*1.*: 2 calibration samples"),
    ],
)
def test_errors(arguments, message):
    rng = np.random.default_rng(6)
    model = fitted(rng)
    X, y = sample(10, rng)
    with pytest.raises(ValueError, match=message):
        conformal(model, X, y, **arguments)
