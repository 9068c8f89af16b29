"""Quadratic programs through `interior`: portfolios, equality rows, sums of squares kept."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.backends import Design
from rectiline.constraints import LinearConstraint, Nonnegative
from rectiline.penalties import L1, Columnwise, Ridge


def factors(k=20, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    F = sp.random(n, k, 0.5, "csr", random_state=rng, data_rvs=rng.standard_normal)
    return F, rng.random(n) * np.sqrt(k), rng.normal(size=n)


def test_portfolio():
    F, D, mu = factors()
    n = mu.size
    problem = rl.Problem(
        np.sqrt(2.0) * F.T,
        None,
        "squared_error",
        Columnwise(np.zeros(n), 2 * D),
        [Nonnegative(), LinearConstraint(np.ones(n), 1.0, 1.0)],
        linear=-mu,
    )
    solution = rl.solve(problem, tol=1e-8)
    x = cp.Variable(n)
    cost = cp.sum_squares(F.T @ x) + cp.sum_squares(cp.multiply(np.sqrt(D), x)) - mu @ x
    best = cp.Problem(cp.Minimize(cost), [x >= 0, cp.sum(x) == 1]).solve(solver=cp.CLARABEL)
    assert solution.status == "solved" and solution.solver == "interior"
    assert solution.objective == pytest.approx(best, rel=1e-6)
    assert solution.coef.sum() == pytest.approx(1.0) and solution.coef.min() >= 0.0


@pytest.mark.parametrize("solver", ["auto", "interior"])
@pytest.mark.parametrize("equal", [True, False])
def test_random_programs(equal, solver):
    rng = np.random.default_rng(1)
    n, m = 60, 30 if equal else 400
    M, A = (
        sp.random(rows, n, 0.15, "csr", random_state=rng, data_rvs=rng.standard_normal)
        for rows in (n, m)
    )
    q, middle = rng.normal(size=n), A @ rng.normal(size=n)
    width = 0.0 if equal else rng.random(m)
    problem = rl.Problem(
        M,
        None,
        "squared_error",
        Ridge(1e-2),
        LinearConstraint(A, middle - width, middle + width),
        linear=q,
    )
    solution = rl.solve(problem, solver, tol=1e-8)
    x = cp.Variable(n)
    cost = 0.5 * cp.sum_squares(M @ x) + 0.005 * cp.sum_squares(x) + q @ x
    best = cp.Problem(cp.Minimize(cost), [cp.abs(A @ x - middle) <= width]).solve(
        solver=cp.CLARABEL
    )
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("dense", [True, False])
def test_squares_of_rows_under_a_parabola_are_summed_up_once(dense, monkeypatch):
    rng = np.random.default_rng(2)
    X = sp.random(3000, 300, 0.1, "csr", random_state=rng, data_rvs=rng.standard_normal)
    X = X.toarray() if dense else X
    y = X @ rng.normal(size=300) + rng.normal(size=3000)
    counted = []
    real = Design.weighted_gram

    def counting(self, weights, *rest):
        counted.append(self.n_samples)
        return real(self, weights, *rest)

    monkeypatch.setattr(Design, "weighted_gram", counting)
    problem = rl.Problem(X, y, "squared_error", L1(50.0))
    solution = rl.solve(problem, "interior", tol=1e-8)
    assert solution.status == "solved" and solution.n_iter > 3
    assert counted.count(3000) == 1
    other = rl.solve(problem, "newton", tol=1e-8)
    assert solution.objective == pytest.approx(other.objective, rel=1e-7)


def test_a_few_rows_with_kinks_are_added_in_every_step():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 40)), rng.normal(size=400)
    losses, index = ["squared_error", "absolute"], np.repeat([0, 1], [350, 50])
    problem = rl.Problem(X, y, losses, Ridge(1.0), loss_index=index)
    one, other = (rl.solve(problem, name, tol=1e-9) for name in ("interior", "newton"))
    assert one.objective == pytest.approx(other.objective, rel=1e-8)
    assert one.coef == pytest.approx(other.coef, abs=1e-4)


def test_auto_takes_interior_for_long_sparse_lasso():
    rng = np.random.default_rng(4)
    X = sp.random(2000, 250, 0.1, "csr", random_state=rng, data_rvs=rng.standard_normal)
    y = X @ rng.normal(size=250)
    solution = rl.solve(rl.Problem(X, y, "squared_error", L1(20.0)))
    assert solution.solver == "interior" and solution.certificate.relative_gap <= 1e-6
