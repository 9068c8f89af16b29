"""Messages about wrong names: sorted lists, suggestions, and columns by their names."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import rectiline as rl
from rectiline import constraints, losses, penalties
from rectiline.estimators import PLQRegressor, PLQRegressorCV, QuantileRegressor

X, Y = load_diabetes(return_X_y=True, as_frame=True)
ROWS = np.zeros((2, 10))
ROWS[0, [2, 3]], ROWS[1, 2] = 1.0, -1.0


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (PLQRegressor, {"C": 10**400}),
        (PLQRegressor, {"time_limit": 10**400}),
        (PLQRegressor, {"effects_l1": 10**400}),
        (PLQRegressor, {"n_jobs": 10**12}),
        (PLQRegressor, {"n_jobs": 0}),
        (QuantileRegressor, {"alpha": 10**400}),
        (PLQRegressorCV, {"Cs": 10**400}),
        (PLQRegressorCV, {"Cs": 10**12}),
        (PLQRegressorCV, {"penalty": "elasticnet", "l1_ratios": []}),
        (PLQRegressorCV, {"penalty": "elasticnet", "l1_ratios": [0.5, 2]}),
        (rl.DistributionRegressor, {"levels": 10**12}),
        (rl.MultiTaskRegressor, {"alpha": 10**400}),
        (rl.MultiTaskRegressor, {"beta": 10**400}),
        (rl.MultiTaskRegressor, {"constraints": 5}),
    ],
)
def test_numbers_out_of_any_range_are_refused_by_name(kind, parameters):
    y = np.column_stack([Y, Y]) if kind is rl.MultiTaskRegressor else Y
    with pytest.raises((TypeError, ValueError), match=list(parameters)[-1]):
        kind(**parameters).fit(X, y)


@pytest.mark.parametrize("make", [penalties.Ridge, losses.Huber])
def test_integers_that_are_no_double_are_infinite(make):
    for number in (10**400, -(10**400)):
        with pytest.raises(ValueError, match="must be a finite number"):
            make(number)


@pytest.mark.parametrize("kind", [PLQRegressor, QuantileRegressor])
def test_labels_in_a_regression_name_the_classifier(kind):
    labels = np.where(Y > 100, "high", "low")
    with pytest.raises(ValueError, match=r"y must hold numbers: .*'(high|low)'.* takes labels"):
        kind().fit(X, labels)


def test_columns_may_be_listed_in_an_array():
    model = PLQRegressor(fixed_effects=np.array(["sex"]))
    listed = PLQRegressor(order=[["age", "bmi"]], fixed_effects=["sex"]).fit(X, Y)
    model.set_params(order=np.array([["age", "bmi"]])).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, listed.coef_)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"penalty": "lasso"}, ValueError, r"'elasticnet', 'group', 'l1', .* mean 'l1'\?"),
        ({"penalty": "elastic-net"}, ValueError, "Did you mean 'elasticnet'"),
        ({"penalty": penalties.L1}, TypeError, r"penalty=L1 is a class; give an object: L1\(\)"),
        (
            {"penalty": penalties.GroupLinf},
            TypeError,
            r"give an object: GroupLinf\(strength, groups\)",
        ),
        ({"penalty": losses.Huber}, TypeError, "penalty must be a Penalty .* the class Huber"),
        ({"loss": losses.Huber}, TypeError, r"^loss=Huber is a class; give an object: Huber\(\)"),
        ({"loss": "hubber"}, ValueError, "'absolute', 'asymmetric', .* Did you mean 'huber'"),
        ({"loss": "pinball"}, ValueError, "needs its quantile, such as 0.9: loss_params="),
        ({"loss": "hinge"}, ValueError, "loss of the margin; .* Use PLQClassifier"),
        (
            {"loss": "huber", "loss_params": {"epsilon": 1.0}},
            TypeError,
            "loss='huber' takes 'delta'; got 'epsilon'",
        ),
        (
            {"constraints": [{"bmi": ">=3"}, {"bmi": "<=1"}]},
            rl.InfeasibleError,
            "column 'bmi': lower bound 3 > upper bound 1",
        ),
        ({"loss": "mae"}, ValueError, "Did you mean 'absolute'"),
        ({"solver": "newtn"}, ValueError, "'auto', 'generation', .* Did you mean 'newton'"),
        ({"solver": "simplex"}, ValueError, "Did you mean 'generation'"),
        ({"constraints": constraints.Nonnegative}, TypeError, "Nonnegative is a class"),
        ({"constraints": {"bmo": ">=0"}}, ValueError, "no column 'bmo'. Did you mean 'bmi'"),
        ({"constraints": {"zzzz": ">=0"}}, ValueError, "its columns are 'age', 'sex'"),
        ({"constraints": {"bmi": (3, 1)}}, ValueError, "'bmi' .* lower bound 3 > upper bound 1"),
        ({"monotone": {"bpp": 1}}, ValueError, "monotone: .* Did you mean 'bp'"),
        (
            {"constraints": [constraints.LinearInequality(ROWS, [-3, 1]), {"bp": "<=1"}]},
            rl.InfeasibleError,
            r"bmi \+ bp >= 3; bmi <= 1; bp <= 1 cannot hold together",
        ),
    ],
)
def test_what_is_said(parameters, error, message):
    for kind in (PLQRegressor, PLQRegressorCV):
        if error is rl.InfeasibleError and kind is PLQRegressorCV:
            continue
        with pytest.raises(error, match=message):
            kind(**parameters).fit(X, Y)


def test_bounds_that_cross():
    for make in (
        lambda: constraints.Box(3, 1),
        lambda: constraints.Box([0.0, 3.0], 1.0),
        lambda: constraints.LinearConstraint(np.eye(2), 3.0, [5.0, 1.0]),
    ):
        with pytest.raises(ValueError, match="lower bound 3 > upper bound 1"):
            make()


def test_a_wrong_solver_is_named_before_any_work(monkeypatch):
    monkeypatch.setattr(PLQRegressor, "_problem", None)  # a fit would need it
    with pytest.raises(ValueError, match="Did you mean 'interior'"):
        PLQRegressor(solver="ipm").fit(X, Y)
    with pytest.raises(ValueError, match="Did you mean 'newton'"):
        QuantileRegressor(solver="newtn").fit(X, Y)


def test_an_equality_and_a_bound_that_contradict_each_other():
    total = constraints.LinearConstraint(np.ones(10), 1.0, 1.0)
    with pytest.raises(rl.InfeasibleError, match=r"6 more terms == 1; age <= -1; sex <= -1"):
        PLQRegressor("absolute", constraints=[total, constraints.Box(upper=-1.0)]).fit(X, Y)
    with pytest.raises(rl.InfeasibleError, match=r"b\[0\] <= -1"):
        model = PLQRegressor("absolute", constraints=[total, constraints.Box(upper=-1.0)])
        model.fit(X.to_numpy(), Y)


def test_positive_coefficients_and_names_for_a_table():
    model = PLQRegressor("absolute", positive=True, C=10.0).fit(X.to_numpy(), Y)
    same = PLQRegressor("absolute", constraints=constraints.Nonnegative(), C=10.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-4)
    assert (model.coef_ >= 0).all() and (model.coef_ == 0).any()
    table = model.coef_frame(names=X.columns)
    assert table.index.tolist() == [*X.columns, "(intercept)"]


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_dates_are_refused_by_the_name_of_their_column(unit):
    pd = pytest.importorskip("pandas")
    day = np.array(["2020-01-01"] * len(X), dtype=f"datetime64[{unit}]")
    for values in (day, day.astype("datetime64[s]").astype(object)):
        frame = X.assign(day=pd.Series(values, index=X.index))
        with pytest.raises(ValueError, match=r"column 'day' holds dates, such as 2020-01-01"):
            PLQRegressor().fit(frame, Y)
    assert PLQRegressor(categorical="onehot").fit(X.assign(day=day), Y).coef_.shape == (11,)


def test_a_mix_that_a_penalty_does_not_use_is_named():
    with pytest.warns(UserWarning, match=r"l1_ratio=0.3 is the mix .* penalty='l1' does not use"):
        PLQRegressor(penalty="l1", l1_ratio=0.3).fit(X, Y)
    with pytest.warns(UserWarning, match="penalty='l2' does not use it"):
        QuantileRegressor(alpha=0.1, penalty="l2", l1_ratio=0.2).fit(X, Y)
    PLQRegressor(penalty="elasticnet", l1_ratio=0.3).fit(X, Y)
    PLQRegressor(penalty="l1").fit(X, Y)


def test_intervals_between_levels_name_the_model_that_has_them():
    model = QuantileRegressor(quantile=[0.05, 0.95], alpha=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"fitted are 0.05, 0.95\. DistributionRegressor has"):
        model.predict_interval(X, 0.85)


def test_what_a_regression_is_scored_by_is_said():
    assert "QuantileRegressor.score" in (PLQRegressor.score.__doc__ or "")


def test_a_warm_start_keeps_the_fit_that_finds_the_scale():
    model = PLQRegressor(C=1.0, warm_start=True).fit(X, Y)
    first = model.scale_
    (found,) = model._scale_fits
    again = model.set_params(C=2.0).fit(X, Y)
    assert again.scale_ == pytest.approx(first, rel=1e-4)
    assert again._scale_fits[0].n_iter <= found.n_iter
    cold = PLQRegressor(C=2.0).fit(X, 3 * Y)
    assert again.fit(X, 3 * Y).scale_ == pytest.approx(cold.scale_, rel=1e-4)


def test_a_linear_program_warns_of_nothing():
    rules = [constraints.Nonnegative(), constraints.LinearEquality(np.ones((1, 2)), [-1.0])]
    problem = rl.Problem(None, None, linear=[1.0, 2.0], constraints=rules)
    np.testing.assert_allclose(rl.solve(problem).coef, [1.0, 0.0], atol=1e-6)
