"""Linear terms of the objective: what is proved about them, and by whom they are solved."""

from __future__ import annotations

import io

import cvxpy as cp
import numpy as np
import pytest
from fuzz_solve import is_proved
from random_problems import random_problem
from scipy.optimize import linprog

import rectiline as rl
from rectiline import verify
from rectiline.constraints import LinearConstraint, Nonnegative
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope

N, D = 69, 14
RNG = np.random.default_rng(139)
X = RNG.normal(size=(N, D))
Y = X @ RNG.normal(size=D) + RNG.standard_t(3, N)
WEIGHT = 10.0 ** RNG.uniform(-1, 2, N)
LINEAR = 10.0 * RNG.normal(size=D)


def problem(penalty, loss="absolute", linear=LINEAR):
    return rl.Problem(X, Y, loss, penalty, sample_weight=WEIGHT, fit_intercept=False, linear=linear)


@pytest.mark.parametrize("solver", ["auto", "newton", "interior", "generation"])
@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_the_proof_knows_no_floor(solver, loss):
    """A floor 1e8 times as far off as the answer left rounding errors of 1e-6 of the objective."""
    given = problem(L1(0.01), loss)
    answer = rl.solve(given, solver=solver, tol=1e-9)
    assert answer.status == "solved"
    assert answer.dual.sample[-1] == 1.0
    assert answer.certificate.radius == np.inf
    assert given.certify(answer).relative_gap <= 1e-9


@pytest.mark.parametrize("penalty", [L1(5.0), ElasticNet(5.0, 0.1), Ridge(1.0), None], ids=repr)
def test_the_bound_holds_in_rational_arithmetic(penalty):
    """Multipliers from nowhere near the optimum prove something as well, and nothing wrong."""
    given = problem(penalty, "huber")
    best = rl.solve(given, tol=1e-10)
    rows = np.vstack([X, LINEAR]), np.append(Y, 0.0), np.append(WEIGHT, 1.0)
    file = io.BytesIO()
    best.save(file, given)
    file.seek(0)
    exact = verify.check(file, [rows], exact=True)
    assert exact is not None and exact.gap <= 1e-9 * abs(exact.objective)
    optimum = exact.objective - exact.gap  # or more
    rng = np.random.default_rng(4)
    for size in (1e-9, 1e-6, 1e-3, 1.0):
        coef = best.coef + size * rng.normal(size=D)
        dual = best.dual.sample * (1.0 + size * rng.normal(size=N + 1))
        pair = given.certify(coef, dual=dual)
        assert pair.dual <= optimum + exact.gap
        assert pair.gap >= pair.primal - best.objective


@pytest.mark.parametrize(
    "penalty", [Slope(np.linspace(3.0, 1.0, D)), GroupLinf(4.0, np.arange(D) // 3)], ids=repr
)
@pytest.mark.parametrize("share", [0.9, 1.0, 1.01])
def test_penalties_that_couple_columns(penalty, share):
    """Multipliers outside the dual ball prove something about coefficients up to the radius."""
    given = problem(penalty, "squared_error")
    answer = rl.solve(given, tol=1e-9)
    assert answer.status == "solved"
    dual = np.append(share * answer.dual.sample[:-1], 1.0)
    pair = given.certify(answer.coef, dual=dual)
    assert pair.dual <= answer.objective
    rng = np.random.default_rng(5)
    far = 100.0 * np.abs(answer.coef).max() * rng.normal(size=(50, D))
    assert min(given.objective(one) for one in far) >= pair.dual


def test_groups_of_badly_scaled_columns():
    """Rounding alone puts q outside: moving multipliers for that cost a gap of 1.3e-3."""
    given = random_problem(271828, 423)
    answer = rl.solve(given.problem(), tol=1e-7)
    assert answer.status == "solved"
    assert is_proved(given, answer)


def test_a_linear_program_and_a_quadratic_one_without_data():
    A, upper = RNG.uniform(0.1, 1.0, (6, 4)), RNG.uniform(1.0, 2.0, 6)
    profit = RNG.uniform(0.5, 1.5, 4)
    given = {"linear": -profit, "constraints": [LinearConstraint(A, upper=upper), Nonnegative()]}
    least = linprog(-profit, A_ub=A, b_ub=upper).fun
    for solver in ("auto", "interior", "generation"):
        answer = rl.solve(rl.Problem(None, **given), solver=solver, tol=1e-9)
        assert answer.status == "solved" and answer.objective == pytest.approx(least, rel=1e-8)
    b = cp.Variable(4)
    program = cp.Problem(cp.Minimize(cp.sum_squares(b) - profit @ b), [A @ b <= upper, b >= 0])
    least = program.solve(solver=cp.CLARABEL)
    for solver in ("auto", "interior", "rehline"):
        answer = rl.solve(rl.Problem(None, penalty=Ridge(2.0), **given), solver=solver, tol=1e-9)
        assert answer.status == "solved" and answer.objective == pytest.approx(least, rel=1e-7)


def test_a_direction_whose_entries_are_tied_across_scales():
    """Ordered columns of very different size: small entries of the direction are no zeros."""
    rng = np.random.default_rng(195)
    scale = 10.0 ** rng.uniform(-3, 3, 40)
    rows = rng.normal(size=(3, 40)) * scale
    linear = -np.abs(rng.normal(size=40)) * scale
    answer = rl.solve(
        rl.Problem(
            rows, rng.normal(size=3), "squared_error", L1(1e-4), fit_intercept=False,
            linear=linear, constraints=[rl.constraints.Monotone()],
        )
    )  # fmt: skip
    assert answer.status == "unbounded"
    assert (np.diff(answer.direction) >= -1e-10).all()
    assert linear @ answer.direction + 1e-4 * np.abs(answer.direction).sum() < 0


def test_rehline_takes_linear_terms():
    assert rl.solve(problem(Ridge(1.0)), solver="rehline").status == "solved"
