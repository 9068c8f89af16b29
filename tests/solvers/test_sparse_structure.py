"""Fixed effects and trends: auto takes the sparse systems of `interior`, whatever their size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline import _core
from rectiline.problems.forms import EpigraphForm
from rectiline.problems.proof import _sparse_system
from rectiline.solvers.interior.method import sparse_equations
from rectiline.solvers.interior.program import build


def panel(n: int, firms: int, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """Return two columns with one effect for each firm, and targets."""
    rng = np.random.default_rng(seed)
    firm, x = rng.integers(firms, size=n), rng.normal(size=(n, 2))
    y = x @ [1.0, 2.0] + rng.normal(size=firms)[firm] + rng.standard_t(3, size=n)
    effects = sp.csr_array((np.ones(n), (np.arange(n), firm)), shape=(n, firms))
    return sp.csr_array(sp.hstack([sp.csr_array(x), effects])), y


def least_absolute(X: sp.csr_array, y: np.ndarray, price: np.ndarray) -> float:
    """Return the optimum of ``|y - X b|_1 + price @ |b|`` by HiGHS."""
    n = X.shape[0]
    eye = sp.eye_array(n)
    A = sp.hstack([X, -X, eye, -eye])
    cost = np.concatenate([price, price, np.ones(2 * n)])
    return float(linprog(cost, A_eq=A, b_eq=y, method="highs").fun)


@pytest.mark.parametrize("price", [0.0, 0.7])
def test_effects_are_solved_as_by_highs(price):
    X, y = panel(2_000, 300, seed=1)
    prices = np.append([0.0, 0.0], np.full(300, price))
    penalty = rl.penalties.L1(price, weights=np.append([0, 0], np.ones(300))) if price else None
    problem = rl.Problem(X, y, "absolute", penalty, fit_intercept=False)
    found = rl.solve(problem, tol=1e-8)
    assert found.status == "solved" and found.solver == "interior"
    assert found.objective == pytest.approx(least_absolute(X, y, prices), rel=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_long_trends_are_solved_by_sparse_factors(order):
    rng = np.random.default_rng(order)
    n = 9_000  # more unknowns than a dense system may have
    y = np.sin(np.linspace(0, 6, n)) + rng.standard_t(3, size=n)
    penalty = rl.penalties.Fused(5.0, order=order)
    problem = rl.Problem(sp.eye_array(n, format="csr"), y, "absolute", penalty, fit_intercept=False)
    found = rl.solve(problem)
    assert found.status == "solved" and found.solver == "interior" and found.n_iter < 60


def grid_edges(side: int) -> np.ndarray:
    """Return pairs of neighbours in a square grid."""
    at = np.arange(side * side).reshape(side, side)
    across = np.column_stack([at[:, 1:].ravel(), at[:, :-1].ravel()])
    return np.vstack([across, np.column_stack([at[1:].ravel(), at[:-1].ravel()])])


@pytest.mark.parametrize("order", [1, 2])
def test_grids_are_solved_as_by_highs(order):
    y = np.random.default_rng(3).standard_t(3, size=25 * 25)
    penalty = rl.penalties.Fused(0.6, order=order, graph=grid_edges(25))
    eye, rows = sp.eye_array(y.size, format="csr"), penalty.matrix(y.size)
    found = rl.solve(rl.Problem(eye, y, "absolute", penalty, fit_intercept=False), tol=1e-8)
    stacked = sp.csr_array(sp.vstack([eye, 0.6 * rows]))
    targets = np.append(y, np.zeros(rows.shape[0]))
    assert found.status == "solved" and found.solver == "interior"
    expected = least_absolute(stacked, targets, np.zeros(y.size))
    assert found.objective == pytest.approx(expected, rel=1e-8)


def test_a_long_constraint_row_leaves_the_factor_sparse():
    X, y = panel(2_000, 300, seed=2)
    total = np.append([0.0, 0.0], np.ones(300))  # effects add up to zero beside an intercept
    constraint = rl.constraints.LinearEquality(total[None], [0.0])
    problem = rl.Problem(X, y, "absolute", None, constraint)
    rows = build(EpigraphForm.apply(problem)).rows
    equations = sparse_equations(rows)
    assert equations is not None and equations.entries < 10 * rows.width
    found = rl.solve(problem, solver="interior", tol=1e-8)
    free = rl.solve(rl.Problem(X, y, "absolute", None, fit_intercept=False), tol=1e-8)
    assert found.status == "solved" and abs(total @ found.coef) < 1e-8
    assert found.objective == pytest.approx(free.objective, rel=1e-8)


def test_targets_set_the_scale_of_long_trends():
    # Half of the rows are differences that bend at zero: they say nothing about predictions.
    y = 1e3 * np.sin(np.linspace(0, 9, 20_000)) + np.random.default_rng(0).normal(size=20_000)
    penalty = rl.penalties.Fused(5.0, order=2)
    problem = rl.Problem(sp.eye_array(y.size), y, "squared_error", penalty, fit_intercept=False)
    found = rl.solve(problem, solver="interior")
    assert found.status == "solved" and found.n_iter < 40


def test_a_certificate_finds_the_structure_of_its_free_columns_once(monkeypatch):
    X, y = panel(4_000, 600, seed=4)
    problem = rl.Problem(X, y, "absolute", None, fit_intercept=False)
    made, factorised = [], []

    class Counted:
        def __init__(self, *arguments):
            made.append(1)
            self.equations = _core.NormalEquations(*arguments)

        def factorise(self, *arguments):
            factorised.append(1)
            return self.equations.factorise(*arguments)

        def __getattr__(self, name):
            return getattr(self.equations, name)

    class Core:
        NormalEquations = Counted

    monkeypatch.setattr(_sparse_system, "_core", Core)
    pair = rl.solve(problem, tol=1e-6)
    assert pair.status == "solved" and len(made) == 1
    before = len(factorised)
    problem.certify(pair.coef, pair.intercept, pair.dual)
    assert len(made) == 1 and len(factorised) - before <= 4


def test_factors_that_fill_are_refused_early():
    rng = np.random.default_rng(5)
    pairs = rng.integers(3_000, size=(30_000, 2))  # edges of a random graph: no order is good
    at = np.repeat(np.arange(30_000), 2)
    X = sp.csr_array((np.ones(60_000), (at, pairs.ravel())), shape=(30_000, 3_000))
    assert not rl.Problem(X, np.zeros(30_000), "absolute").design.has_sparse_squares
    # Every column meets so many others that all of them are put off to the end.
    X = sp.random_array((20_000, 1_000), density=0.005, rng=rng, format="csr")
    assert not rl.Problem(X, np.zeros(20_000), "absolute").design.has_sparse_squares


def test_dense_squares_are_no_reason_for_sparse_systems():
    X = sp.random_array((400, 300), density=0.3, rng=np.random.default_rng(0), format="csr")
    assert not rl.Problem(X, np.zeros(400), "absolute").design.has_sparse_squares
    wide = rl.Problem(panel(500, 300, 0)[0], np.zeros(500), "absolute")
    assert wide.design.has_sparse_squares
