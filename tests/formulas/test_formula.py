"""Formulas: columns against formulaic, shapes of splines against their derivatives, Clarabel."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse as sp

import rectiline as rl

pytest.importorskip("formulaic")


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.uniform(-1, 3, n), "city": rng.choice(list("abc"), n)})
    data["firm"] = rng.integers(0, 25, n)
    data["y"] = np.exp(data.x / 2) + (data.city == "b") + rng.standard_normal(n)
    return data


def test_columns_and_intercept():
    data = table()
    design = rl.formula("y ~ x + C(city)", data)
    assert design.names == ("x", "C(city)[T.b]", "C(city)[T.c]") and design.has_intercept
    np.testing.assert_array_equal(design.X["C(city)[T.b]"], (data.city == "b") * 1.0)
    np.testing.assert_array_equal(design.y, data.y)
    model = design.fit(rl.QuantileRegressor(quantile=0.5, alpha=0))
    direct = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(design.X, design.y)
    np.testing.assert_array_equal(model.estimator.coef_, direct.coef_)
    assert list(model.coef_frame().index) == [*design.names, "(intercept)"]
    assert not rl.formula("y ~ 0 + x", data).has_intercept


def test_splines_have_their_shape_everywhere():
    data = table()
    grid = {"x": np.linspace(-2, 4, 601)}  # beyond both ends as well
    for text, order in (
        ("y ~ bs(x, df=7, monotone=-1)", 1),
        ("y ~ bs(x, df=7, convex=-1)", 2),
        ("y ~ bs(x, df=5, degree=2, monotone=-1, convex=-1)", 2),
    ):
        design = rl.formula(text, data)
        model = design.fit(rl.PLQRegressor(loss="absolute", C=100.0))
        values = model.predict(grid)
        assert (np.diff(values, n=order) <= 1e-7).all(), text
        free = design.columns.on(data)
        assert free.shape == design.X.shape


def test_a_monotone_spline_is_clarabels():
    data = table()
    design = rl.formula("y ~ bs(x, df=6, monotone=-1)", data)
    model = design.fit(rl.QuantileRegressor(quantile=0.8, alpha=0, tol=1e-9))
    X, y = design.X.to_numpy(), design.y
    b, b0 = cp.Variable(6), cp.Variable()
    residual = y - X @ b - b0
    loss = cp.sum(cp.maximum(0.8 * residual, -0.2 * residual))
    steps = [b[0] <= 0] + [b[k + 1] <= b[k] for k in range(5)]
    reference = cp.Problem(cp.Minimize(loss), steps)
    reference.solve(solver=cp.CLARABEL)
    u = y - model.predict(data)
    assert np.maximum(0.8 * u, -0.2 * u).sum() == pytest.approx(reference.value, rel=1e-7)


def test_fixed_effects_stay_sparse_and_numbers_are_categories():
    data = table()
    design = rl.formula("y ~ x | firm", data)
    assert sp.issparse(design.X) and design.X.shape == (300, 25)
    model = design.fit(rl.PLQRegressor(C=10.0))
    dummies = pd.get_dummies(data.firm, drop_first=True).to_numpy(float)
    dense = rl.PLQRegressor(C=10.0).fit(np.column_stack([data.x, dummies]), data.y)
    np.testing.assert_allclose(model.estimator.coef_, dense.coef_, atol=1e-4)
    assert model.predict(data.iloc[:7]).shape == (7,)


def test_labels_missing_values_and_other_tables():
    data = table()
    data["label"] = np.where(data.y > 1.5, "high", "low")
    data.loc[3, "x"] = np.nan
    design = rl.formula("label ~ x", data)
    assert design.n_dropped == 1 and design.X.shape == (299, 1)
    model = design.fit(rl.PLQClassifier())
    assert set(model.predict({"x": [-1.0, 3.0]})) == {"high", "low"}
    with pytest.raises(ValueError, match="missing"):
        model.predict({"x": [1.0, np.nan]})
    with pytest.raises(ValueError, match="must have the column 'x'"):
        model.predict({"z": [1.0]})
    cities = rl.formula("y ~ C(city)", data).fit(rl.PLQRegressor())
    with pytest.raises(ValueError, match="does not fit the formula"):
        cities.predict({"city": ["a", "zzz"]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y ~ z", "names 'z', which is not a column"),
        ("x + city", "must have a target and terms"),
        ("y ~ x | firm | city", "at most one '|'"),
        ("y ~ 1", "no terms beside the intercept"),
        ("y ~ bs(x, monotone=2)", r"monotone must be -1, 0 or \+1"),
        ("y ~ bs(x, monotone=1):C(city)", "on their own"),
        ("y ~ bs(firm, df=40)", "too few distinct values"),
        ("y ~ ) x", "cannot be read"),
    ],
)
def test_wrong_formulas_are_explained(text, message):
    with pytest.raises(ValueError, match=message):
        rl.formula(text, table())


def test_other_estimators_take_no_shapes():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="takes no constraints"):
        rl.formula("y ~ bs(x, monotone=1)", table()).fit(LinearRegression())
    model = rl.formula("y ~ x", table()).fit(LinearRegression())
    assert model.predict({"x": [0.0]}).shape == (1,)
