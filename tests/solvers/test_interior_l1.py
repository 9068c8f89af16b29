"""Dense columns under L1, about as many as rows or more: the optimum of the full program."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl


def quantile_problem(n, d, alpha, X=None, loss=None):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) if X is None else X
    y = X @ rng.normal(size=X.shape[1]) / np.sqrt(d) + 0.5 * rng.standard_t(3, n)
    loss = loss or rl.losses.Pinball(0.4)
    if loss.of == "margin":
        y = np.where(y > 0, 1.0, -1.0)
    return rl.Problem(X, y, loss, rl.penalties.L1(alpha), sample_weight=np.full(n, 1.0 / n))


def duplicated(n, d):
    X = np.random.default_rng(1).normal(size=(n // 2, d // 2))
    return np.tile(X, (2, 2))


def ill_scaled(n, d):
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d)


def one_factor(n, d):
    rng = np.random.default_rng(3)
    return 3.0 * rng.normal(size=(n, 1)) + rng.normal(size=(n, d))


def with_zeros(n, d):
    X = np.random.default_rng(4).normal(size=(n, d))
    X[:, ::7] = 0.0
    X[::5] = 0.0
    return X


def quantile_optimum(problem, quantile):
    """The full program on HiGHS, sparse where it is."""
    X, y = problem.design.X, problem.offset * -problem.direction
    n = y.size
    ones, eye = np.ones((n, 1)), sp.eye_array(n)
    A = sp.hstack([X, -X, ones, -ones, eye, -eye], format="csr")
    w = problem.weight
    cost = np.concatenate(
        [problem.columns.l1, problem.columns.l1, [0.0, 0.0], quantile * w, (1.0 - quantile) * w]
    )
    answer = linprog(cost, A_eq=A, b_eq=y, method="highs-ds")
    assert answer.status == 0
    return answer.fun


@pytest.mark.parametrize("alpha", [0.02, 0.003])
@pytest.mark.parametrize("shape", [(220, 400), (260, 240)], ids=str)
@pytest.mark.parametrize("make", [None, duplicated, ill_scaled, one_factor, with_zeros])
def test_the_optimum_of_the_full_program(make, shape, alpha):
    X = None if make is None else make(*shape)
    problem = quantile_problem(*shape, alpha, X)
    solution = rl.solve(problem, solver="interior", tol=1e-8)
    best = quantile_optimum(problem, 0.4)
    assert solution.certificate.relative_gap <= 1e-8
    assert best - 1e-9 <= solution.objective <= best + 2e-8 * abs(best) + 1e-12


@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.EpsilonInsensitive(0.1)], ids=repr)
def test_other_losses_at_a_high_accuracy(loss):
    problem = quantile_problem(260, 320, 0.01, loss=loss)
    interior = rl.solve(problem, solver="interior", tol=1e-9)
    vertex = rl.solve(problem, solver="generation", tol=1e-9)
    assert interior.certificate.relative_gap <= 1e-9
    np.testing.assert_allclose(interior.objective, vertex.objective, rtol=2e-9)
