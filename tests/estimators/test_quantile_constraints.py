"""Constraints, directions, orders and penalties of quantile regressions, against cvxpy."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

from rectiline.constraints import LinearEquality, Nonnegative
from rectiline.estimators import QuantileRegressor
from rectiline.penalties import Ridge

RNG = np.random.default_rng(4)
N = 120
X = RNG.standard_normal((N, 4))
Y = X @ [0.8, -0.5, 0.1, 1.2] + RNG.standard_normal(N)
FRAME = pd.DataFrame(X, columns=list("abcd"))


def pinball(residual, tau):
    return cp.sum(cp.maximum(tau * residual, (tau - 1) * residual)) / N


def solve(tau, penalty=lambda b: 0.0, constraints=lambda b: []):
    b, b0 = cp.Variable(4), cp.Variable()
    objective = pinball(Y - X @ b - b0, tau) + penalty(b)
    cp.Problem(cp.Minimize(objective), constraints(b)).solve(solver="CLARABEL")
    return float(objective.value)


def objective(model, tau, penalty=lambda b: 0.0):
    residual = Y - X @ model.coef_ - model.intercept_
    return float(np.mean(np.maximum(tau * residual, (tau - 1) * residual)) + penalty(model.coef_))


@pytest.mark.parametrize(
    ("parameters", "rows", "holds"),
    [
        ({"constraints": Nonnegative()}, lambda b: [b >= 0], lambda b: (b >= 0).all()),
        (
            {"monotone": {"b": 1, "d": -1}},
            lambda b: [b[1] >= 0, b[3] <= 0],
            lambda b: b[1] >= 0 >= b[3],
        ),
        (
            {"order": [["d", "c", "a"]]},
            lambda b: [b[3] <= b[2], b[2] <= b[0]],
            lambda b: b[3] <= b[2] + 1e-9 and b[2] <= b[0] + 1e-9,
        ),
        (
            {"constraints": [{"a": (0, 0.3)}, LinearEquality([1.0, 1.0, 1.0, 1.0], -1.0)]},
            lambda b: [b[0] >= 0, b[0] <= 0.3, cp.sum(b) == 1],
            lambda b: 0 <= b[0] <= 0.3 + 1e-9 and abs(b.sum() - 1) < 1e-9,
        ),
    ],
)
def test_constraints(parameters, rows, holds):
    model = QuantileRegressor(quantile=0.3, alpha=0, **parameters).fit(FRAME, Y)
    assert holds(model.coef_) and model.certificate_.relative_violation <= 1e-9
    np.testing.assert_allclose(objective(model, 0.3), solve(0.3, constraints=rows), rtol=1e-6)


@pytest.mark.parametrize(
    ("penalty", "params", "value"),
    [
        ("l1", None, lambda b: 0.1 * cp.norm1(b)),
        ("l2", None, lambda b: 0.05 * cp.sum_squares(b)),
        (Ridge(2.0), None, lambda b: 0.1 * cp.sum_squares(b)),
        (
            "group",
            {"groups": [["a", "b"], ["c", "d"]]},
            lambda b: 0.1 * (cp.norm_inf(b[:2]) + cp.norm_inf(b[2:])),
        ),
    ],
)
def test_penalties(penalty, params, value):
    model = QuantileRegressor(quantile=0.7, alpha=0.1, penalty=penalty, penalty_params=params)
    model.fit(FRAME, Y)
    found = objective(model, 0.7, lambda b: float(value(cp.Constant(b)).value))
    np.testing.assert_allclose(found, solve(0.7, value), rtol=1e-5)


def test_no_penalty_whatever_alpha():
    free = QuantileRegressor(quantile=0.7, alpha=0).fit(X, Y)
    none = QuantileRegressor(quantile=0.7, alpha=3.0, penalty=None).fit(X, Y)
    np.testing.assert_array_equal(none.coef_, free.coef_)
    assert none.summary(X, Y, kind="nid").kind == "nid"


@pytest.mark.parametrize("joint", ["non_crossing", "shared_slopes"])
def test_joint_fits_obey_constraints(joint):
    levels = [0.2, 0.5, 0.8]
    model = QuantileRegressor(
        quantile=levels, alpha=0, monotone={"a": -1}, order=[["c", "d"]], **{joint: True}
    ).fit(FRAME, Y)
    assert (model.coef_[:, 0] <= 1e-12).all()
    assert (model.coef_[:, 2] <= model.coef_[:, 3] + 1e-9).all()
    assert model.certificate_.relative_gap <= 1e-6
    free = QuantileRegressor(quantile=levels, alpha=0, **{joint: True}).fit(FRAME, Y)
    assert model.certificate_.primal > free.certificate_.primal


def test_joint_fits_say_which_penalties_they_take():
    model = QuantileRegressor(quantile=[0.2, 0.8], non_crossing=True, penalty="slope")
    with pytest.raises(ValueError, match="fitted jointly"):
        model.fit(X, Y)
    ridge = QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1, shared_slopes=True, penalty="l2")
    same = QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1, shared_slopes=True, l1_ratio=0.0)
    np.testing.assert_allclose(ridge.fit(X, Y).coef_, same.fit(X, Y).coef_)
    adaptive = {"penalty": "l1", "penalty_params": {"weights": "adaptive"}}
    with pytest.raises(ValueError, match="without adaptive weights"):
        model.set_params(**adaptive).fit(X, Y)


@pytest.mark.parametrize("joint", ["non_crossing", "shared_slopes"])
def test_weights_of_an_l1_penalty_are_units_of_columns(joint):
    options = {"quantile": [0.2, 0.5, 0.8], "alpha": 0.05, "penalty": "l1", joint: True}
    weights = 1.0 + np.arange(X.shape[1])
    given = QuantileRegressor(**options, penalty_params={"weights": weights}).fit(X, Y)
    scaled = QuantileRegressor(**options).fit(X / weights, Y)
    np.testing.assert_allclose(given.coef_, scaled.coef_ / weights, atol=1e-6)
    assert (given.coef_ == 0.0).any() and given.coef_.any()


def test_active_constraints_leave_no_standard_errors():
    model = QuantileRegressor(quantile=0.5, alpha=0, monotone={"a": -1}).fit(FRAME, Y)
    with pytest.raises(ValueError, match="on its bound"):
        model.summary(FRAME, Y)
    table = model.summary(FRAME, Y, kind="bootstrap", n_boot=10)
    assert "constraint" in table.note
