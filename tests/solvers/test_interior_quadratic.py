"""Quadratic programs on the interior point method, against Clarabel."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.solvers.interior.rows import opposites


def _clarabel(X, y, ridge, linear, A, low, high, nonnegative):
    b = cp.Variable(X.shape[1])
    cost = cp.sum_squares(X @ b - y) / 2 + ridge @ cp.square(b) / 2 + linear @ b
    equal = low == high
    limits = [
        A[equal] @ b == low[equal],
        A[~equal] @ b >= low[~equal],
        A[~equal] @ b <= high[~equal],
    ]
    if nonnegative:
        limits.append(b >= 0)
    return cp.Problem(cp.Minimize(cost), limits).solve(solver="CLARABEL")


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(80, 40), (5, 60)])  # systems of columns, and of rows
@pytest.mark.parametrize("equalities", [0, 3])
def test_quadratic_programs(n, d, equalities, is_sparse):
    rng = np.random.default_rng(n + d + equalities)
    X = np.where(rng.random((n, d)) < 0.3, rng.standard_normal((n, d)), 0.0)
    A = np.where(rng.random((8, d)) < 0.3, rng.standard_normal((8, d)), 0.0)
    low, high = -0.1 * rng.random(8), 0.1 * rng.random(8)
    low[:equalities] = high[:equalities]
    ridge, linear = 0.1 + rng.random(d), rng.standard_normal(d)
    stored = sp.csr_array if is_sparse else np.asarray
    problem = rl.Problem(
        stored(X),
        np.ones(n),
        "squared_error",
        rl.penalties.Columnwise(np.zeros(d), ridge),
        [rl.constraints.Nonnegative(), rl.constraints.LinearConstraint(stored(A), low, high)],
        fit_intercept=False,
        linear=linear,
    )
    answer = rl.solve(problem, solver="interior", tol=1e-8)
    assert answer.status == "solved"
    wanted = _clarabel(X, np.ones(n), ridge, linear, A, low, high, True)
    assert answer.objective == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_rows_with_two_sides_are_summed_once(stored):
    rows = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 1.0, 0.0]])
    matrix = stored(np.vstack([rows, -rows[[2, 0]], rows[:1]]))
    kept, place, is_opposite = opposites(matrix)
    signs = np.where(is_opposite, -1.0, 1.0)[:, None]
    dense = np.vstack([rows, -rows[[2, 0]], rows[:1]])
    np.testing.assert_array_equal(signs * dense[kept][place], dense)
    assert is_opposite.sum() == 2


def test_auto_takes_it_for_small_programs_with_many_rows():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 40))
    problem = rl.Problem(
        rng.standard_normal((40, 40)),
        None,
        "squared_error",
        rl.penalties.Ridge(0.01),
        rl.constraints.LinearConstraint(A, -rng.random(200), rng.random(200)),
        linear=rng.standard_normal(40),
    )
    answer = rl.solve(problem)
    assert answer.status == "solved" and answer.solver == "interior"
    assert answer.objective == pytest.approx(
        rl.solve(problem, solver="interior", digits=32).objective, rel=2e-6
    )


def test_one_answer_where_no_row_has_bounds():
    """Without complementarity products the residual alone says when to stop."""
    rng = np.random.default_rng(1)
    X, E = rng.standard_normal((60, 50)), rng.standard_normal((20, 50))
    problem = rl.Problem(
        X, np.ones(60), "squared_error", None, rl.constraints.LinearEquality(E, 1.0),
        fit_intercept=False,
    )  # fmt: skip
    answer = rl.solve(problem, solver="interior", tol=1e-9)
    system = np.block([[X.T @ X, E.T], [E, np.zeros((20, 20))]])
    wanted = np.linalg.solve(system, np.concatenate([X.T @ np.ones(60), -np.ones(20)]))[:50]
    np.testing.assert_allclose(answer.coef, wanted, rtol=1e-6, atol=1e-8)
