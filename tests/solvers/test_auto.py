"""`auto` at default settings: every awkward problem ends solved, without a warning."""

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import rectiline as rl
from rectiline.constraints import (
    Fairness,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
)
from rectiline.losses import Absolute, Hinge, Huber, Pinball, SquaredHinge
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope
from rectiline.solvers._choose import choose

RNG = np.random.default_rng(5)


def regression(n, d):
    X = RNG.standard_normal((n, d))
    return X, X @ RNG.standard_normal(d) / np.sqrt(d) + 0.5 * RNG.standard_t(3, n)


def raw(name):
    load = {"cancer": load_breast_cancer, "diabetes": load_diabetes, "wine": load_wine}[name]
    X, y = load(return_X_y=True)
    return (X, y > 0) if name == "wine" else (X, y)


def cases():
    for C in (1e-2, 1.0, 1e4):
        yield f"cancer raw hinge {C}", rl.Problem(*raw("cancer"), Hinge(), Ridge(1 / C))
        yield (
            f"cancer raw squared hinge {C}",
            rl.Problem(*raw("cancer"), SquaredHinge(), Ridge(1 / C)),
        )
        yield f"wine raw hinge {C}", rl.Problem(*raw("wine"), Hinge(), Ridge(1 / C))
        yield f"cancer raw l1 {C}", rl.Problem(*raw("cancer"), Hinge(), L1(1 / C))
        yield f"diabetes pinball {C}", rl.Problem(*raw("diabetes"), Pinball(0.9), Ridge(1 / C))
        yield f"diabetes l1 {C}", rl.Problem(*raw("diabetes"), Pinball(0.9), L1(1 / C))
        yield f"diabetes huber {C}", rl.Problem(*raw("diabetes"), Huber(1.0), Ridge(1 / C))
    X, y = regression(400, 6)
    for weak in (1e-6, 1e-9):
        yield f"weak ridge {weak}", rl.Problem(X, y, Absolute(), Ridge(weak * 400))
        yield f"weak l1 {weak}", rl.Problem(X, y, Absolute(), L1(weak * 400))
    yield "no penalty", rl.Problem(X, y, Pinball(0.3), None)
    yield "separable", rl.Problem(X, X[:, 0] > 0, Hinge(), Ridge(1e-6))
    yield "separable, no penalty", rl.Problem(X, X[:, 0] > 0, Hinge(), None)
    doubled = np.hstack([X, X[:, :2], X[:, :1] + X[:, 1:2]])
    yield "collinear", rl.Problem(doubled, y, Absolute(), Ridge(1e-4))
    yield "collinear, no penalty", rl.Problem(doubled, y, Absolute(), None)
    near = np.hstack([X, X[:, :1] + 1e-5 * RNG.standard_normal((400, 1))])
    yield "nearly collinear, no penalty", rl.Problem(near, y, Absolute(), None)
    yield "target far away", rl.Problem(1e-3 * X, y + 100, Absolute(), Ridge(1.0))
    yield (
        "simplex",
        rl.Problem(X, y, Pinball(0.5), None, [LinearEquality(np.ones(6), -1.0), Nonnegative()]),
    )
    a = RNG.standard_normal(6)
    close = np.vstack([a, -a + 1e-6 * RNG.standard_normal(6)])
    yield (
        "nearly parallel",
        rl.Problem(X, y, Pinball(0.5), Ridge(1.0), LinearInequality(close, [-0.2, 0.2001])),
    )
    many = RNG.standard_normal((500, 6))
    yield "500 rows", rl.Problem(X, y, Pinball(0.5), Ridge(1.0), LinearInequality(many, 0.3))
    yield (
        "fair",
        rl.Problem(X, y > 0, Hinge(), Ridge(0.1), Fairness(RNG.standard_normal((400, 2)), 1e-3)),
    )
    wide, target = regression(30, 90)
    yield "wide ridge", rl.Problem(wide, target, Absolute(), Ridge(1e-2))
    yield "wide l1", rl.Problem(wide, target, Absolute(), L1(2.0))
    yield "wide weak hinge", rl.Problem(wide, target > 0, Hinge(), Ridge(1e-6))
    yield "wide elastic net", rl.Problem(wide, target, Huber(0.5), ElasticNet(1.0, 0.1))
    yield "groups", rl.Problem(X, y, Pinball(0.5), GroupLinf(20.0, [[0, 1, 2], [3, 4]]))
    yield "slope", rl.Problem(X, y, Absolute(), Slope(np.linspace(40.0, 5.0, 6)))
    chain, level = regression(600, 200)
    yield "chain of 200", rl.Problem(chain, level, Pinball(0.5), Ridge(1e-1), Monotone())


