"""Column and constraint generation on linear programs, against the full program."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse as sp
from solvers.generation_reference import full_program

import rectiline as rl

pytest.importorskip("highspy")

L, P, C = rl.losses, rl.penalties, rl.constraints

LOSSES = [
    L.Hinge(),
    L.Pinball(0.3),
    L.Absolute(),
    L.EpsilonInsensitive(0.4),
    L.PiecewiseLQ([-1.0, 0.0, 2.0], [(0, -2, -1.5), (0, -0.5, 0), (0, 0.3, 0), (0, 1.0, -1.4)]),
]
PENALTIES = ["l1", "l1_weights", "group", "group_free", "slope_two_level", "slope_three_level"]
STARTS = ["path", "subsample"]


def data(rng, loss, n, d):
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    if rng.random() < 0.4 and d > 3:
        X[:, 1], X[:, 2] = X[:, 0], 0.0  # a duplicate column and a zero column
    if rng.random() < 0.4:
        X[n // 2] = X[0]  # a duplicate sample
    if loss.of == "margin":
        y = np.where(rng.random(n) < rng.choice([0.5, 0.9]), 1, -1)
        y[:2] = 1, -1
    else:
        y = X @ rng.standard_normal(d) + rng.standard_normal(n) * 10.0 ** rng.uniform(-2, 2)
    return X, y


def penalty(rng, kind, d, strength):
    if kind == "l1":
        return P.L1(strength)
    if kind == "l1_weights":
        return P.L1(strength, weights=rng.uniform(0.2, 2, d) * (rng.random(d) < 0.8))
    if kind == "group":
        return P.GroupLinf(strength, rng.integers(0, max(1, d // 3), d))
    if kind == "group_free":
        return P.GroupLinf(strength, [list(range(max(1, d // 2)))])
    if kind == "slope_two_level":
        low = strength * rng.choice([0.0, 0.3, 0.9])
        return P.Slope.two_level(d, int(rng.integers(1, d + 1)), strength, low)
    levels = strength * np.array([1.0, 0.6, 0.5])
    return P.Slope(np.sort(rng.choice(levels, d))[::-1])


def constraint(rng, d):
    kind = rng.integers(8)
    if kind == 0:
        return [C.Nonnegative()]
    if kind == 1:
        return [C.Box(rng.uniform(-1, 0.2, d), rng.uniform(0.3, 1, d))]
    if kind == 2:
        return [C.Monotone()]
    if kind == 3:
        return [C.LinearInequality(rng.standard_normal((2, d)), rng.uniform(-0.5, 1, 2))]
    if kind == 4:
        return [C.LinearEquality(rng.standard_normal((1, d)), rng.uniform(-0.5, 1, 1))]
    return []


def random_problem(seed, loss, kind):
    rng = np.random.default_rng([seed, LOSSES.index(loss), PENALTIES.index(kind)])
    n, d = int(rng.integers(4, 40)), int(rng.integers(2, 30))
    X, y = data(rng, loss, n, d)
    strength = np.abs(X).sum(axis=0).max() * rng.choice([0.003, 0.03, 0.1, 0.3, 1.5])
    return rl.Problem(
        sp.csr_array(X * (rng.random(X.shape) < 0.5)) if rng.random() < 0.3 else X,
        y,
        loss=loss,
        penalty=penalty(rng, kind, d, strength),
        constraints=constraint(rng, d),
        sample_weight=None if rng.random() < 0.5 else rng.uniform(1e-3, 2, n),
        fit_intercept=bool(rng.random() < 0.7),
    )


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_agrees_with_the_full_program(loss, kind):
    for seed in range(8):
        problem = random_problem(seed, loss, kind)
        options = {}
        if seed % 2:
            options = {"columns": True, "samples": True, "columns_per_round": 4}
            options |= {"samples_per_round": 4, "start_with": STARTS[seed % len(STARTS)]}
        solution = rl.solve(problem, solver="generation", tol=1e-7, **options)
        if solution.status == "infeasible":
            continue
        best = full_program(problem)
        allowed = 2e-7 * abs(best) + 1e-9 * abs(problem.loss_at_zero)
        assert solution.status == "solved"
        assert abs(solution.objective - best) <= allowed
        assert solution.certificate.dual <= best + allowed  # the bound is honest


@pytest.mark.parametrize("mode", ["columns", "samples", "both", "neither"])
def test_generating_columns_or_samples_gives_the_same_answer(mode):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 120))
    y = np.where(X[:, :5].sum(axis=1) + rng.standard_normal(300) > 0, 1, -1)
    problem = rl.Problem(X, y, loss=L.Hinge(), penalty=P.L1(8.0))
    options = {"columns": mode in ("columns", "both"), "samples": mode in ("samples", "both")}
    solution = rl.solve(problem, solver="generation", tol=1e-9, samples_per_round=30, **options)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(full_program(problem), rel=1e-8)


def test_coefficients_outside_the_support_are_exactly_zero():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 500))
    y = np.where(X[:, 0] > 0, 1, -1)
    problem = rl.Problem(X, y, loss=L.Hinge(), penalty=P.L1(3.0))
    solution = rl.solve(problem, solver="generation")
    assert 0 < np.count_nonzero(solution.coef) <= 40


@pytest.mark.parametrize("loss", [L.Hinge(), L.Pinball(0.7)], ids=lambda loss: loss.name)
def test_no_column_enters_at_and_above_the_largest_strength(loss):
    from rectiline.paths import largest_strength

    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 80))
    y = np.where(rng.random(30) < 0.4, 1, -1) if loss.of == "margin" else rng.standard_normal(30)
    problem = rl.Problem(X, y, loss=loss, penalty=P.L1(1.0))
    top = largest_strength(problem)
    for factor, some in ((1.001, False), (3.0, False), (0.9, True)):
        solution = rl.solve(problem.with_penalty(P.L1(factor * top)), solver="generation")
        assert solution.status == "solved"
        assert solution.coef.any() == some


def test_strength_zero_is_an_ordinary_program():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] + rng.standard_normal(60)
    problem = rl.Problem(X, y, loss=L.Pinball(0.4), penalty=P.L1(0.0))
    solution = rl.solve(problem, solver="generation")
    assert solution.objective == pytest.approx(full_program(problem), rel=1e-9)


def test_separable_classes():
    X = np.vstack([np.eye(6), -np.eye(6)])
    y = np.repeat([1, -1], 6)
    problem = rl.Problem(X, y, loss=L.Hinge(), penalty=P.L1(1e-3))
    solution = rl.solve(problem, solver="generation", tol=1e-9)
    assert solution.objective == pytest.approx(6e-3, rel=1e-9)


def test_several_losses():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((50, 6)), rng.standard_normal(50)
    losses = [L.Pinball(0.1), L.Pinball(0.9), L.EpsilonInsensitive(0.2)]
    problem = rl.Problem(X, y, losses, P.L1(0.5), loss_index=rng.integers(0, 3, 50))
    assert rl.solve(problem, solver="generation", tol=1e-9).status == "solved"


def test_a_warm_start_needs_few_rounds():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 2000))
    y = np.where(X[:, :5].sum(axis=1) > 0, 1, -1)
    problem = rl.Problem(X, y, loss=L.Hinge(), penalty=P.L1(4.0))
    first = rl.solve(problem, solver="generation")
    again = rl.solve(problem, solver="generation", warm_start=first)
    assert again.n_iter <= 1
    near = rl.solve(problem.with_penalty(P.L1(3.9)), solver="generation", warm_start=first)
    assert near.status == "solved" and near.n_iter <= 5


@pytest.mark.parametrize("value", [0, -3])
def test_options_are_checked(value):
    rng = np.random.default_rng(6)
    problem = rl.Problem(rng.standard_normal((9, 3)), rng.standard_normal(9), L.Absolute(), P.L1(1))
    with pytest.raises(ValueError, match=f"columns_per_round={value}"):
        rl.solve(problem, solver="generation", columns_per_round=value)
    with pytest.raises(ValueError, match="start_with='magic'"):
        rl.solve(problem, solver="generation", start_with="magic")
    with pytest.raises(ValueError, match="master='magic'"):
        rl.solve(problem, solver="generation", master="magic")


def test_refusals_say_why(monkeypatch):
    from rectiline.solvers.generation import Generation

    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((9, 3)), rng.standard_normal(9)
    ridge = rl.Problem(X, y, L.Absolute(), P.Ridge(1.0))
    assert "ridge" in Generation.refuses(ridge)
    sparse = rl.Problem(sp.csr_array(np.eye(30)), np.ones(30), L.Absolute(), P.L1(1.0))
    monkeypatch.delitem(sys.modules, "highspy", raising=False)
    monkeypatch.setitem(sys.modules, "ortools", object())
    assert "cannot share a process" in Generation.refuses(sparse)
    monkeypatch.delitem(sys.modules, "ortools")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install highspy" in Generation.refuses(sparse)


def test_dense_programs_do_without_highspy():
    """In a process that cannot import it: L1, signs, groups and few sorted strengths."""
    lines = """
        import sys
        sys.modules["highspy"] = None
        import numpy as np, rectiline as rl
        from rectiline import losses as L, penalties as P, constraints as C
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 90)); y = X[:, 0] + 0.1 * rng.standard_normal(60)
        for penalty, constraints in (
            (P.L1(3.0), []), (P.L1(3.0), [C.Nonnegative()]),
            (P.GroupLinf(3.0, np.arange(90) // 3), []), (P.Slope(np.repeat([4.0, 2.0], 45)), []),
        ):
            one = rl.Problem(X, y, L.Absolute(), penalty, constraints=constraints)
            found = rl.solve(one, solver="generation", tol=1e-9)
            assert found.certificate.relative_gap <= 1e-9, penalty
        bounded = rl.Problem(X, y, L.Absolute(), P.L1(3.0), constraints=[C.Box(-1.0, 1.0)])
        try:
            rl.solve(bounded, solver="generation")
        except rl.exceptions.UnsupportedProblemError as error:
            print(error)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(lines)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert "pip install highspy" in run.stdout
