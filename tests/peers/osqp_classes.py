"""The problem classes of the OSQP paper, drawn anew and compared with Clarabel; `make peers`.

Written after appendix A of Stellato, Banjac, Goulart, Bemporad and Boyd, "OSQP: an operator
splitting solver for quadratic programs", Mathematical Programming Computation 12 (2020).
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import linalg
from scipy import sparse as sp

import rectiline as rl
from rectiline.constraints import Box, LinearConstraint, Nonnegative

_DENSITY = 0.15


def _normal(rng, m, n, density=_DENSITY):
    return sp.random_array((m, n), density=density, rng=rng, data_sampler=rng.standard_normal)


def _squares(rng, n):
    """Rows whose squares make ``M M' + 0.01 I``."""
    return sp.vstack([_normal(rng, n, n).T, 0.1 * sp.eye_array(n)], format="csr")


def random_qp(rng, n):
    rows, A = _squares(rng, n), _normal(rng, 10 * n, n).tocsr()
    q, lower, upper = rng.standard_normal(n), -rng.uniform(size=10 * n), rng.uniform(size=10 * n)
    between = LinearConstraint(A, lower, upper)
    x = cp.Variable(n)
    objective = cp.sum_squares(rows @ x) / 2 + q @ x
    return (
        rl.Problem(rows, None, "squared_error", linear=q, constraints=between),
        cp.Problem(cp.Minimize(objective), [A @ x >= lower, A @ x <= upper]),
    )


def equality_qp(rng, n):
    rows, A = _squares(rng, n), _normal(rng, n // 2, n).tocsr()
    A = A[np.diff(A.indptr) > 0]
    q, b = rng.standard_normal(n), rng.standard_normal(A.shape[0])
    x = cp.Variable(n)
    return (
        rl.Problem(rows, None, "squared_error", linear=q, constraints=LinearConstraint(A, b, b)),
        cp.Problem(cp.Minimize(cp.sum_squares(rows @ x) / 2 + q @ x), [A @ x == b]),
    )


def portfolio(rng, n):
    k, wide = max(1, n // 10), 10 * n
    factors = _normal(rng, wide, k, 0.5)
    risk = sp.diags_array(np.sqrt(rng.uniform(0, np.sqrt(k), wide)))
    rows = np.sqrt(2.0) * sp.vstack([factors.T, risk], format="csr")
    mean = rng.standard_normal(wide)
    budget = LinearConstraint(np.ones(wide), 1.0, 1.0)
    x = cp.Variable(wide)
    return (
        rl.Problem(rows, None, "squared_error", linear=-mean, constraints=[Nonnegative(), budget]),
        cp.Problem(cp.Minimize(cp.sum_squares(rows @ x) / 2 - mean @ x), [cp.sum(x) == 1, x >= 0]),
    )


def control(rng, n):
    """Linear dynamics over ten steps; states and inputs stand one after the other."""
    inputs, steps = n // 2, 10
    A = np.eye(n) + 0.1 * rng.standard_normal((n, n))
    A /= max(1.0, 1.05 * np.abs(np.linalg.eigvals(A)).max())
    B = rng.standard_normal((n, inputs))
    Q = np.diag(np.where(rng.uniform(size=n) < 0.7, rng.uniform(0, 10, n), 0.0))
    last = linalg.solve_discrete_are(A, B, Q + 1e-8 * np.eye(n), 0.1 * np.eye(inputs))
    most_x, most_u = rng.uniform(1, 2, n), rng.uniform(0, 0.1, inputs)
    first = rng.uniform(-0.5, 0.5, n) * most_x
    weights = [np.sqrt(2 * Q)] * steps + [np.sqrt(2) * linalg.cholesky(last)]
    weights += [np.sqrt(0.2) * np.eye(inputs)] * steps
    rows = sp.block_diag(weights, format="csr")
    shift = sp.kron(sp.eye_array(steps, steps + 1, k=1), sp.eye_array(n))
    stay = sp.kron(sp.eye_array(steps, steps + 1), A)
    dynamics = sp.hstack([shift - stay, -sp.kron(sp.eye_array(steps), B)])
    start = sp.eye_array(n, dynamics.shape[1])
    E = sp.vstack([start, dynamics], format="csr")
    f = np.append(first, np.zeros(steps * n))
    most = np.append(np.tile(most_x, steps + 1), np.tile(most_u, steps))
    z = cp.Variable(E.shape[1])
    return (
        rl.Problem(
            rows, None, "squared_error", constraints=[Box(-most, most), LinearConstraint(E, f, f)]
        ),
        cp.Problem(cp.Minimize(cp.sum_squares(rows @ z) / 2), [E @ z == f, z <= most, z >= -most]),
    )


def lasso(rng, n):
    A = _normal(rng, 100 * n, n).tocsr()
    truth = np.where(rng.uniform(size=n) < 0.5, 0.0, rng.standard_normal(n) / np.sqrt(n))
    b = A @ truth + 0.5 * rng.standard_normal(100 * n)
    strength = np.abs(A.T @ b).max() / 5
    x = cp.Variable(n)
    return (
        rl.Problem(A, b, "squared_error", rl.penalties.L1(strength / 2), fit_intercept=False),
        cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) / 2 + strength / 2 * cp.norm1(x))),
    )


def huber(rng, n):
    A = _normal(rng, 100 * n, n).tocsr()
    noise = np.where(
        rng.uniform(size=100 * n) < 0.95,
        0.5 * rng.standard_normal(100 * n),
        rng.uniform(0, 10, 100 * n),
    )
    b = A @ (rng.standard_normal(n) / np.sqrt(n)) + noise
    x = cp.Variable(n)
    return (
        rl.Problem(A, b, rl.losses.Huber(1.0), None, fit_intercept=False),
        cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ x - b)) / 2)),
    )


def svm(rng, n):
    y = np.repeat([1.0, -1.0], 50 * n)
    A = sp.random_array((100 * n, n), density=_DENSITY, rng=rng, format="csr")
    sign = np.repeat(y, np.diff(A.indptr))
    A.data = sign / n + rng.standard_normal(A.nnz) / np.sqrt(n)
    x = cp.Variable(n)
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, A @ x)))
    return (
        rl.Problem(A, y, "hinge", rl.penalties.Ridge(2.0), fit_intercept=False),
        cp.Problem(cp.Minimize(cp.sum_squares(x) + hinge)),
    )


CLASSES = [random_qp, equality_qp, portfolio, control, lasso, huber, svm]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [10, 20, 40])
@pytest.mark.parametrize("draw", CLASSES, ids=lambda one: one.__name__)
def test_as_good_as_clarabel(draw, n, seed):
    ours, theirs = draw(np.random.default_rng([n, seed]), n)
    best = theirs.solve(solver=cp.CLARABEL)
    answer = rl.solve(ours, tol=1e-7)
    assert answer.status == "solved"
    assert answer.certificate.relative_violation <= 1e-9
    assert answer.objective <= best + 1e-6 * max(1.0, abs(best))
    assert answer.certificate.dual <= best + 1e-6 * max(1.0, abs(best))
