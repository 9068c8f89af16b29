"""Losses with one kink along a path: softened and sharpened answers against other programs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline import _core
from rectiline.paths import default_strengths, path
from rectiline.penalties import L1, Columnwise, ElasticNet, Ridge
from rectiline.problems import certify_all
from rectiline.solvers import Follower

N, D, TARGET = 220, 12, 1e-3
RNG = np.random.default_rng(8)
PLAIN = RNG.standard_normal((N, D))
TABLES = {
    "plain": PLAIN,
    "scaled": PLAIN * 10.0 ** RNG.uniform(-3, 3, D) + RNG.uniform(-5, 5, D),
    "correlated": PLAIN @ (np.ones((D, D)) + 0.2 * np.eye(D)),
    "twins": np.hstack([PLAIN[:, : D - 2], PLAIN[:, :1], np.ones((N, 1))]),
}
LOSSES = [rl.losses.Hinge(), rl.losses.Pinball(0.8), rl.losses.Absolute()]


def target_of(loss, X):
    score = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    z = score @ np.linspace(1, -1, D) + np.random.default_rng(2).standard_normal(N)
    return np.where(z > 0, 1, -1) if loss.of == "margin" else 3.0 + z


def make(loss, X, **more):
    return rl.Problem(X, target_of(loss, X), loss, L1(1.0), **more)


def least(problem, strength):
    """Return the optimum as a linear program over (b+, b-, b0, above, below)."""
    X, weight = np.asarray(problem.design.X, dtype=float), problem.weight
    curve = problem.losses[0].curve
    n, d = X.shape
    columns = np.hstack([X, -X, np.full((n, 1), problem.fit_intercept)])
    argument = problem.direction[:, None] * columns
    rows = np.hstack([argument, -np.eye(n), np.eye(n)])
    cost = np.concatenate(
        [np.full(2 * d, strength), [0.0], curve.right[0] * weight, -curve.left[0] * weight]
    )
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * (2 * n)
    found = linprog(cost, A_eq=rows, b_eq=curve.knots[0] - problem.offset, bounds=bounds)
    return found.fun + curve.values[0] * weight.sum()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_pairs_prove_what_they_claim(loss, table, intercept):
    rng = np.random.default_rng(4)
    weight = rng.uniform(0.2, 2.0, N) * (rng.random(N) < 0.9)
    problem = make(loss, TABLES[table], sample_weight=weight, fit_intercept=intercept)
    strengths = default_strengths(problem, 12)
    assert Follower.accepts(problem, TARGET)
    follower = Follower(problem, 0.8 * TARGET, n_threads=1)
    assert isinstance(follower._path, _core.LinearPath) and not follower.can_focus
    follower.place_at_zero()
    reached = 0
    for strength in strengths[1:]:
        found = follower.move(float(strength), np.inf)
        if found is None:
            continue
        reached += 1
        coef, intercept_found, steps = found
        assert steps <= 40
        ((proof, _),) = certify_all(
            problem,
            np.array([strength]),
            coef[None],
            np.array([intercept_found]),
            follower.multipliers[None],
        )
        best = least(problem, float(strength))
        assert proof.relative_gap <= 1.2 * TARGET
        assert best * (1 - 1e-7) <= proof.primal <= best * (1 + 1.2 * TARGET)
    assert reached >= 9


def smallest(problem, l1, ridge):
    """Return the optimum by another method on another formulation."""
    X, weight = np.asarray(problem.design.X, dtype=float), problem.weight
    curve = problem.losses[0].curve
    b = cp.Variable(X.shape[1])
    z = X @ b + (cp.Variable() if problem.fit_intercept else 0.0)
    t = cp.multiply(problem.direction, z) + problem.offset - curve.knots[0]
    loss = curve.right[0] * cp.pos(t) - curve.left[0] * cp.neg(t) + curve.values[0]
    penalty = cp.sum(cp.multiply(l1, cp.abs(b))) + 0.5 * cp.sum(cp.multiply(ridge, b**2))
    program = cp.Problem(cp.Minimize(weight @ loss + penalty))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return program.value


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", ["ridge", "elastic net", "columnwise"])
@pytest.mark.parametrize("table", ["plain", "correlated", "twins"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_ridge_terms(loss, table, penalty, intercept):
    rng = np.random.default_rng(4)
    weight = rng.uniform(0.2, 2.0, N) * (rng.random(N) < 0.9)
    X = TABLES[table]
    l1 = {"ridge": np.zeros(D), "elastic net": np.ones(D), "columnwise": np.arange(D) % 2}[penalty]
    ridge = np.full(D, 0.7) if penalty != "columnwise" else rng.uniform(0.1, 2.0, D)
    terms = {
        "ridge": Ridge(0.7),
        "elastic net": ElasticNet(1.0, 0.7),
        "columnwise": Columnwise(l1, ridge),
    }[penalty]
    problem = rl.Problem(
        X, target_of(loss, X), loss, terms, sample_weight=weight, fit_intercept=intercept
    )
    follower = Follower(problem, 0.8 * TARGET, n_threads=1)
    assert isinstance(follower._path, _core.LinearPath)
    follower.place_at_zero()
    reached = 0
    factors = np.geomspace(300.0, 0.01, 16)
    for k, factor in enumerate(factors):
        strength = float(factor * terms.strength)
        found = follower.move(strength, np.inf)
        if found is None:
            continue
        reached += 1
        proof = problem.with_penalty(terms.with_strength(strength)).certify(
            found[0], found[1], follower.multipliers
        )
        assert proof.relative_gap <= 1.2 * TARGET
        if k % 5 == 0:
            best = smallest(problem, factor * l1, factor * ridge)
            assert best * (1 - 1e-7) <= proof.primal <= best * (1 + 1.2 * TARGET)
    assert reached >= 12


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_columns_that_are_held_are_zero(loss):
    problem = make(loss, PLAIN)
    strengths = default_strengths(problem, 12)
    found = path(problem, strengths, tol=TARGET)
    exact = path(problem, strengths, tol=1e-9, solver="generation")
    assert (found.n_nonzero <= exact.n_nonzero + 4).all()


@pytest.mark.parametrize(
    "storage",
    [
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    ],
    ids=["fortran", "float32", "strided"],
)
def test_any_dense_storage(storage):
    problem = make(rl.losses.Hinge(), storage(PLAIN))
    found = path(problem, n_strengths=8, tol=TARGET)
    assert sum(point.solver == "newton" for point in found) >= 6
    assert found.relative_gaps.max() <= TARGET


def test_what_is_left_to_others():
    hinge = rl.losses.Hinge()
    y = target_of(hinge, PLAIN)

    def is_linear(problem, target=TARGET):
        if not Follower.accepts(problem, target):
            return False
        return isinstance(Follower(problem, target)._path, _core.LinearPath)

    assert is_linear(rl.Problem(PLAIN, y, hinge, L1(1.0)))
    assert is_linear(rl.Problem(PLAIN, y, hinge, L1(1.0)), 5e-4)
    assert not is_linear(rl.Problem(PLAIN, y, hinge, L1(1.0)), 1e-4)
    assert not is_linear(rl.Problem(sp.csr_array(PLAIN), y, hinge, L1(1.0)))
    some = Columnwise(np.ones(D), np.arange(D) % 2)  # ridge terms on some columns only
    assert not is_linear(rl.Problem(PLAIN, y, hinge, some))
    assert not is_linear(rl.Problem(PLAIN, y, rl.losses.SquaredHinge(), L1(1.0)))
    assert not is_linear(rl.Problem(PLAIN, y, rl.losses.EpsilonInsensitive(0.1), L1(1.0)))
    few = np.arange(N) < 5 * D
    assert not is_linear(rl.Problem(PLAIN, y, hinge, L1(1.0), sample_weight=few.astype(float)))
    assert is_linear(rl.Problem(PLAIN, y, hinge, Ridge(1.0), sample_weight=few.astype(float)))
    assert is_linear(rl.Problem(PLAIN, y, hinge, ElasticNet(0.5, 0.5)))
    many = rl.Problem(PLAIN[:, :5], y, hinge, Ridge(1.0))  # Newton's method is faster there
    assert not is_linear(many)


def test_the_way_does_not_matter():
    """From anywhere, also from answers of other solvers at another strength."""
    problem = make(rl.losses.Pinball(0.4), PLAIN)
    strengths = default_strengths(problem, 10)
    elsewhere = rl.solve(problem.with_penalty(L1(float(strengths[2]))))
    starts = [
        (np.zeros(D), 0.0),
        (np.linspace(-2, 3, D), -50.0),
        (elsewhere.coef, elsewhere.intercept),
    ]
    best = least(problem, float(strengths[5]))
    for coef, intercept in starts:
        follower = Follower(problem, 0.8 * TARGET, n_threads=1)
        follower.place(coef, intercept, np.zeros(N))
        found = follower.move(float(strengths[5]), np.inf)
        assert found is not None
        point = problem.with_penalty(L1(float(strengths[5]))).certify(*found[:2])
        assert point.primal <= best * (1 + 1.2 * TARGET)


def test_a_perfect_fit_and_an_idle_table_are_no_trouble():
    y = PLAIN @ np.linspace(1, 2, D)
    for X, targets in ((PLAIN, y), (np.zeros((N, D)), y), (PLAIN, np.zeros(N))):
        problem = rl.Problem(X, targets, rl.losses.Absolute(), L1(1.0))
        found = path(problem, [10.0, 1.0, 0.1, 0.01], tol=TARGET)
        assert len(found) == 4
        for strength, point in zip(found.strengths, found, strict=True):
            assert point.objective <= least(problem, float(strength)) * (1 + TARGET) + 1e-9


def test_a_time_limit_is_kept():
    follower = Follower(make(rl.losses.Hinge(), PLAIN), 0.8 * TARGET)
    follower.place_at_zero()
    follower.move(5.0, 1e-9)  # may or may not get there, but returns


def test_arguments_of_the_compiled_path():
    problem = make(rl.losses.Hinge(), PLAIN)
    follower = Follower(problem, 0.8 * TARGET)
    compiled = follower._path
    with pytest.raises(ValueError, match="one entry per column"):
        compiled.place(np.zeros(3))
    with pytest.raises(ValueError, match="strength must be positive"):
        compiled.move(0.0, TARGET, 10, 1.0)
    with pytest.raises(ValueError, match="one kink each"):
        Follower(problem, 0.8 * TARGET)._path.__class__(
            problem.design.by_rows.view,
            rl.Problem(PLAIN, target_of(rl.losses.Hinge(), PLAIN), rl.losses.SquaredHinge()).rows,
            follower._model.loop,
            1.0,
        )