CASES = [pytest.param(problem, id=name) for name, problem in cases()]


@pytest.mark.parametrize("problem", CASES)
def test_default_settings_solve_it(problem):
    solution = rl.solve(problem)
    assert solution.status == "solved"
    assert solution.certificate.relative_gap <= 1e-6
    assert solution.certificate.relative_violation <= 1e-9
    assert solution.reason


def test_median_regression_finds_the_exact_intercept():
    X, y = regression(101, 2)
    problem = rl.Problem(1e-9 * X, y + 100, Absolute(), Ridge(1.0))
    assert rl.solve(problem, tol=1e-9).intercept == pytest.approx(np.median(y + 100), abs=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_of_the_target_does_not_matter(factor):
    X, y = regression(300, 5)
    one = rl.solve(rl.Problem(X, y, Huber(1.0), Ridge(0.1)), tol=1e-9)
    other = rl.solve(rl.Problem(X, factor * y, Huber(factor), Ridge(0.1)), tol=1e-9)
    np.testing.assert_allclose(other.coef, factor * one.coef, rtol=1e-4)


def test_weights_equal_repeated_rows():
    X, y = regression(80, 4)
    weight = RNG.integers(0, 4, 80)
    weighted = rl.solve(rl.Problem(X, y, Pinball(0.7), Ridge(1.0), sample_weight=weight), tol=1e-10)
    repeated = rl.solve(
        rl.Problem(np.repeat(X, weight, axis=0), np.repeat(y, weight), Pinball(0.7), Ridge(1.0)),
        tol=1e-10,
    )
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-5)


def test_a_stage_that_gives_up_hands_its_pair_over():
    """Coordinate ascent is tried, sees that it is slow, and newton goes on from its point."""
    rng = np.random.default_rng(0)
    common = rng.standard_normal((1000, 3)) @ rng.standard_normal((3, 300))
    X = common + 0.3 * rng.standard_normal((1000, 300))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(1000)
    problem = rl.Problem(X, y, Absolute(), Ridge(1.0), sample_weight=np.full(1000, 0.002))
    solution = rl.solve(problem, tol=1e-9)
    assert solution.status == "solved"
    assert "; then " in solution.reason
    assert solution.history[0].solver == "rehline"


@pytest.mark.parametrize("solver", ["auto", "interior"])
@pytest.mark.parametrize("strength, most", [(0.3, 60), (4.0, 0)])
def test_slope_has_exact_zeros(solver, strength, most):
    """Where the answer is zero all coefficients are, not 1e-9."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 90))
    y = X[:, :5] @ rng.normal(size=5) + 0.5 * rng.normal(size=60)
    strengths = strength * np.abs(X.T @ y).max() * np.linspace(1.0, 0.3, 90)
    problem = rl.Problem(X, y, rl.losses.SquaredError(), rl.penalties.Slope(strengths))
    coef = rl.solve(problem, solver=solver).coef
    assert np.count_nonzero(coef) <= most
    assert np.abs(coef[coef != 0]).min(initial=1.0) > 1e-4


def test_the_patience_of_newton_steps_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 150))
    y = X @ rng.normal(size=150) + rng.normal(size=200)
    problem = rl.Problem(X, y, rl.losses.Huber(), rl.penalties.Slope(np.linspace(1.0, 0.1, 150)))
    with pytest.warns(rl.ConvergenceWarning, match="stalled"):
        hurried = rl.solve(problem, solver="generation", patience=1e6)
    assert hurried.status == "stalled" and hurried.n_iter <= 2
    assert rl.solve(problem).status == "solved"


@pytest.mark.parametrize(
    ("n", "d", "share", "first"),
    [(200, 150, 0.001, "interior"), (200, 150, 0.1, "generation"), (30, 150, 0.001, "generation")],
)
def test_coupled_columns_are_generated_where_few_clusters_may_be_left(n, d, share, first):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    largest = 1.0 / rl.penalties.Slope(np.linspace(1.0, 0.1, d)).shrink_factor(X.T @ y)
    strengths = share * largest * np.linspace(1.0, 0.1, d)
    problem = rl.Problem(X, y, rl.losses.SquaredError(), rl.penalties.Slope(strengths))
    names = [stage.method.name for stage in choose(problem)]
    more = ["interior", "interior", "generation"]
    assert names == (more if first == "interior" else ["generation", *more])
    assert rl.solve(problem).status == "solved"


def test_many_columns_without_a_price_and_with_many_rows_go_to_interior():
    """1,100 columns, quadratic in few of them: generating columns did not end within minutes."""
    d, m = 1100, 150
    rng = np.random.default_rng(3)
    A = sp.csr_array(rng.random((m, d)) * (rng.random((m, d)) < 0.01))
    rows = rl.constraints.LinearConstraint(A, 1.0)
    problem = rl.Problem(
        sp.eye_array(20, d, format="csr"),
        None,
        "squared_error",
        linear=rng.uniform(0.5, 1.0, d),
        constraints=[Nonnegative(), rows],
    )
    assert choose(problem)[0].method.name == "interior"
    assert rl.solve(problem).status == "solved"


@pytest.mark.parametrize(
    ("n", "d", "density", "first"),
    [
        (1500, 300, 0.02, "interior"),
        (600, 1500, 0.03, "interior"),
        (600, 1500, 0.007, "smoothed"),
        (40_000, 300, 0.02, "newton"),
    ],
)
def test_sparse_linear_programs_go_to_interior_unless_rows_are_many(n, d, density, first):
    """Interior sums up the squares of all rows at every step: w8a under L1 took 8 times as long."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=density, rng=rng, data_sampler=rng.standard_normal)
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    largest = np.abs(X.T @ np.sign(y)).max()
    problem = rl.Problem(X.tocsr(), y, Absolute(), L1(0.02 * largest), fit_intercept=False)
    assert choose(problem)[0].method.name == first


