"""An optimum of exactly zero is solved: relative gaps below one cannot be proved for it."""

import numpy as np
import pytest
from fuzz_solve import check
from random_problems import random_problem

import rectiline as rl
from rectiline.constraints import LinearEquality, Nonnegative
from rectiline.losses import (
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    PiecewiseLQ,
    Pinball,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)
from rectiline.penalties import L1, Ridge

RESIDUAL = [
    SquaredError(),
    Absolute(),
    Huber(0.5),
    Pinball(0.3),
    EpsilonInsensitive(0.1),
    SquaredEpsilonInsensitive(0.1),
    Expectile(0.7),
]
MARGIN = [Hinge(), SquaredHinge(), SmoothedHinge()]


def problems(loss, seed):
    """Problems with fewer samples than columns that cost nothing at the optimum."""
    rng = np.random.default_rng(seed)
    n, d = 2 + int(rng.integers(3)), 5 + int(rng.integers(4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2)
    budget = [LinearEquality(np.ones((1, d)), [-1.0])]
    if loss.of == "margin":
        y = np.array([1.0, -1.0] * n)[:n]
        return [(X, y, None, ()), (X, y, None, budget)]
    positive = X @ np.abs(rng.normal(size=d))
    return [
        (X, np.zeros(n), None, ()),
        (X, np.zeros(n), Ridge(1.0), ()),
        (X, np.zeros(n), None, budget),
        (X, rng.normal(size=n), None, ()),
        (X, 0.05 * rng.uniform(-1, 1, size=n), None, ()),
        (X, positive, None, [Nonnegative()]),
    ]


@pytest.mark.parametrize("loss", RESIDUAL + MARGIN, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("intercept", [False, True])
def test_an_optimum_of_zero_is_solved(loss, intercept):
    for seed in range(2):
        for X, y, penalty, constraints in problems(loss, seed):
            problem = rl.Problem(
                X, y, loss=loss, penalty=penalty, constraints=constraints, fit_intercept=intercept
            )
            solution = rl.solve(problem)
            assert solution.status == "solved"
            proof = solution.certificate
            assert proof.dual <= 0.0 <= proof.primal
            assert proof.gap <= max(2.0**-52 * proof.scale, 1e-6 * proof.primal)


def test_two_assets_and_a_budget():
    """The least (x - y)^2 with x + y = 1 is zero, at a half each."""
    problem = rl.Problem(
        [[1.0, -1.0]],
        [0.0],
        loss=SquaredError(),
        penalty=None,
        constraints=[LinearEquality([[1.0, 1.0]], [-1.0])],
        fit_intercept=False,
    )
    solution = rl.solve(problem)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.coef, [0.5, 0.5], rtol=1e-7)


def test_small_is_not_zero():
    """A proved positive optimum has to be met relatively, however small it is."""
    proof = rl.Certificate(primal=3e-20, gap=1e-20, violation=0.0, scale=1.0)
    assert not proof.holds(1e-3)
    assert rl.Certificate(primal=1e-20, gap=2e-20, violation=0.0, scale=1.0).holds(1e-3)
    assert not rl.Certificate(primal=1e-9, gap=1e-9, violation=0.0, scale=1.0).holds(1e-3)


@pytest.mark.parametrize("loss", ["absolute", "epsilon_insensitive", "squared_error"])
def test_rows_without_weight_add_nothing_to_the_gap(loss):
    """Not even what products may lose by underflow."""
    rng = np.random.default_rng(0)
    y, weight = np.zeros(20), np.ones(20)
    y[3], weight[3] = 1.0, 0.0
    problem = rl.Problem(
        rng.normal(size=(20, 2)), y, loss, rl.penalties.ElasticNet(0.5, 0.5), sample_weight=weight
    )
    solution = rl.solve(problem)
    assert solution.status == "solved"
    assert solution.certificate.gap == 0.0


@pytest.mark.parametrize(("seed", "case"), [(161803, 152), (161803, 316), (90601, 152)])
def test_random_problems_without_a_scale_of_their_own(seed, case):
    """An optimum of nothing, and a contradiction among rows of which some are 1e11 away."""
    check(random_problem(seed, case))


@pytest.mark.parametrize("seed", [43, 49, 57, 93, 139])
def test_a_constant_target_under_units_given_by_hand_is_fitted_exactly(seed):
    # The knot is no round number: arguments miss it by a few units in the last place.
    rng = np.random.default_rng(seed)
    u, v = float(rng.uniform(0.1, 2.0)), float(rng.normal())
    loss = PiecewiseLQ.from_units(relu=[(u, v), (-1.3 * u, -1.3 * v)])
    X = rng.standard_normal((30, 4)) * 10.0 ** rng.uniform(-3, 3, 4)
    y = np.full(30, rng.normal() * 10.0 ** rng.uniform(-2, 1))
    for penalty in (Ridge(0.1), L1(0.1)):
        solution = rl.solve(rl.Problem(X, y, loss, penalty))
        assert solution.status == "solved" and np.abs(X * solution.coef).max() < 1e-12


@pytest.mark.parametrize("solver", ["interior", "newton"])
def test_squared_losses_of_large_targets_are_not_taken_for_zero(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    y = X @ (3e7 * rng.standard_normal(5)) + 0.08 * rng.standard_normal(40)
    problem = rl.Problem(X, y, SquaredError(), Ridge(1e-17), fit_intercept=False)
    best = np.linalg.lstsq(
        np.vstack([X, np.sqrt(1e-17) * np.eye(5)]), np.append(y, np.zeros(5)), rcond=None
    )[0]
    solution = rl.solve(problem, solver=solver)
    assert solution.status == "solved"
    assert solution.objective <= 1.01 * problem.objective(best, 0.0)


@pytest.mark.parametrize(("seed", "case"), [(424242, 489), (80102, 2824), (80106, 1959)])
def test_zeros_are_optimal_beside_a_linear_term(seed, case):
    check(random_problem(seed, case))
