"""Problems under `SparseGroupLinf` against cvxpy, by every solver that takes them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import rectiline as rl
from rectiline import verify
from rectiline.paths import largest_strength
from rectiline.penalties import GroupLinf, SparseGroupLinf

GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7, 8]]  # column 9 pays l1 alone


def data(seed=0, n=40, d=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, :4] @ np.array([2.0, -1.0, 0.0, 0.5])
    return X, signal + rng.normal(size=n)


def optimum(X, y, loss, l1, linf, lower=None):
    b, b0 = cp.Variable(X.shape[1]), cp.Variable()
    z = X @ b + b0
    terms = {
        "absolute": lambda: cp.norm1(y - z),
        "squared_error": lambda: 0.5 * cp.sum_squares(y - z),
        "hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(np.sign(y), z))),
    }
    norm = l1 * cp.norm1(b) + linf * sum(cp.norm_inf(b[group]) for group in GROUPS)
    limits = [] if lower is None else [b >= lower]
    return cp.Problem(cp.Minimize(terms[loss]() + norm), limits).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("solver", ["auto", "generation", "interior"])
@pytest.mark.parametrize("loss", ["absolute", "squared_error", "hinge"])
@pytest.mark.parametrize("strengths", [(1.0, 4.0), (4.0, 1.0), (2.0, 0.0), (0.0, 3.0)])
def test_optimum(solver, loss, strengths):
    X, y = data()
    target = np.sign(y) if loss == "hinge" else y
    problem = rl.Problem(X, target, loss, SparseGroupLinf(*strengths, GROUPS))
    solution = rl.solve(problem, solver=solver, tol=1e-8)
    assert solution.status == "solved"
    best = optimum(X, y, loss, *strengths)
    certificate = problem.certify(solution)
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    assert certificate.dual <= best * (1 + 1e-7)
    assert certificate.relative_gap <= 1e-8


def test_zeros_of_both_kinds():
    X, y = data()
    solution = rl.solve(
        rl.Problem(X, y, "squared_error", SparseGroupLinf(8.0, 8.0, GROUPS)), tol=1e-9
    )
    assert not solution.coef[GROUPS[2]].any()  # a whole group
    assert solution.coef[0] != 0.0 and solution.coef[2] == 0.0  # one column of a group that stays


def test_bounds():
    X, y = data()
    problem = rl.Problem(
        X,
        y,
        "absolute",
        SparseGroupLinf(1.0, 2.0, GROUPS),
        constraints=rl.constraints.Nonnegative(),
    )
    solution = rl.solve(problem, tol=1e-8)
    assert solution.objective == pytest.approx(optimum(X, y, "absolute", 1.0, 2.0, 0.0), rel=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "squared_error"])
def test_many_columns_in_working_sets(loss):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 600))
    y = X[:, [0, 1, 5, 200]] @ [3.0, -2.0, 1.0, 2.0] + 0.1 * rng.normal(size=60)
    penalty = SparseGroupLinf(3.0, 3.0, np.arange(600) // 6)
    problem = rl.Problem(X, y, loss, penalty)
    first, second = (rl.solve(problem, solver=one, tol=1e-7) for one in ("generation", "interior"))
    assert first.status == second.status == "solved"
    assert first.objective == pytest.approx(second.objective, rel=1e-6)
    assert np.count_nonzero(first.coef) < 200


@pytest.mark.parametrize("loss", ["absolute", "squared_error"])
def test_largest_strength_is_where_zeros_begin(loss):
    X, y = data()
    problem = rl.Problem(X, y, loss, SparseGroupLinf(1.0, 3.0, GROUPS))
    largest = largest_strength(problem)
    for factor, expected in ((1.0 + 1e-6, False), (0.99, True)):
        weaker = problem.with_penalty(problem.penalty.with_strength(factor * largest))
        assert rl.solve(weaker, tol=1e-9).coef.any() == expected


def test_without_l1_it_is_the_group_penalty():
    q = np.random.default_rng(1).normal(size=10)
    q[9] = 0.0
    sparse, plain = SparseGroupLinf(0.0, 1.5, GROUPS), GroupLinf(1.5, GROUPS)
    assert sparse.dual_norm(q) == plain.dual_norm(q)
    assert sparse.value(q) == plain.value(q)
    assert np.array_equal(sparse.prox(q, 0.3), plain.prox(q, 0.3))


def test_certificate_file(tmp_path):
    X, y = data()
    problem = rl.Problem(X, y, "absolute", SparseGroupLinf(1.0, 2.0, GROUPS))
    solution = rl.solve(problem, tol=1e-8)
    path = tmp_path / "proof.rlc"
    solution.save(path)
    verdict = verify.check(path, [(X, y)])
    assert verdict.gap <= 1.2e-8 * solution.objective + solution.certificate.gap