@pytest.mark.parametrize(
    ("n", "loss", "first"),
    [(1200, "squared_hinge", "newton"), (1200, "hinge", "newton"), (500, "hinge", "interior")],
)
def test_dense_data_of_few_rows_a_column_go_to_interior_if_the_loss_has_kinks(n, loss, first):
    """Squared hinge on isolet took 5 times as long by interior."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 450))
    y = np.sign(X[:, :20].sum(axis=1) + rng.standard_normal(n))
    assert choose(rl.Problem(X, y, loss, Ridge(0.1)))[0].method.name == first


def test_fixed_effects_go_to_interior():
    rng = np.random.default_rng(0)
    n, firms = 20_000, 1_000
    firm, x = rng.integers(firms, size=n), rng.standard_normal((n, 5))
    effects = sp.csr_array((np.ones(n), (np.arange(n), firm)), shape=(n, firms))
    X = sp.csr_array(sp.hstack([sp.csr_array(x), effects[:, 1:]]))
    problem = rl.Problem(X, x.sum(axis=1) + rng.standard_t(3, n), Absolute(), None)
    assert choose(problem)[0].method.name == "interior"


def test_a_wide_dense_elastic_net_goes_to_interior():
    """Sweeps over 4,000 columns under L1 took 12 s where systems of 200 rows take 0.15 s."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4000))
    y = np.sign(X[:, :20].sum(axis=1) + rng.normal(size=200))
    problem = rl.Problem(X, y, "hinge", rl.penalties.ElasticNet(10.0, 1.0))
    assert choose(problem)[0].method.name == "interior"
    assert rl.solve(problem).status == "solved"


def test_sweeps_come_first_where_a_class_is_rare():
    """Few rows of one class leave most of the other beyond the kink: the dual is less stiff."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    z = X @ rng.normal(size=60)
    firsts = []
    for share in (0.5, 0.06):
        y = np.where(z > np.quantile(z, 1.0 - share), 1.0, -1.0)
        weight = np.full(3000, 20.0 / 3000)
        problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.Ridge(1.0), sample_weight=weight)
        firsts.append(choose(problem)[0].method.name)
    assert firsts == ["newton", "rehline"]


def test_sweeps_come_first_on_many_rows_with_next_to_no_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(70_000, 4)), np.tile([1.0, -1.0], 35_000)
    firsts = []
    for total in (0.1, 10.0):
        weight = np.full(70_000, total / 70_000)
        problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.Ridge(1.0), sample_weight=weight)
        firsts.append(choose(problem)[0].method.name)
    assert firsts == ["rehline", "newton"]


@pytest.mark.filterwarnings("ignore::rectiline.ConvergenceWarning")
def test_rows_whose_products_overflow_are_no_error():
    X = sp.csr_array(7e153 * np.linspace(-1.0, 1.0, 21)[:, None])
    y = np.where(np.arange(21) % 3, 1.0, -1.0)
    for solver in ("auto", "reduced_newton"):
        solution = rl.solve(rl.Problem(X, y, Hinge(), Ridge(2e-101)), solver, max_iter=50)
        assert solution.certificate.primal >= 0.0
