"""Fixed effects and trends: auto takes the sparse systems of `interior`, whatever their size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl


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


def test_dense_squares_are_no_reason_for_sparse_systems():
    X = sp.random_array((400, 300), density=0.3, rng=np.random.default_rng(0), format="csr")
    assert not rl.Problem(X, np.zeros(400), "absolute").design.has_sparse_squares
    wide = rl.Problem(panel(500, 300, 0)[0], np.zeros(500), "absolute")
    assert wide.design.has_sparse_squares
