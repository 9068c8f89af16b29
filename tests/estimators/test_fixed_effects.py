"""Fixed effects against dummies by hand and cvxpy: every loss, weights, constraints, new levels."""

import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl

RNG = np.random.default_rng(7)
N = 300
FIRM, YEAR = RNG.integers(0, 12, N), RNG.integers(2001, 2005, N)
Z = RNG.standard_normal((N, 2))
Y = Z @ [1.0, -0.5] + 0.7 * FIRM + 0.2 * (YEAR - 2001) + RNG.standard_t(3, N)
W = RNG.uniform(0.5, 2.0, N)
FRAME = pd.DataFrame(
    {"firm": [f"f{k:02d}" for k in FIRM], "a": Z[:, 0], "year": YEAR, "b": Z[:, 1]}
)
EFFECTS = ["firm", "year"]


def dummies(first=1):
    firms = (FIRM[:, None] == np.arange(12)[first:]).astype(float)
    years = (YEAR[:, None] == np.arange(2001, 2005)[first:]).astype(float)
    return np.column_stack([Z, firms, years])


@pytest.mark.parametrize("table", ["pandas", "polars", "pyarrow", "array"])
def test_effects_are_dummies(table):
    X, effects = FRAME, EFFECTS
    if table == "polars":
        X = pytest.importorskip("polars").from_pandas(FRAME)
    elif table == "pyarrow":
        X = pytest.importorskip("pyarrow").Table.from_pandas(FRAME)
    elif table == "array":
        X, effects = np.column_stack([FIRM, Z[:, 0], YEAR, Z[:, 1]]), [0, 2]
    model = rl.QuantileRegressor(quantile=0.4, alpha=0, fixed_effects=effects).fit(X, Y, W)
    plain = rl.QuantileRegressor(quantile=0.4, alpha=0).fit(dummies(), Y, W)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict(X), plain.predict(dummies()), atol=1e-6)
    assert model.verify(X, Y, W).relative_gap <= 1e-8
    if table != "array":
        assert model.feature_names_in_[:4].tolist() == ["a", "b", "firm=f01", "firm=f02"]


@pytest.mark.parametrize("loss", ["absolute", "huber", "squared_error", "epsilon_insensitive"])
def test_the_penalty_leaves_effects_alone(loss):
    params = {"huber": {"delta": 1.0}, "epsilon_insensitive": {"epsilon": 0.2}}.get(loss)
    model = rl.PLQRegressor(
        loss, loss_params=params, C=0.3, fixed_effects=EFFECTS, constraints={"b": ">=0"}, tol=1e-9
    ).fit(FRAME, Y, W)
    b, b0, D = cp.Variable(16), cp.Variable(), dummies()
    r = Y - D @ b - b0
    value = {
        "absolute": lambda: cp.abs(r),
        "huber": lambda: 0.5 * cp.huber(r, 1.0),
        "squared_error": lambda: 0.5 * cp.square(r),
        "epsilon_insensitive": lambda: cp.pos(cp.abs(r) - 0.2),
    }[loss]()
    scale = (
        rl.losses.get(loss, **(params or {})).value(3.0, 0.0)
        / {"absolute": 3.0, "huber": 2.5, "squared_error": 4.5, "epsilon_insensitive": 2.8}[loss]
    )
    total = 0.3 * scale * cp.sum(cp.multiply(W, value)) + 0.5 * cp.sum_squares(b[:2])
    best = cp.Problem(cp.Minimize(total), [b[1] >= 0]).solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.coef_[1] == 0.0 and model.coef_[2] != 0.0


def test_constraints_on_all_columns_leave_effects_alone():
    flipped = FRAME.assign(a=-FRAME["a"])
    model = rl.PLQRegressor(
        "absolute", penalty=None, fixed_effects="firm", constraints=rl.constraints.Nonnegative()
    ).fit(flipped.drop(columns="year"), -Y)
    assert (model.coef_[:2] >= 0).all() and (model.coef_[2:] < 0).any()


def test_effects_under_an_l1_norm():
    model = rl.QuantileRegressor(alpha=0, fixed_effects="firm", effects_l1=0.02)
    model.fit(FRAME.drop(columns="year"), Y)
    D = np.column_stack([Z, FIRM[:, None] == np.arange(12)]).astype(float)
    b, b0 = cp.Variable(14), cp.Variable()
    total = cp.sum(cp.abs(Y - D @ b - b0)) / (2 * N) + 0.02 * cp.norm1(b[2:])
    best = cp.Problem(cp.Minimize(total)).solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert (model.coef_[2:] == 0).any()


def test_shrunk_effects_reach_the_optimum_of_highs():
    tau, strength = 0.7, 0.01
    model = rl.QuantileRegressor(
        quantile=tau, alpha=0, fixed_effects="firm", effects_l1=strength
    ).fit(FRAME.drop(columns="year"), Y)
    D = np.column_stack([np.ones(N), Z, FIRM[:, None] == np.arange(12)]).astype(float)
    cost = np.r_[np.zeros(3), np.full(24, N * strength), np.full(N, tau), np.full(N, 1 - tau)]
    rows = np.hstack([D, -D[:, 3:], np.eye(N), -np.eye(N)])
    bounds = [(None, None)] * 3 + [(0, None)] * (24 + 2 * N)
    best = linprog(cost, A_eq=rows, b_eq=Y, bounds=bounds, method="highs")
    assert N * model.certificate_.primal == pytest.approx(best.fun, rel=1e-8)


def test_defaults_do_not_count_effects():
    slopes = rl.PLQRegressor(fixed_effects=EFFECTS).fit(FRAME, 100 * Y)
    assert slopes.certificate_.relative_gap <= 1e-6
    np.testing.assert_allclose(slopes.coef_[:2] / 100, [1.0, -0.5], atol=0.2)


