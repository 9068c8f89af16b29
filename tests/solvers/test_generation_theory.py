"""What the paper proves about restricted programs, and what paths must keep to."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.paths import largest_strength, path
from rectiline.problems.forms import CompositeForm, LinearProgramForm
from rectiline.solvers import Session
from rectiline.solvers.generation import Generation
from rectiline.solvers.generation._master import Master
from rectiline.solvers.generation._pricing import pricing_for

pytest.importorskip("highspy")

L, P = rl.losses, rl.penalties


def two_classes(seed, n=80, d=60):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X[:, :5] += 0.7 * y[:, None]
    return X, y


def restricted(X, y, strength, columns, samples):
    """Solve the paper's restricted program: some columns, only the samples given pay."""
    part = np.ascontiguousarray(X[np.ix_(samples, columns)])
    problem = rl.Problem(part, y[samples], L.Hinge(), P.L1(strength))
    found = rl.solve(problem, solver="generation", tol=1e-10)
    coef, pi = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    coef[columns] = found.coef
    pi[samples] = np.abs(found.dual.sample)
    return coef, found.intercept, pi


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("which", ["columns", "samples", "both"])
def test_theorems_1_to_3(seed, which):
    """z* <= z <= z* + eps_1 (n - |I|) + eps_2 |b*|_1, with the two worst reduced costs."""
    X, y = two_classes(seed)
    n, d = X.shape
    rng = np.random.default_rng(100 + seed)
    strength = 0.1 * np.abs(X.T @ y).max()
    problem = rl.Problem(X, y, L.Hinge(), P.L1(strength))
    best = rl.solve(problem, solver="generation", tol=1e-10)
    columns, samples = np.arange(d), np.arange(n)
    if which != "samples":
        columns = np.sort(rng.choice(d, 15, replace=False))
    if which != "columns":
        samples = np.sort(rng.choice(n, 50, replace=False))
    coef, intercept, pi = restricted(X, y, strength, columns, samples)
    slack = 1.0 - y * (X @ coef + intercept)
    value = np.maximum(slack, 0.0).sum() + strength * np.abs(coef).sum()
    outside = np.setdiff1d(np.arange(n), samples)
    first = float(np.max(slack[outside], initial=0.0))
    left = np.setdiff1d(np.arange(d), columns)
    reduced = strength - np.abs(X[:, left].T @ (y * pi))
    second = float(np.max(-reduced, initial=0.0))
    bound = first * outside.size + second * np.abs(best.coef).sum()
    rounding = 1e-8 * best.objective
    assert best.objective <= value + rounding
    assert value <= best.objective + bound + rounding


def test_theorem_1_holds_in_every_round():
    X, y = two_classes(9, 60, 400)
    strength = 0.05 * np.abs(X.T @ y).max()
    problem = rl.Problem(X, y, L.Hinge(), P.L1(strength))
    best = rl.solve(problem, solver="generation", tol=1e-11)
    form = LinearProgramForm(problem)
    pricing = pricing_for(form)
    pricing.seed(X.T @ y, np.zeros(400), 10)
    master = Master(form, pricing.directions, np.zeros(60, dtype=bool), np.arange(60))
    values = []
    for _ in range(100):
        assert master.solve(np.inf) == "optimal"
        found = master.point()
        q = -X.T @ found.sample
        values.append(
            np.maximum(1.0 - y * (X @ found.coef + found.intercept), 0.0).sum()
            + strength * np.abs(found.coef).sum()
        )
        epsilon = max(float(np.abs(q).max()) - strength, 0.0)
        assert best.objective <= values[-1] * (1 + 1e-9)
        assert values[-1] <= (best.objective + epsilon * np.abs(best.coef).sum()) * (1 + 1e-9)
        if not pricing.extend(q, 10):
            break
        master.place_directions()
    assert values[-1] == pytest.approx(best.objective, rel=1e-9)
    assert (np.diff(values) <= 1e-9 * values[0]).all()  # adding columns only ever helps


