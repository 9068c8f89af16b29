"""Generation with the second-order master: any loss under L1, GroupLinf and Slope."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from solvers.generation_reference import full_program

import rectiline as rl

L, P, C = rl.losses, rl.penalties, rl.constraints

LOSSES = [
    L.Hinge(),
    L.Pinball(0.3),
    L.EpsilonInsensitive(0.4),
    L.SquaredHinge(),
    L.SmoothedHinge(0.7),
    L.ModifiedHuber(),
    L.Huber(0.8),
    L.SquaredError(),
    L.Expectile(0.3),
    L.SquaredEpsilonInsensitive(0.2),
]
PENALTIES = ["l1", "l1_weights", "group", "bh", "oscar", "two_level"]


def make_penalty(rng, kind, d, s):
    if kind == "l1":
        return P.L1(s)
    if kind == "l1_weights":
        return P.L1(s, weights=rng.uniform(0.1, 2, d))
    if kind == "group":
        return P.GroupLinf(s, rng.integers(0, max(1, d // 3), d))
    if kind == "bh":
        return P.Slope.bh(d, 0.2, s / 3)
    if kind == "oscar":
        return P.Slope.oscar(d, s, s / d)
    return P.Slope.two_level(d, int(rng.integers(1, d + 1)), s, 0.5 * s)


def random_problem(seed, loss, kind, constraints=()):
    rng = np.random.default_rng([seed, LOSSES.index(loss), PENALTIES.index(kind)])
    n, d = int(rng.integers(8, 50)), int(rng.integers(2, 40))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-0.5, 0.5, d)
    if rng.random() < 0.3 and d > 3:
        X[:, 1], X[:, 2] = X[:, 0], 0.0
    if loss.of == "margin":
        y = np.where(rng.random(n) < 0.5, 1, -1)
        y[:2] = 1, -1
        slopes = X.T @ y
    else:
        y = X @ rng.standard_normal(d) * 0.3 + rng.standard_normal(n)
        slopes = X.T @ np.clip(y, -1, 1)
    s = np.abs(slopes).max() * rng.choice([0.03, 0.1, 0.3])
    return rl.Problem(
        X,
        y,
        loss=loss,
        penalty=make_penalty(rng, kind, d, s),
        constraints=constraints,
        sample_weight=None if rng.random() < 0.5 else rng.uniform(0.1, 2, n),
        fit_intercept=bool(rng.random() < 0.7),
    )


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_closes_the_certified_gap(loss, kind):
    for seed in range(2):
        problem = random_problem(seed, loss, kind)
        solution = rl.solve(problem, solver="generation", master="second_order")
        assert solution.status == "solved"
        if not loss.curve.curvature.any():
            assert solution.objective == pytest.approx(full_program(problem), rel=2e-6)


@pytest.mark.parametrize("loss", [L.Huber(0.8), L.SquaredHinge(), L.Pinball(0.3)], ids=repr)
@pytest.mark.parametrize("kind", ["l1", "bh", "group"])
def test_bounds(loss, kind):
    problem = random_problem(0, loss, kind, constraints=[C.Nonnegative()])
    solution = rl.solve(problem, solver="generation", master="second_order")
    assert solution.status == "solved"
    assert solution.coef.min() >= 0.0


def test_the_working_set_finds_the_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4000))
    y = X[:, :5] @ np.array([3.0, -2.0, 2.0, 1.5, -1.0]) + 0.1 * rng.standard_normal(60)
    for penalty in (P.L1(20.0), P.Slope.sqrt_log(4000, 7.0)):
        problem = rl.Problem(X, y, loss=L.Huber(1.0), penalty=penalty)
        solution = rl.solve(problem, solver="generation")
        assert solution.status == "solved"
        assert 0 < np.count_nonzero(solution.coef) < 200


def test_slope_clusters_are_exact():
    rng = np.random.default_rng(1)
    base = rng.standard_normal((50, 4))
    X = np.repeat(base, 5, axis=1) + 0.05 * rng.standard_normal((50, 20))
    y = base @ np.array([2.0, -1.5, 1.0, 0.0]) + 0.1 * rng.standard_normal(50)
    problem = rl.Problem(X, y, loss=L.SquaredError(), penalty=P.Slope.oscar(20, 0.5, 0.5))
    coef = rl.solve(problem, solver="generation", tol=1e-8).coef
    sizes = np.abs(coef[coef != 0])
    assert np.unique(sizes).size < sizes.size  # equal to the last bit


def test_group_members_at_the_largest_size_are_exactly_equal():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 30))
    y = X[:, :6].sum(axis=1) + 0.1 * rng.standard_normal(40)
    groups = np.repeat(np.arange(10), 3)
    problem = rl.Problem(X, y, loss=L.Huber(1.0), penalty=P.GroupLinf(3.0, groups))
    coef = np.abs(rl.solve(problem, solver="generation", master="second_order").coef)
    parts = [coef[groups == g] for g in range(10)]
    moved = [part for part in parts if part.any()]
    assert 0 < len(moved) < 10
    assert all(np.sum(part == part.max()) > 1 for part in moved)  # equal to the last bit


def test_the_prox_of_slope_is_a_falling_fit():
    rng = np.random.default_rng(3)
    for _ in range(200):
        d = int(rng.integers(1, 40))
        strengths = np.sort(rng.random(d))[::-1].copy()
        v = np.round(2 * rng.standard_normal(d), 1)
        order = np.argsort(-np.abs(v))
        fit = isotonic_regression(np.abs(v)[order] - 0.7 * strengths, increasing=False).x
        expected = np.zeros(d)
        expected[order] = np.sign(v[order]) * np.maximum(fit, 0.0)
        np.testing.assert_allclose(P.Slope(strengths).prox(v, 0.7), expected, atol=1e-14)


def test_master_linear_is_refused_where_there_is_none():
    rng = np.random.default_rng(4)
    problem = rl.Problem(rng.standard_normal((9, 3)), rng.standard_normal(9), L.Huber(), P.L1(1.0))
    with pytest.raises(rl.UnsupportedProblemError, match="curvature"):
        rl.solve(problem, solver="generation", master="linear")
