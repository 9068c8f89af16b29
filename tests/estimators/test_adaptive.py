"""L1 weights from a first fit: what they are, where they end up, and that folds make their own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import rectiline as rl
from rectiline.estimators import PLQClassifier, PLQRegressor, PLQRegressorCV, QuantileRegressor
from rectiline.paths import adaptive_weights
from rectiline.penalties import L1

ADAPTIVE = {"weights": "adaptive"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * [1.0, 10.0, 0.1, 1.0, 1.0, 1.0]
    return X, X @ [3.0, 0.1, 5.0, 0.2, 0.0, 0.0] + rng.normal(size=300)


def test_weights_are_those_of_least_squares_up_to_the_weak_ridge(table):
    X, y = table
    weights = adaptive_weights(rl.Problem(X, y, "squared_error"))
    first = np.abs(LinearRegression().fit(X, y).coef_)
    expected = first.max() / first
    assert weights[:4] == pytest.approx(expected[:4], rel=0.05)
    assert weights.min() == 1.0


@pytest.mark.parametrize("loss", ["squared_error", "absolute", "huber"])
def test_weights_do_not_depend_on_the_units(table, loss):
    X, y = table
    params = {"delta": 1.0} if loss == "huber" else {}
    other = {"delta": 1000.0} if loss == "huber" else {}
    one = adaptive_weights(rl.Problem(X, y, rl.losses.get(loss, **params)))
    two = adaptive_weights(rl.Problem(7.0 * X, 1000.0 * y, rl.losses.get(loss, **other)))
    assert two[:4] == pytest.approx(one[:4], rel=0.02)


def test_constant_columns_have_the_largest_weight(table):
    X, y = table
    X = np.column_stack([X, np.full(300, 3.0)])
    weights = adaptive_weights(rl.Problem(X, y, "squared_error"))
    assert weights[-1] == weights.max() and np.isfinite(weights).all()


def test_the_fit_has_the_weights_that_it_reports(table):
    X, y = table
    model = PLQRegressor("squared_error", penalty="l1", penalty_params=ADAPTIVE, C=0.1).fit(X, y)
    same = PLQRegressor(
        "squared_error", penalty=L1(1.0, model.penalty_weights_), C=0.1, tol=1e-9
    ).fit(X, y)
    assert model.coef_ == pytest.approx(same.coef_, rel=1e-3, abs=1e-3)
    assert model.coef_[0] != 0.0 and not model.coef_[4:].any()
    model.set_params(penalty_params=None).fit(X, y)
    assert not hasattr(model, "penalty_weights_")


def test_several_problems_have_rows_of_weights(table):
    X, y = table
    labels = np.digitize(y, [-2.0, 2.0])
    model = PLQClassifier(penalty="l1", penalty_params=ADAPTIVE).fit(X, labels)
    assert model.penalty_weights_.shape == model.coef_.shape == (3, 6)
    quantiles = QuantileRegressor(
        quantile=[0.2, 0.8], alpha=0.01, penalty="l1", penalty_params=ADAPTIVE
    ).fit(X, y)
    assert quantiles.penalty_weights_.shape == (2, 6)


def test_folds_have_weights_of_their_own(table, monkeypatch):
    X, y = table
    seen = []
    real = rl.estimators._parameters.adaptive_weights
    monkeypatch.setattr(
        rl.estimators._parameters,
        "adaptive_weights",
        lambda problem, power: seen.append(float(problem.weight.sum())) or real(problem, power),
    )
    model = PLQRegressorCV(
        "squared_error", Cs=[0.01, 0.1], penalty="l1", penalty_params=ADAPTIVE, cv=3
    ).fit(X, y)
    assert {200.0, 300.0} <= set(seen)
    assert model.penalty_weights_.shape == (6,)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights": "adaptiv"}, "'adaptive'"),
        ({"power": 2.0}, "goes with weights='adaptive'"),
        ({"weights": "adaptive", "power": -1.0}, "positive, finite"),
        ({"weights": [1.0, 2.0]}, "give one weight per column"),
        ({"groups": [0]}, r"takes \['power', 'weights'\]"),
    ],
)
def test_errors(table, params, message):
    with pytest.raises(ValueError, match=message):
        PLQRegressor(penalty="l1", penalty_params=params).fit(*table)


def test_rows_in_blocks_are_refused(table):
    rows = rl.rows.from_arrays(*table)
    with pytest.raises(ValueError, match="weights='adaptive' needs X and y in memory"):
        PLQRegressor(penalty="l1", penalty_params=ADAPTIVE).fit(rows)