def penalties(d):
    yield P.L1(1.0)
    yield P.L1(1.0, weights=np.linspace(0.5, 2.0, d))
    yield P.GroupLinf(1.0, np.arange(d) // 4)
    yield P.Slope.two_level(d, 5, 2.0, 1.0)
    yield P.Slope.bh(d, 0.1)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("loss", [L.Hinge(), L.Pinball(0.3)], ids=lambda loss: loss.name)
def test_paths_are_monotone_and_agree_with_single_solves(kind, loss):
    X, y = two_classes(3, 50, 40)
    if loss.of == "residual":
        y = X[:, 0] - X[:, 1] + np.random.default_rng(0).standard_normal(50)
    problem = rl.Problem(X, y, loss, list(penalties(40))[kind])
    found = path(problem, n_strengths=12, solver="generation", tol=1e-8)
    assert len(found) == 12 and found.relative_gaps.max() <= 1e-8
    value = np.array([one.objective for one in found])
    norm = np.array([problem.penalty.with_strength(1.0).value(one.coef) for one in found])
    cost = value - found.strengths * norm
    slack = 1e-7 * value.max()
    assert (np.diff(value) <= slack).all()  # a weaker penalty costs less in all,
    assert (np.diff(norm) >= -slack).all()  # allows more,
    assert (np.diff(cost) <= slack).all()  # and fits better.
    for k in (3, 7, 11):
        one = problem.with_penalty(problem.penalty.with_strength(float(found.strengths[k])))
        alone = rl.solve(one, solver="generation", tol=1e-8)
        assert found[k].objective == pytest.approx(alone.objective, rel=1e-7)


def test_a_path_goes_on_with_its_program():
    X, y = two_classes(4, 60, 500)
    problem = rl.Problem(X, y, L.Hinge(), P.L1(1.0))
    top = largest_strength(problem)
    session, method = Session(), Generation()
    for share in (0.5, 0.4, 0.1, 0.3):  # going back up is allowed, too
        one = problem.with_penalty(P.L1(share * top))
        solution = rl.solve(one, solver="generation", session=session, tol=1e-9)
        assert solution.status == "solved" and session.state is not None
        alone = rl.solve(one, solver="generation", tol=1e-9)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-8)
    state = session.state
    assert method.restart(state, CompositeForm(problem.with_penalty(P.L1(2.0)))) is not None
    other = rl.Problem(X, y, L.Hinge(), P.L1(1.0))
    assert method.restart(state, CompositeForm(other)) is None  # other data
    ridge = problem.with_penalty(P.GroupLinf(1.0, np.arange(500) // 2))
    assert method.restart(state, CompositeForm(ridge)) is None  # another penalty


def test_columns_are_dropped_on_the_way():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 3000))
    y = np.where(X[:, :8].sum(axis=1) + rng.standard_normal(150) > 0, 1, -1)
    problem = rl.Problem(X, y, L.Hinge(), P.L1(1.0))
    grid = largest_strength(problem) * np.geomspace(0.9, 0.02, 25)
    found = path(problem, grid, solver="generation", columns_per_round=40)
    assert found.relative_gaps.max() <= 1e-6
    last = rl.solve(problem.with_penalty(P.L1(grid[-1])), solver="generation")
    assert found[-1].objective == pytest.approx(last.objective, rel=2e-6)


@pytest.mark.parametrize("penalty", [None, P.L1(0.0), P.GroupLinf(0.0, np.zeros(4, dtype=int))])
def test_no_penalty(penalty):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((70, 4))
    y = X[:, 0] + rng.standard_normal(70)
    problem = rl.Problem(X, y, L.Absolute(), penalty)
    solution = rl.solve(problem, solver="generation", tol=1e-9)
    assert solution.status == "solved"
    same = rl.solve(rl.Problem(X, y, L.Absolute(), None), solver="interior", tol=1e-9)
    assert solution.objective == pytest.approx(same.objective, rel=1e-8)


@pytest.mark.parametrize("make", [P.L1, lambda s: P.GroupLinf(s, np.arange(40) // 4)])
def test_at_the_largest_strength(make):
    X, y = two_classes(7, 50, 40)
    problem = rl.Problem(X, y, L.Hinge(), make(1.0))
    top = largest_strength(problem)
    at = rl.solve(problem.with_penalty(make(top)), solver="generation", tol=1e-9)
    above = rl.solve(problem.with_penalty(make(2.0 * top)), solver="generation", tol=1e-9)
    assert at.objective == pytest.approx(above.objective, rel=1e-8)
    assert not above.coef.any()
