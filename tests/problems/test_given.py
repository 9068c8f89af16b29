"""What a problem may be given: names, frames, no targets, a linear term."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline.constraints import Box, LinearConstraint, LinearEquality, Nonnegative
from rectiline.losses import Absolute, Hinge, Huber, SquaredError
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope

RNG = np.random.default_rng(12)
N, D = 40, 4
X = RNG.normal(size=(N, D))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * RNG.normal(size=N)
NAMES = ["age", "income", "rate", "size"]
FRAME = pd.DataFrame(X, columns=NAMES)


def test_losses_and_penalties_by_name():
    for name, made in (("l2", Ridge(1.0)), ("l1", L1(1.0)), ("elasticnet", ElasticNet(0.5, 0.5))):
        assert rl.Problem(X, Y, "huber", name).penalty == made
    assert rl.Problem(X, Y, "huber", "slope").penalty == Slope.bh(D, 0.1, 1.0)
    assert rl.Problem(X, Y, "absolute").loss == Absolute()
    with pytest.raises(ValueError, match="needs its quantile"):
        rl.Problem(X, Y, "pinball")
    two = rl.Problem(X, Y, ["absolute", Huber()], loss_index=np.arange(N) % 2)
    assert two.losses == (Absolute(), Huber())
    with pytest.raises(ValueError, match="Did you mean 'l1'"):
        rl.Problem(X, Y, "huber", "lasso")
    with pytest.raises(ValueError, match="penalty='group' needs groups"):
        rl.Problem(X, Y, "huber", "group")


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list"))], ids=["pd", "pl"])
def test_frames_and_columns_by_name(frame):
    problem = rl.Problem(frame, Y, "huber", constraints={"age": (None, 0.5), "size": ">=0.1"})
    assert list(problem.feature_names) == NAMES
    expected = rl.Problem(
        X, Y, Huber(), constraints=Box([-np.inf, -np.inf, -np.inf, 0.1], [0.5, *[np.inf] * 3])
    )
    np.testing.assert_allclose(rl.solve(problem).coef, rl.solve(expected).coef, rtol=1e-9)
    mixed = rl.Problem(frame, Y, "huber", constraints=[{"age": 0.0}, Nonnegative()])
    assert rl.solve(mixed).coef[0] == 0.0
    with pytest.raises(ValueError, match="Did you mean 'income'"):
        rl.Problem(frame, Y, "huber", constraints={"incom": ">=0"})
    with pytest.raises(ValueError, match="at column 'rate': lower bound 1 > upper bound 0"):
        rl.Problem(frame, Y, "huber", constraints=[{"rate": ">=1"}, {"rate": "<=0"}])
    assert rl.Problem(X, Y, "huber").feature_names is None


def test_a_column_of_text_is_named():
    frame = FRAME.assign(city="Oslo")
    with pytest.raises(ValueError, match=r"X: column 'city' holds 'Oslo' in row 0, which is not"):
        rl.Problem(frame, Y, "huber")


# ---- optimisation problems ---------------------------------------------------------------------

LOSSES = [
    (Absolute(), lambda r: cp.sum(cp.abs(r))),
    (SquaredError(), lambda r: cp.sum_squares(r) / 2),
    (Huber(0.5), lambda r: cp.sum(cp.huber(r, 0.5)) / 2),
]
PENALTIES = [
    (Ridge(1.0), lambda b: cp.sum_squares(b) / 2),
    (L1(5.0), lambda b: 5 * cp.norm1(b)),
    (GroupLinf(5.0, [0, 0, 1, 1]), lambda b: 5 * (cp.norm_inf(b[:2]) + cp.norm_inf(b[2:]))),
    (None, lambda b: 0.0),
]
REGIONS = [
    ((), lambda b: []),
    (
        (LinearConstraint(np.ones(D), 1.0, 1.0), Nonnegative()),
        lambda b: [cp.sum(b) == 1, b >= 0],
    ),
]


@pytest.mark.parametrize("region", REGIONS, ids=["free", "simplex"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p[0]).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda p: type(p[0]).__name__)
def test_a_linear_term(loss, penalty, region):
    linear = np.array([3.0, -2.0, 0.0, 1.5])
    b = cp.Variable(D)
    objective = loss[1](Y - X @ b) + linear @ b + penalty[1](b)
    best = cp.Problem(cp.Minimize(objective), region[1](b)).solve(solver="CLARABEL")
    problem = rl.Problem(
        X, Y, *(loss[0], penalty[0], region[0]), fit_intercept=False, linear=linear
    )
    solution = rl.solve(problem, tol=1e-8)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(best, rel=1e-6)
    assert problem.certify(solution).relative_gap <= 1e-8
    by_hand = loss[0].value(Y, X @ solution.coef).sum() + linear @ solution.coef
    by_hand += 0.0 if penalty[0] is None else penalty[0].value(solution.coef)
    assert solution.objective == pytest.approx(by_hand, rel=1e-9)


def test_a_linear_term_with_labels_and_sparse_data():
    linear = np.array([0.3, -0.2, 0.0, 0.1])
    for data in (X, sp.csr_array(X), sp.csc_array(X), X.astype(np.float32)):
        problem = rl.Problem(data, Y > 0, "hinge", fit_intercept=False, linear=linear)
        solution = rl.solve(problem, tol=1e-8)
        signs = np.where(Y > 0, 1.0, -1.0)
        b = cp.Variable(D)
        loss = cp.sum(cp.pos(1 - cp.multiply(signs, X @ b)))
        best = cp.Problem(cp.Minimize(loss + linear @ b + cp.sum_squares(b) / 2))
        assert solution.objective == pytest.approx(best.solve(solver="CLARABEL"), rel=1e-5)


def test_a_linear_program_without_data():
    A, upper = RNG.uniform(0.1, 1.0, (6, D)), RNG.uniform(1.0, 2.0, 6)
    profit = RNG.uniform(0.5, 1.5, D)
    rows = [LinearConstraint(A, upper=upper), Nonnegative()]
    solution = rl.solve(rl.Problem(None, linear=-profit, constraints=rows), tol=1e-9)
    best = linprog(-profit, A_ub=A, b_ub=upper)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(best.fun, rel=1e-8)
    quadratic = rl.Problem(None, linear=-profit, penalty=Ridge(2.0), constraints=rows)
    b = cp.Variable(D)
    task = cp.Problem(cp.Minimize(-profit @ b + cp.sum_squares(b)), [A @ b <= upper, b >= 0])
    expected = task.solve(solver="CLARABEL")
    assert rl.solve(quadratic, tol=1e-9).objective == pytest.approx(expected, rel=1e-7)


def test_problems_without_targets():
    loss = rl.losses.PiecewiseLQ([0.0], [(0, 0, 0), (0, 1, 0)], of="prediction")
    problem = rl.Problem(X, None, loss, constraints=LinearConstraint(np.ones(D), 1.0, 1.0))
    assert problem.penalty is None and not problem.fit_intercept
    least = rl.solve(
        rl.Problem(X, None, "squared_error", constraints=LinearEquality(np.ones(D), -1.0)),
        tol=1e-10,
    )
    gram = np.linalg.solve(X.T @ X, np.ones(D))
    np.testing.assert_allclose(least.coef, gram / gram.sum(), rtol=1e-6)


def test_what_is_refused():
    cases = [
        (lambda: rl.Problem(X, None, Hinge()), "loss of the margin: give labels"),
        (lambda: rl.Problem(X, Y, "huber", linear=np.ones(D)), "fit_intercept=False"),
        (lambda: rl.Problem(X, None, "huber", linear=[1.0]), r"4 numbers, one per column.*\(1,\)"),
        (lambda: rl.Problem(X, None, "huber", linear=[1, 2, np.nan, 0]), r"linear\[2\] is nan"),
        (lambda: rl.Problem(X, None, "huber", linear=np.ones(D) * 1j), "linear must hold numbers"),
        (lambda: rl.Problem(None), "nothing to minimise"),
        (lambda: rl.Problem(None, Y, linear=np.ones(D)), "leave out y"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()


def test_names_may_be_given_as_a_list_and_must_fit():
    problem = rl.Problem(
        np.eye(2), [1.0, -1.0], "absolute", constraints={"b": ">=0"}, feature_names=["a", "b"]
    )
    assert list(problem.feature_names) == ["a", "b"]
    assert problem.constraint_rows.lower.tolist() == [-np.inf, 0.0]
    with pytest.raises(ValueError, match=r"feature_names has shape \(3,\); X has 2 columns"):
        rl.Problem(np.eye(2), [1.0, -1.0], "absolute", feature_names=["a", "b", "c"])
