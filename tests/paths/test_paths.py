"""Paths: the first strength is the smallest with zeros only, every point is certified."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.constraints import LinearInequality, Nonnegative
from rectiline.paths import (
    default_strengths,
    largest_strength,
    path,
)
from rectiline.penalties import L1, Columnwise, ElasticNet, GroupLinf, Ridge, Slope
from rectiline.problems.intercepts import best_intercept, middle_intercept

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 6))
Y = np.round(X[:, 0] + RNG.normal(size=60))  # ties on purpose
LABELS = np.where(X[:, 1] + RNG.normal(size=60) > -0.4, 1, -1)

LOSSES = [
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.Pinball(0.3),
    rl.losses.Absolute(),
    rl.losses.Huber(),
    rl.losses.EpsilonInsensitive(0.5),
]
PENALTIES = [
    L1(1.0),
    L1(1.0, weights=[1, 2, 3, 1, 2, 3]),
    ElasticNet(0.3, 0.7),
    Columnwise(np.ones(6), np.arange(6.0)),
    GroupLinf(1.0, [0, 0, 1, 1, 2, 2]),
    Slope.bh(6, 0.1),
]


def problem(loss, penalty, **more):
    return rl.Problem(X, LABELS if loss.of == "margin" else Y, loss, penalty, **more)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_largest_strength_is_exact(loss, penalty, fit_intercept):
    """Zeros are optimal just above it and not just below."""
    one = problem(loss, penalty, fit_intercept=fit_intercept)
    top = largest_strength(one)
    zero = path(one, n_strengths=2)[0]
    assert not zero.coef.any() and zero.certificate.relative_gap <= 1e-9
    below = rl.solve(one.with_penalty(penalty.with_strength(0.99 * top)), tol=1e-9)
    zeros = one.with_penalty(penalty.with_strength(0.99 * top)).objective(zero.coef, zero.intercept)
    assert below.objective < zeros * (1 - 1e-8)


@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.Absolute()], ids=repr)
def test_constraints_count(loss):
    free = problem(loss, L1(1.0))
    signed = problem(loss, L1(1.0), constraints=Nonnegative())
    assert largest_strength(signed) <= largest_strength(free) * (1 + 1e-9)
    top = largest_strength(signed)
    below = rl.solve(signed.with_penalty(L1(0.98 * top)), tol=1e-9)
    assert below.coef.max() > 0
    outside = problem(loss, L1(1.0), constraints=LinearInequality(np.ones(6), -1.0))
    with pytest.raises(ValueError, match="exclude"):
        largest_strength(outside)


def test_free_columns_are_fitted_first():
    weights = np.array([0.0, 1, 1, 1, 1, 1])
    one = problem(rl.losses.Huber(), L1(1.0, weights))
    top = largest_strength(one)
    above = rl.solve(one.with_penalty(L1(1.001 * top, weights)), tol=1e-10)
    assert np.abs(above.coef[1:]).max() < 1e-4 < abs(above.coef[0])


@pytest.mark.parametrize("penalty", [*PENALTIES, Ridge(1.0)], ids=lambda p: type(p).__name__)
def test_every_point_is_certified_and_the_path_descends(penalty):
    found = path(problem(rl.losses.Huber(), penalty), n_strengths=5, tol=1e-7)
    assert len(found) == 5 and found.relative_gaps.max() <= 1e-7
    assert np.all(np.diff(found.strengths) < 0)
    sizes = [np.abs(one.coef).sum() for one in found]
    assert sizes[0] < sizes[-1] and "5 strengths" in repr(found)


def test_targets_that_do_not_vary():
    problem = rl.Problem(X, np.zeros(60), rl.losses.Pinball(0.8), L1(1.0), Nonnegative())
    found = path(problem, n_strengths=4)
    assert len(found) == 4 and np.isfinite(largest_strength(problem))
    assert abs(found.coefs).max() == 0.0 and found.relative_gaps.max() <= 1e-6


def test_a_constant_column_asks_for_nothing():
    """What rounding leaves of a sum that is zero is no strength to start a grid from."""
    rng = np.random.default_rng(5)
    y = 1e9 * (7.0 + 1e-8 * rng.standard_t(3, 1500))
    one = rl.Problem(np.ones((1500, 1)), y, rl.losses.Pinball(0.8), L1(1.0))
    assert largest_strength(one) == 0.0
    found = path(one, n_strengths=20, tol=1e-4)
    assert found.strengths[0] == 1.0 and found.relative_gaps.max() <= 1e-4


@pytest.mark.parametrize("penalty", [L1(2.0), GroupLinf(2.0, [0, 0, 1, 1, 2])], ids=repr)
def test_classes_that_open_multipliers_can_balance(penalty):
    """The smaller class lies within the larger one: the best constant is optimal at any strength.

    The linear program ends at rounding then, not at zero.
    """
    rng = np.random.default_rng(3)
    many = rng.normal(size=(1200, 5))
    labels = np.where(rng.normal(size=1200) > -0.7, 1, -1)
    weight = rng.integers(0, 3, 1200)
    one = rl.Problem(many, labels, rl.losses.Hinge(), penalty, sample_weight=weight)
    assert largest_strength(one) == 0.0
    found = path(one, n_strengths=20, tol=1e-6)
    assert found.strengths[0] == 2.0 and found.relative_gaps.max() <= 1e-6
    constant = one.with_penalty(penalty.with_strength(found.strengths[-1]))
    constant = constant.objective(np.zeros(5), 1.0)
    assert found[-1].objective >= constant * (1 - 2e-6)


def test_columns_of_very_different_sizes():
    """Small columns stay violated by what a solver of linear programs calls feasible."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(400, 20))
    labels = np.where(wide[:, 0] - wide[:, 1] + rng.normal(size=400) > 1.0, 1, -1)
    wide *= 10.0 ** rng.uniform(-4, 4, 20)
    for penalty in (L1(1.0), GroupLinf(1.0, np.arange(20) // 2)):
        one = rl.Problem(wide, labels, rl.losses.Hinge(), penalty)
        first = path(one, n_strengths=2)[0]  # zeros, proved at the largest strength
        assert not first.coef.any() and first.certificate.relative_gap <= 1e-9
        below = one.with_penalty(penalty.with_strength(0.98 * largest_strength(one)))
        assert rl.solve(below, tol=1e-9).objective < first.objective * (1 - 1e-8)


def test_ridge_grid_follows_units():
    for loss, unit in ((rl.losses.Absolute(), 7.0), (rl.losses.Pinball(0.3), 0.01)):
        grid = default_strengths(problem(loss, Ridge(1.0)), 4)
        scaled = default_strengths(rl.Problem(X, unit * Y, loss, Ridge(1.0)), 4)
        np.testing.assert_allclose(scaled, grid / unit, rtol=1e-9)


def test_given_strengths_and_limits():
    one = problem(rl.losses.Huber(), L1(1.0))
    found = path(one, [0.1, 10.0, 1.0])
    np.testing.assert_array_equal(found.strengths, [10.0, 1.0, 0.1])
    assert len(path(one, [3.0, 2.0, 1.0], time_limit=1e3)) == 3
    for wrong in ([], [0.0], [np.nan], [[1.0]]):
        with pytest.raises(ValueError, match="strengths"):
            path(one, wrong)
    with pytest.raises(ValueError, match="no strength"):
        path(problem(rl.losses.Huber(), None))
    with pytest.raises(ValueError, match="ratio"):
        path(one, ratio=2.0)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_best_intercept_is_a_minimiser_in_the_middle(loss):
    y = LABELS if loss.of == "margin" else Y
    weight = RNG.integers(0, 3, 60).astype(float)
    best = best_intercept(loss, y, weight)

    def paid(at):
        return float(np.sum(loss.value(y, at, weight)))

    low = paid(best)
    for step in (1e-6, 1e-3, 1.0):
        assert paid(best - step) >= low - 1e-12 and paid(best + step) >= low - 1e-12
    one = rl.Problem(X, y, loss, sample_weight=weight)
    assert middle_intercept(one, np.zeros(6)) == pytest.approx(best, abs=1e-12)


def test_best_intercept_of_an_interval():
    assert best_intercept(rl.losses.Absolute(), np.array([0.0, 1, 5, 9]), np.ones(4)) == 3.0
    assert best_intercept(rl.losses.Hinge(), np.array([-1, 1]), np.ones(2)) == 0.0
    assert best_intercept(rl.losses.SquaredError(), np.array([1.0, 2, 6]), np.ones(3)) == 3.0


@pytest.mark.parametrize("width", [1e-10, 1e-17, 1e-40])
def test_best_intercept_where_knots_round_to_the_same_number(width):
    y = np.array([0.1, 0.3, 0.5652021, 0.69513746, 0.8])
    for loss in (rl.losses.Huber(width), rl.losses.EpsilonInsensitive(width)):
        assert best_intercept(loss, y, np.ones(5)) == pytest.approx(np.median(y), abs=2 * width)
        assert best_intercept(loss, y[:2], np.array([1.0, 1e-3])) == pytest.approx(y[0], rel=1e-9)
    strengths = rl.paths.default_strengths(rl.Problem(X, Y, rl.losses.Huber(width), Ridge(1.0)))
    assert np.isfinite(strengths).all()


def test_a_callback_that_stops_ends_the_path():
    problem = rl.Problem(X, Y, rl.losses.Huber(), Ridge(1.0))
    heard = []
    stopped = path(problem, n_strengths=6, tol=1e-9, callback=lambda p: heard.append(p) or True)
    assert len(stopped) == len(heard) == 1


def test_neighbouring_linear_programs_start_from_each_others_basis():
    rng = np.random.default_rng(5)
    wide = rng.standard_normal((80, 61))
    y = wide[:, :4].sum(axis=1) + rng.standard_t(3, 80)
    problem = rl.Problem(wide, y, rl.losses.Pinball(0.3), L1(1.0))
    found = path(problem, n_strengths=8, tol=1e-9)
    assert {one.solver for one in found.solutions[2:]} == {"generation"}
    for strength, one in zip(found.strengths[2:], found.solutions[2:], strict=True):
        cold = rl.solve(problem.with_penalty(L1(float(strength))), solver="interior", tol=1e-9)
        assert one.objective == pytest.approx(cold.objective, rel=2e-9)