def test_classifier_and_sparse_X():
    labels = np.where(np.median(Y) < Y, "high", "low")
    frame = rl.PLQClassifier(fixed_effects=EFFECTS, C=0.5).fit(FRAME, labels)
    numbers = sp.csr_array(np.column_stack([FIRM, Z[:, 0], YEAR, Z[:, 1]]).astype(float))
    sparse = rl.PLQClassifier(fixed_effects=[0, 2], C=0.5).fit(numbers, labels)
    assert sparse.certificate_.primal == pytest.approx(frame.certificate_.primal, rel=1e-5)
    assert (sparse.predict(numbers) == frame.predict(FRAME)).mean() > 0.98
    assert frame.score(FRAME, labels) > 0.8


def test_a_search_leaves_effects_alone():
    model = rl.PLQRegressorCV("absolute", Cs=4, cv=3, fixed_effects=EFFECTS).fit(FRAME, Y)
    again = rl.PLQRegressor("absolute", C=model.C_, fixed_effects=EFFECTS).fit(FRAME, Y)
    assert model.certificate_.primal == pytest.approx(again.certificate_.primal, rel=1e-5)
    scored = rl.PLQRegressorCV(
        "absolute", Cs=3, cv=3, fixed_effects=EFFECTS, scoring="neg_mean_absolute_error"
    )
    assert np.isfinite(scored.fit(FRAME, Y).cv_results_["mean_test_score"]).all()


def test_summary_shows_the_other_columns():
    model = rl.QuantileRegressor(alpha=0, fixed_effects=EFFECTS).fit(FRAME, Y)
    plain = rl.QuantileRegressor(alpha=0).fit(dummies(), Y)
    for options in ({"kind": "kernel"}, {"kind": "cluster", "groups": FIRM}):
        table, full = model.summary(FRAME, Y, **options), plain.summary(dummies(), Y, **options)
        assert table.names == ("(intercept)", "a", "b")
        np.testing.assert_allclose(table.std_error, full.std_error[:3], rtol=1e-4)
        assert "14 effects not shown" in table.note


def test_new_levels():
    new = FRAME.iloc[:3].assign(firm=["f00", "f77", "f05"])
    fitted = {}
    for choice in ("error", "zero", "mean"):
        model = rl.QuantileRegressor(alpha=0, fixed_effects=EFFECTS, new_levels=choice)
        fitted[choice] = model.fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"'firm' holds 'f77' in row 1.*12 levels"):
        fitted["error"].predict(new)
    reference = new.assign(firm=["f00", "f00", "f05"])
    np.testing.assert_allclose(fitted["zero"].predict(new), fitted["error"].predict(reference))
    means = fitted["mean"].predict(new)
    each = [fitted["error"].predict(new.assign(firm=f"f{k:02d}"))[1] for k in FIRM]
    assert means[1] == pytest.approx(np.mean(each))
    np.testing.assert_allclose(means[[0, 2]], fitted["zero"].predict(new)[[0, 2]])


def test_refusals():
    with pytest.raises(ValueError, match="fixed_effects: X has no column 'frim'"):
        rl.PLQRegressor(fixed_effects="frim").fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"'firm' holds 'f.*categorical='onehot'"):
        rl.PLQRegressor(fixed_effects="year").fit(FRAME, Y)
    with pytest.raises(ValueError, match="sums over columns"):
        rl.PLQRegressor(penalty="slope", C=1.0, fixed_effects=EFFECTS).fit(FRAME, Y)
    with pytest.raises(ValueError, match="one by one"):
        rl.QuantileRegressor(
            quantile=[0.2, 0.8], alpha=0, non_crossing=True, fixed_effects=EFFECTS
        ).fit(FRAME, Y)


def test_cluster_errors_beside_many_effects():
    rng = np.random.default_rng(3)
    n, firms = 4000, 200
    firm = rng.integers(0, firms, n)
    x = rng.standard_normal(n) + 0.5 * rng.standard_normal(firms)[firm]
    shock = rng.standard_normal((firms, 2))[firm, rng.integers(0, 2, n)]
    y = x + shock + rng.standard_normal(n)
    frame = pd.DataFrame({"x": x, "firm": firm})
    model = rl.QuantileRegressor(alpha=0, fixed_effects="firm").fit(frame, y)
    table = model.summary(frame, y, "cluster", groups=firm)
    assert table.names == ("(intercept)", "x") and "200 clusters" in table.note
    drawn = rl.inference.bootstrap(
        model, frame, y, method="wild", groups=firm, n_boot=200, random_state=0
    )
    assert table.std_error[1] == pytest.approx(drawn[:, 1].std(), rel=0.3)


def test_a_time_limit_is_named_as_it_was_given():
    with pytest.raises(rl.exceptions.NoAnswerError, match=r"time_limit=1e-09: the time was up"):
        rl.QuantileRegressor(alpha=0, time_limit=1e-9).fit(Z, Y)


def test_a_time_limit_does_not_leave_zeros_beside_many_effects():
    rng = np.random.default_rng(0)
    n, firms = 20_000, 1_000
    firm, x = rng.integers(firms, size=n), rng.standard_normal((n, 5))
    y = x.sum(axis=1) + rng.standard_normal(firms)[firm] + rng.standard_t(3, n)
    effects = sp.csr_array((np.ones(n), (np.arange(n), firm)), shape=(n, firms))
    X = sp.csr_array(sp.hstack([sp.csr_array(x), effects[:, 1:]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        try:
            model = rl.QuantileRegressor(alpha=0, time_limit=0.5).fit(X, y)
        except rl.NoAnswerError:  # nothing was known in time
            return
    assert model.coef_.any()
