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


def test_a_default_that_makes_every_coefficient_zero_is_told():
    with pytest.warns(UserWarning, match="default alpha=1 makes every coefficient zero"):
        QuantileRegressor().fit(X, Y)
    QuantileRegressor(alpha=2.0).fit(X, Y)  # asked for: nothing is said


def test_positive_coefficients_and_names_for_a_table():
    model = PLQRegressor("absolute", positive=True, C=10.0).fit(X.to_numpy(), Y)
    same = PLQRegressor("absolute", constraints=constraints.Nonnegative(), C=10.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-4)
    assert (model.coef_ >= 0).all() and (model.coef_ == 0).any()
    table = model.coef_frame(names=X.columns)
    assert table.index.tolist() == [*X.columns, "(intercept)"]
