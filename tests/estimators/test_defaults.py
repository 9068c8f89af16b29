"""Defaults of regressions: the same model whatever the unit of y, and one that fits raw data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import HuberRegressor

import rectiline as rl
from rectiline.estimators import PLQRegressor, PLQRegressorCV
from rectiline.estimators._defaults import (
    auto_C,
    column_spreads,
    robust_scale,
    weighted_median,
)
from rectiline.losses import Absolute, EpsilonInsensitive, Huber, PiecewiseLQ, SquaredError
from rectiline.penalties import L1, Ridge

X, Y = load_diabetes(return_X_y=True)
X_RAW = load_diabetes(return_X_y=True, scaled=False)[0]
LOSSES = ["huber", "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball"]


@pytest.mark.parametrize("data", [X, X_RAW], ids=["scaled", "raw"])
def test_raw_diabetes_is_fitted_as_well_as_by_scikit_learn(data):
    rival = HuberRegressor(max_iter=10_000).fit(data, Y).score(data, Y)
    assert PLQRegressor().fit(data, Y).score(data, Y) > rival - 0.005


@pytest.mark.parametrize("penalty", ["l2", "l1", "slope"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_unit_of_y_does_not_matter(loss, penalty):
    # Answers of equal models differ within their certified gap.
    given = {"quantile": 0.5} if loss == "pinball" else None
    model = PLQRegressor(loss, penalty=penalty, loss_params=given, tol=1e-10)
    metres, kilometres = clone(model).fit(X, Y), clone(model).fit(X, Y / 1000)
    size = np.abs(metres.coef_).max()
    np.testing.assert_allclose(1000 * kilometres.coef_, metres.coef_, atol=1e-5 * size)
    assert 1000 * kilometres.scale_ == pytest.approx(metres.scale_, rel=1e-9)
    assert metres.score(X, Y) > 0.5


def test_the_unit_of_y_does_not_matter_in_a_search():
    metres = PLQRegressorCV(Cs=5, cv=3).fit(X, Y)
    kilometres = PLQRegressorCV(Cs=5, cv=3).fit(X, Y / 1000)
    assert metres.delta_ == pytest.approx(1000 * kilometres.delta_, rel=1e-9)
    np.testing.assert_allclose(1000 * kilometres.coef_, metres.coef_, rtol=1e-3)


def test_widths_are_reported_and_relative_to_the_residuals():
    model = PLQRegressor().fit(X, Y)
    assert model.delta_ == pytest.approx(1.345 * model.scale_)
    assert model.loss_ == Huber(model.delta_)
    residuals = Y - model.predict(X)
    assert robust_scale(residuals, np.ones(Y.size)) == pytest.approx(model.scale_, rel=0.1)
    tube = PLQRegressor("epsilon_insensitive").fit(X, Y)
    assert tube.epsilon_ == pytest.approx(0.1 * tube.scale_)
    assert not hasattr(tube, "delta_")
    assert not hasattr(tube.set_params(loss="absolute", C=1.0).fit(X, Y), "epsilon_")


def test_numbers_are_taken_as_they_are():
    model = PLQRegressor(loss_params={"delta": 2.0}, C=3.0).fit(X, Y)
    assert model.delta_ == 2.0 and model.C_ == 3.0 and not hasattr(model, "scale_")
    problem = rl.Problem(X, Y, Huber(2.0), Ridge(1 / 3))
    assert model.certificate_.primal == pytest.approx(3 * rl.solve(problem).objective, rel=1e-6)
    assert PLQRegressor("absolute", penalty=L1(0.5)).fit(X, Y).C_ == 1.0
    assert PLQRegressor("absolute", penalty=None).fit(X, Y).C_ == 1.0


def test_several_outputs_have_a_scale_each():
    model = PLQRegressor(n_jobs=2).fit(X, np.column_stack([Y, Y / 50]))
    np.testing.assert_allclose(model.delta_ * [1, 50], model.delta_[0], rtol=1e-9)
    np.testing.assert_allclose(model.coef_[1] * 50, model.coef_[0], rtol=1e-6)
    assert model.C_.shape == model.scale_.shape == (2,) and len(model.loss_) == 2


def test_outliers_hardly_move_the_scale():
    wild = Y.copy()
    wild[::10] += 1e6
    clean, model = PLQRegressor().fit(X, Y), PLQRegressor().fit(X, wild)
    assert clean.scale_ < model.scale_ < 1.3 * clean.scale_


@pytest.mark.parametrize(
    "target", [np.zeros(Y.size), np.full(Y.size, 7.0), np.where(np.arange(Y.size) % 3, 0.0, Y)]
)
def test_targets_that_hardly_vary(target):
    model = PLQRegressor().fit(X, target)
    assert model.status_ == "solved" and np.isfinite(model.delta_) and model.delta_ > 0


def test_constraints_count_in_the_scale():
    free = PLQRegressor().fit(X, Y)
    held = PLQRegressor(constraints=[rl.constraints.Box(0.0, 0.0)]).fit(X, Y)
    assert held.scale_ > 1.3 * free.scale_
    assert held.scale_ == pytest.approx(robust_scale(Y - held.intercept_, np.ones(Y.size)), rel=0.1)


def test_a_wrong_parameter_is_named():
    with pytest.raises(TypeError, match="loss='huber' takes 'delta'; got 'widht'"):
        PLQRegressor(loss_params={"widht": 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match="C"):
        PLQRegressor(C="automatic").fit(X, Y)


def test_default_strength_by_hand():
    spreads = np.array([2.0, 0.5, 0.0])
    u = 3.0 / (np.sqrt(2) * spreads[:2])
    assert auto_C(Ridge(), SquaredError(), 3.0, spreads) == pytest.approx(u @ u / 2 / (2 * 4.5))
    assert auto_C(L1(1.0), Absolute(), 3.0, spreads) == pytest.approx(u.sum() / (2 * 3.0))
    wide = auto_C(L1(1.0), EpsilonInsensitive(100.0), 3.0, spreads)  # a distance 3 beyond the tube
    assert wide == pytest.approx(u.sum() / (2 * 3.0))
    tilted = PiecewiseLQ([0.0], [(0.5, -1.0, 0.0), (0.5, -1.0, 0.0)])  # (t - 1)^2 / 2 - 1/2
    assert auto_C(Ridge(), tilted, 3.0, spreads) == pytest.approx(u @ u / 2 / (2 * 4.5))
    assert auto_C(Ridge(), SquaredError(), 3.0, np.zeros(2)) == 1.0


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spreads_of_columns(centred, dtype):
    rng = np.random.default_rng(3)
    data = rng.normal(5.0, [1.0, 10.0, 0.0], (700, 3)) * (rng.random((700, 1)) < 0.8)
    data[:, 2] = 4.0
    data, weight = data.astype(dtype), rng.integers(0, 3, 700).astype(float)
    repeated = np.repeat(data.astype(float), weight.astype(int), axis=0)
    expected = repeated.std(axis=0) if centred else np.sqrt((repeated**2).mean(axis=0))
    for given in (data, np.asfortranarray(data), sp.csr_array(data), sp.csc_array(data)):
        found = column_spreads(given, weight, centred=centred)
        np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_weighted_median_is_that_of_repeated_samples():
    rng = np.random.default_rng(5)
    for n in (1, 2, 5, 40, 41):
        values, weight = rng.integers(0, 9, n).astype(float), rng.integers(0, 4, n).astype(float)
        weight[0] += 1.0
        repeated = np.repeat(values, weight.astype(int))
        assert weighted_median(values, weight) == np.median(repeated)


@pytest.mark.parametrize("loss", ["huber", "squared_error", "absolute"])
@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_the_default_elastic_net_does_not_depend_on_the_unit_of_y(loss, factor):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = X @ [1.0, 0.1, 5.0, 0.0] + rng.standard_normal(200)
    targets = np.column_stack([y, factor * y])
    alone = [PLQRegressor(loss, penalty="elasticnet").fit(X, one).coef_ for one in targets.T]
    np.testing.assert_allclose(alone[1], factor * alone[0], rtol=1e-5, atol=1e-6 * factor)
    together = PLQRegressor(loss, penalty="elasticnet").fit(X, targets).coef_
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6 * factor)
    # A C that is given means what it says.
    model = PLQRegressor(loss, penalty="elasticnet", C=2.0).fit(X, y)
    assert model.problem(X, y).penalty.l1 == 0.5


def test_one_huge_entry_of_x_does_not_keep_the_scale_fit_from_ending():
    """An answer is proved, and the other columns have about the one they have without it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(500)
    X[5, 1] = 1e38
    model = PLQRegressor("absolute").fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6 and abs(model.coef_[1]) < 1e-30
    without = PLQRegressor("absolute").fit(np.delete(X, 1, axis=1), y)
    assert model.coef_[[0, 2]] == pytest.approx(without.coef_, rel=0.05)


@pytest.mark.parametrize("noise", [0.1, 1e-3, 1e-6, 0.0])
@pytest.mark.parametrize("loss", ["huber", "absolute", "epsilon_insensitive", "squared_error"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_columns_that_explain_nearly_all_of_y_are_used(noise, loss, penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X.sum(axis=1) + noise * rng.normal(size=30)
    assert PLQRegressor(loss, penalty=penalty).fit(X, y).score(X, y) > 0.98
