"""Formulas: columns against formulaic, shapes of splines against their derivatives, Clarabel."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

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
        free = design.matrix(data)
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


@pytest.mark.parametrize("term", ["day", "x:day"])
def test_dates_are_refused_by_their_name(term):
    data = table()
    days = np.datetime64("2020-01-01") + np.arange(len(data["y"])) % 3
    with pytest.raises(ValueError, match=r"column 'day' holds dates.*C\(day\)"):
        rl.formula(f"y ~ {term}", {**data, "day": days})
    assert rl.formula("y ~ C(day)", {**data, "day": days}).X.shape[1] == 2


def test_other_estimators_take_no_shapes():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="takes no constraints"):
        rl.formula("y ~ bs(x, monotone=1)", table()).fit(LinearRegression())
    model = rl.formula("y ~ x", table()).fit(LinearRegression())
    assert model.predict({"x": [0.0]}).shape == (1,)


def test_names_in_backquotes():
    data = table().rename(columns={"y": "y.net", "x": "log x", "firm": "firm id"})
    plain = table()
    for quoted, simple in (
        ("`y.net` ~ `log x` + C(city)", "y ~ x + C(city)"),
        ("`y.net` ~ np.exp(`log x`)", "y ~ np.exp(x)"),
        ("`y.net` ~ bs(`log x`, df=5) | `firm id`", "y ~ bs(x, df=5) | firm"),
    ):
        ours, theirs = rl.formula(quoted, data), rl.formula(simple, plain)
        X, other = (one.X.toarray() if sp.issparse(one.X) else one.X for one in (ours, theirs))
        np.testing.assert_array_equal(X, other)
        np.testing.assert_array_equal(ours.y, theirs.y)
        model = ours.fit(rl.PLQRegressor())
        again = theirs.fit(rl.PLQRegressor())
        new = data.iloc[:9].drop(columns="y.net")
        np.testing.assert_array_equal(model.predict(new), again.predict(plain.iloc[:9]))
    with pytest.raises(ValueError, match=r"names 'no\.thing'"):
        rl.formula("`y.net` ~ `no.thing`", data)


def test_names_reach_every_table_and_effects_are_hidden():
    data = table(600)
    model = rl.formula("y ~ x + city | firm", data).fit(
        rl.QuantileRegressor(quantile=[0.25, 0.5], alpha=0)
    )
    assert sp.issparse(model.design.X)
    first = model.summary("kernel")[0]
    assert first.names == ("(intercept)", "x", "city[T.b]", "city[T.c]")
    assert "24 effects not shown" in str(first) and len(first.std_error) == 4
    assert len(first.to_frame()) == 4
    whole = model.summary("kernel", effects=True)[0]
    assert len(whole.names) == 28 and whole.names[4] == "firm=1"
    np.testing.assert_array_equal(whole.std_error[:4], first.std_error)
    assert str(model.wald_test("x", kind="kernel")).startswith("x = 0: F")
    assert model.wald_test("`city[T.b]` = `city[T.c]`", kind="kernel").df[0] == 2
    assert list(model.coef_frame().index[:3]) == ["x", "city[T.b]", "city[T.c]"]
    held = rl.formula("y ~ x + city | firm", data).fit(
        rl.PLQRegressor("absolute", constraints="x <= 0.3")
    )
    assert held.coef_[0] <= 0.3


def test_weights_and_groups_by_name_lose_the_rows_that_are_left_out():
    data = table()
    rng = np.random.default_rng(1)
    data["w"] = rng.integers(1, 4, len(data)).astype(float)
    data.loc[5, "x"] = np.nan
    data.loc[7, "w"] = np.nan
    kept = data.drop(index=[5, 7])
    by_name = rl.formula("y ~ x", data, weights="w", groups="firm")
    by_array = rl.formula("y ~ x", data, weights=data.w.to_numpy(), groups=data.firm.to_numpy())
    direct = rl.QuantileRegressor(quantile=0.4, alpha=0).fit(kept[["x"]], kept.y, kept.w)
    expected = direct.summary(kept[["x"]], kept.y, sample_weight=kept.w, groups=kept.firm)
    for design in (by_name, by_array):
        assert design.n_dropped == 2
        model = design.fit(rl.QuantileRegressor(quantile=0.4, alpha=0))
        np.testing.assert_array_equal(model.coef_, direct.coef_)
        found = model.summary()
        assert found.kind == "cluster"
        np.testing.assert_array_equal(found.std_error, expected.std_error)
        options = {"sample_weight": kept.w, "groups": kept.firm}
        np.testing.assert_array_equal(
            model.conf_int(level=0.8), direct.conf_int(kept[["x"]], kept.y, level=0.8, **options)
        )
        test = model.wald_test("x", 0.5)
        assert test == direct.wald_test(kept[["x"]], kept.y, "x", 0.5, **options)
        assert test.kind == "cluster"
    with pytest.raises(ValueError, match="weights='v' is not a column"):
        rl.formula("y ~ x", data, weights="v")
    with pytest.raises(ValueError, match=r"groups must be the name.*got shape \(3,\)"):
        rl.formula("y ~ x", data, groups=[1, 2, 3])


def test_a_fitted_formula_has_what_its_estimator_has(tmp_path):
    data = table()
    design = rl.formula("y ~ x + city", data)
    model = design.fit(rl.QuantileRegressor(quantile=[0.25, 0.75], alpha=0))
    direct = rl.QuantileRegressor(quantile=[0.25, 0.75], alpha=0).fit(design.X, design.y)
    assert model.certificate_[0].relative_gap <= 1e-9
    np.testing.assert_array_equal(model.quantiles_, [0.25, 0.75])
    np.testing.assert_array_equal(
        model.predict_interval(data, 0.5), direct.predict_interval(design.X, 0.5)
    )
    assert model.score() == direct.score(design.X, design.y)
    assert model.equal_slopes() == rl.inference.equal_slopes(direct, design.X, design.y)
    one = design.fit(rl.QuantileRegressor(quantile=0.5, alpha=0))
    assert one.rank_test("x").df == (1.0, 296.0)
    assert one.verify().relative_gap <= 1e-9
    one.report(tmp_path / "fit.html")
    assert "city[T.b]" in (tmp_path / "fit.html").read_text("utf-8")
    assert model.draw(rl.reports.CoefficientDisplay, kind="nid").ax_ is not None
    one.save_certificate(tmp_path / "fit.rlcert")
    checked = rl.verify.check(tmp_path / "fit.rlcert", [(design.X.to_numpy(), design.y)])
    assert checked is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = model.nothing


def test_what_runs_as_python_and_fails_is_explained():
    with pytest.raises(ValueError, match="invalid syntax"):
        rl.formula("y ~ np.log(x x)", table())


def test_new_levels_behind_the_bar():
    data = table()
    new = data.iloc[:2].assign(firm=[3, 99])
    fits = {
        choice: rl.formula("y ~ x | firm", data, new_levels=choice).fit(
            rl.QuantileRegressor(quantile=0.4, alpha=0)
        )
        for choice in ("error", "zero", "mean")
    }
    with pytest.raises(ValueError, match=r"'firm' holds .*99.* in row 1, .* 25 levels"):
        fits["error"].predict(new)
    first = data.firm.min()
    expected = fits["error"].predict(new.assign(firm=[3, first]))
    np.testing.assert_allclose(fits["zero"].predict(new), expected)
    each = [fits["error"].predict(new.assign(firm=k))[1] for k in data.firm]
    assert fits["mean"].predict(new)[1] == pytest.approx(np.mean(each))


def test_effects_of_pairs_hold_those_of_their_parts():
    data = table(600)
    data["half"] = np.where(data.firm % 2, "odd", "even")
    model = rl.QuantileRegressor(quantile=0.4, alpha=0)
    both = rl.formula("y ~ x | half:city", data)
    assert both.names[:3] == ("x", "half:city=even:b", "half:city=even:c")
    assert rl.formula("y ~ x | half + city + half:city", data).names == both.names
    pairs = pd.get_dummies(data.half + ":" + data.city, drop_first=True).to_numpy(float)
    by_hand = model.fit(np.column_stack([data.x, pairs]), data.y)
    np.testing.assert_allclose(both.fit(model).coef_, by_hand.coef_, atol=1e-7)
    with pytest.raises(ValueError, match="must be a column of data"):
        rl.formula("y ~ x | C(np.floor(x))", data)


def test_effects_reach_the_optimum_of_highs():
    data = table(200)
    tau = 0.3
    model = rl.formula("y ~ x | firm + city", data).fit(rl.QuantileRegressor(quantile=tau, alpha=0))
    parts = [
        pd.get_dummies(data[name], drop_first=True).to_numpy(float) for name in ("firm", "city")
    ]
    D = np.column_stack([np.ones(200), data.x, *parts])
    cost = np.r_[np.zeros(D.shape[1]), np.full(200, tau), np.full(200, 1 - tau)]
    rows = np.hstack([D, np.eye(200), -np.eye(200)])
    bounds = [(None, None)] * D.shape[1] + [(0, None)] * 400
    best = linprog(cost, A_eq=rows, b_eq=data.y, bounds=bounds, method="highs")
    assert model.certificate_.primal * 200 == pytest.approx(best.fun, rel=1e-8)
