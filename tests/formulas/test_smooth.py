"""Smooth terms: against cvxpy, R's rqss, the same penalty as sparse rows, and their shapes."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse as sp
from scipy.interpolate import BSpline

import rectiline as rl

pytest.importorskip("formulaic")
pytest.importorskip("matplotlib")


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": np.round(rng.uniform(0, 10, n), 3), "z": rng.standard_normal(n)})
    data["y"] = np.sin(data.x) + data.x / 5 + 0.5 * data.z + 0.3 * rng.standard_normal(n)
    return data


def check(u, level):
    return cp.sum(cp.maximum(level * u, (level - 1) * u))


def splines(x, df, degree=3):
    """Return B-splines on equidistant knots, made without the code of formulas."""
    low, high = x.min(), x.max()
    step = (high - low) / (df + 1 - degree)
    knots = low + step * np.arange(-degree, df + 2)
    return BSpline.design_matrix(np.clip(x, low, high - 1e-12), knots, degree).toarray()


@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_a_smooth_term_is_a_penalised_spline(strength):
    data, level = table(), 0.3
    model = rl.formula(f"y ~ s(x, df=12, strength={strength}) + z", data).fit(
        rl.QuantileRegressor(quantile=level, alpha=1.0 / len(data), tol=1e-10)
    )
    B, D = splines(data.x.to_numpy(), 12), np.diff(np.eye(13), n=2, axis=0)
    c, slope = cp.Variable(13), cp.Variable()
    loss = check(data.y.to_numpy() - B @ c - slope * data.z.to_numpy(), level)
    reference = cp.Problem(cp.Minimize(loss + strength / 2 * cp.sum_squares(D @ c)))
    reference.solve(solver=cp.CLARABEL, tol_gap_rel=1e-11, tol_gap_abs=1e-11)
    np.testing.assert_allclose(model.predict(data), B @ c.value + slope.value * data.z, atol=1e-5)
    assert model.certificate_.primal * len(data) == pytest.approx(reference.value, rel=1e-7)


def test_the_same_penalty_reaches_solvers_as_sparse_rows():
    data = table()
    B = sp.csr_array(splines(data.x.to_numpy(), 12))
    penalty = rl.penalties.Fused(2.0, order=2, squared=True)
    problem = rl.Problem(B, data.y, "huber", penalty, fit_intercept=False)
    solution = rl.solve(problem, tol=1e-10)
    model = rl.formula("y ~ s(x, df=12, strength=2)", data).fit(
        rl.PLQRegressor("huber", C=1.0, loss_params={"delta": 1.0}, tol=1e-10)
    )
    np.testing.assert_allclose(model.predict(data), B @ solution.coef, atol=1e-4)
    assert solution.certificate.relative_gap <= 1e-10


def test_total_variation_is_the_trend_filter_of_cvxpy():
    data, level, strength = table(80), 0.6, 0.7
    model = rl.formula(f"y ~ tv(x, strength={strength})", data).fit(
        rl.QuantileRegressor(quantile=level, alpha=1.0 / len(data), tol=1e-10)
    )
    points, place = np.unique(data.x, return_inverse=True)
    g = cp.Variable(points.size)
    slopes = cp.multiply(cp.diff(g), 1 / np.diff(points))
    total = check(data.y.to_numpy() - g[place], level) + strength * cp.norm1(cp.diff(slopes))
    reference = cp.Problem(cp.Minimize(total))
    reference.solve(solver=cp.CLARABEL)
    assert model.certificate_.primal * len(data) == pytest.approx(reference.value, rel=1e-7)
    chain = rl.penalties.Fused(strength, order=2, positions=points)
    X = sp.csr_array((np.ones(80), (np.arange(80), place)), shape=(80, points.size))
    problem = rl.Problem(X, data.y, rl.losses.Pinball(level), chain, fit_intercept=False)
    solved = rl.solve(problem, tol=1e-8)
    assert solved.certificate.primal == pytest.approx(reference.value, rel=1e-6)


# rqss(y ~ qss(x, lambda), tau) of R 4.2.2 with quantreg 5.94: (tau, lambda) and fitted values.
RQSS = {
    (0.3, 0.5): (0.358627962964, 0.648135940172, 0.583994325692, 1.339978888953),
    (0.3, 2): (0.500229466155, 0.589416585095, 0.665232072430, 1.339978889695),
    (0.5, 0.5): (0.500229465560, 0.749387021303, 0.698565475259, 1.341055111805),
    (0.5, 2): (0.507249151683, 0.698856033362, 0.781608746328, 1.351136479592),
    (0.8, 0.5): (0.500229466025, 0.933067134088, 1.001661663336, 1.433100563645),
    (0.8, 2): (0.902133102098, 0.933067134061, 1.037002631150, 2.019999320490),
}
# The objective at 0.5 with lambda = 2 and constraint = "I", whose answer is not unique.
RQSS_INCREASING = 13.1041312327


def counted():
    i = np.arange(1, 61)
    noise = 0.06 * ((7 * i * i + 3 * i) % 11 - 5) + 0.001 * (i % 7)
    return pd.DataFrame({"x": i / 6, "y": np.sin(i / 6) + i / 30 + noise})


@pytest.mark.parametrize(("level", "strength"), RQSS)
def test_total_variation_is_that_of_r(level, strength):
    data = counted()
    # R multiplies the total variation by half of lambda, as it does in its lasso.
    estimator = rl.QuantileRegressor(quantile=level, alpha=strength / 2 / 60)
    model = rl.formula("y ~ tv(x)", data).fit(estimator)
    found = model.predict(data)[[0, 16, 34, 59]]
    np.testing.assert_allclose(found, RQSS[level, strength], atol=2e-6)


def test_an_increasing_total_variation_is_that_of_r():
    data = counted()
    model = rl.formula("y ~ tv(x, shape='increasing')", data).fit(
        rl.QuantileRegressor(quantile=0.5, alpha=1 / 60)
    )
    found = model.predict(data)
    bends = np.diff(np.diff(found) / np.diff(data.x))
    total = np.abs(data.y - found).sum() / 2 + np.abs(bends).sum()
    assert total == pytest.approx(RQSS_INCREASING, rel=1e-8)
    assert total <= RQSS_INCREASING


@pytest.mark.parametrize("shape", ["increasing", "decreasing", "convex", "concave"])
@pytest.mark.parametrize(
    "term", ["s(x, df=9, shape={!r})", "tv(x, knots=np.arange(1, 10), shape={!r})"]
)
def test_shapes_hold_everywhere(term, shape):
    data = table()
    model = rl.formula("y ~ z + " + term.format(shape), data).fit(
        rl.QuantileRegressor(quantile=0.5, alpha=1e-3)
    )
    grid = np.linspace(-2.0, 12.0, 701)  # beyond both ends as well
    values = model.predict({"x": grid, "z": np.zeros(701)})
    order = 1 if shape.endswith("creasing") else 2
    sign = 1.0 if shape in ("increasing", "convex") else -1.0
    assert (sign * np.diff(values, n=order) >= -1e-7).all()
    assert len(model.design.constraints) == 1


def test_two_shapes():
    data = table()
    model = rl.formula("y ~ s(x, shape=('increasing', 'concave'))", data).fit(
        rl.PLQRegressor("huber")
    )
    values = model.predict({"x": np.linspace(0, 10, 301)})
    assert (np.diff(values) >= -1e-8).all() and (np.diff(values, n=2) <= 1e-8).all()


@pytest.mark.parametrize("term", ["s(x)", "tv(x, knots=np.linspace(1, 9, 17))"])
def test_strengths_are_searched(term):
    data = table(300)
    truth = np.sin(data.x) + data.x / 5 + 0.5 * data.z
    for search, least in (
        (rl.PLQRegressorCV(loss="huber", Cs=np.logspace(-4, 3, 8)), "C_"),
        (rl.QuantileRegressorCV(quantile=0.5, alphas=np.logspace(-6, 1, 8)), "alpha_"),
    ):
        model = rl.formula(f"y ~ {term} + z", data).fit(search)
        assert np.std(model.predict(data) - truth) < 0.15
        grid = np.asarray(search.get_params()["Cs" if least == "C_" else "alphas"])
        assert grid.min() < getattr(model, least) < grid.max()


def test_partial_effects_are_centred_and_cover_the_truth():
    data = table(400)
    model = rl.formula("y ~ s(x) + z", data).fit(rl.QuantileRegressor(alpha=1e-3))
    effect = model.partial_effect("s(x)", n_boot=60, random_state=0)
    at_data = model.partial_effect("s(x)", grid=data.x, kind=None)
    assert at_data.value.mean() == pytest.approx(0.0, abs=1e-9)
    step = model.predict({"x": effect.grid, "z": np.zeros(101)})
    np.testing.assert_allclose(effect.value - effect.value[0], step - step[0], atol=1e-9)
    truth = np.sin(effect.grid) + effect.grid / 5
    truth -= (np.sin(data.x) + data.x / 5).mean()
    held = (effect.lower <= truth) & (truth <= effect.upper)
    assert held.mean() > 0.8
    assert np.isnan(at_data.lower).all()
    line = model.partial_effect("z", grid=[0.0, 1.0], kind=None).value
    assert line[1] - line[0] == pytest.approx(model.coef_[-1])
    with pytest.raises(ValueError, match=r"its terms are \['s\(x\)', 'z'\]"):
        model.partial_effect("s(z)")


def test_effects_without_a_penalty_have_analytic_intervals():
    data = table(300)
    model = rl.formula("y ~ bs(x, df=6)", data).fit(
        rl.QuantileRegressor(quantile=[0.25, 0.75], alpha=0)
    )
    effect = model.partial_effect("bs(x, df=6)", kind="kernel")
    assert effect.value.shape == effect.lower.shape == (2, 101)
    assert (effect.lower < effect.value).all()


def test_the_display_draws_bands():
    import matplotlib as mpl

    mpl.use("Agg")
    data = table()
    model = rl.formula("y ~ s(x)", data).fit(
        rl.QuantileRegressor(quantile=[0.25, 0.75], alpha=1e-3)
    )
    display = rl.reports.PartialEffectDisplay.from_formula(model, "s(x)", n_boot=10)
    assert [line.get_label() for line in display.lines_] == ["quantile 0.25", "quantile 0.75"]
    assert len(display.ax_.collections) == 2
    assert display.ax_.get_xlabel() == "x" and display.ax_.get_ylabel() == "s(x)"
    plain = rl.reports.PartialEffectDisplay.from_formula(model, "s(x)", kind=None)
    assert not plain.ax_.collections
    with pytest.raises(TypeError, match="must be a fitted formula"):
        rl.reports.PartialEffectDisplay.from_formula(model.estimator, "s(x)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y ~ s(x, df=3)", "df must be greater than degree=3"),
        ("y ~ s(x, strength=-1)", "strength must be a finite number >= 0"),
        ("y ~ s(x, shape='round')", "shape must be one or two of"),
        ("y ~ tv(x, shape=['convex', 'concave'])", "exclude one another"),
        ("y ~ tv(x, knots=[-5])", "knots must lie between"),
        ("y ~ s(x):z", "multiplies a spline with a shape or a penalty"),
    ],
)
def test_wrong_terms_are_explained(text, message):
    with pytest.raises(ValueError, match=message):
        rl.formula(text, table())


def test_other_estimators_take_no_smooth_terms():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="takes no penalty"):
        rl.formula("y ~ s(x)", table()).fit(LinearRegression())
    data = table().rename(columns={"z": "s"})  # a column may have the name of a term
    assert rl.formula("y ~ s + tv(x)", data).names[0] == "s"
