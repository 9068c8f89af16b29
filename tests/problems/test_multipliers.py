"""Multipliers of bounds and of single constraints, against cvxpy and against differences."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import rectiline as rl
from rectiline.constraints import (
    Box,
    LinearConstraint,
    LinearEquality,
    LinearInequality,
    Nonnegative,
)
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 4))
Y = X @ [1.0, -1.0, 2.0, 0.0] + RNG.standard_normal(60)
EQUAL = LinearEquality(np.ones((1, 4)), [-1.0])
ROWS = LinearInequality([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.5]], [0.3, 1.2])
TWO_SIDED = LinearConstraint([[0.0, 1.0, -1.0, 0.0], [1.0, 0.5, 0.0, 1.0]], [-0.5, 0.4], [0.4, 0.4])
BOX = Box([-0.2, 0.0, -np.inf, -0.1], [0.5, np.inf, 0.9, 0.05])
PENALTIES = [None, Ridge(3.0), L1(2.0), ElasticNet(1.0, 2.0), GroupLinf(2.0, [0, 0, 1, 1])]


def omega(cp, penalty, b):
    if isinstance(penalty, GroupLinf):
        return 2.0 * (cp.norm_inf(b[:2]) + cp.norm_inf(b[2:]))
    terms = {Ridge: lambda p: (0.0, p.strength), L1: lambda p: (p.strength, 0.0)}
    terms[ElasticNet] = lambda p: (p.l1, p.l2)
    l1, l2 = (0.0, 0.0) if penalty is None else terms[type(penalty)](penalty)
    return l1 * cp.norm1(b) + 0.5 * l2 * cp.sum_squares(b)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_signs_and_sizes_are_those_of_cvxpy(penalty):
    cp = pytest.importorskip("cvxpy")
    constraints = [BOX, EQUAL, ROWS, TWO_SIDED]
    problem = rl.Problem(X, Y, "squared_error", penalty, constraints, fit_intercept=False)
    dual = rl.solve(problem, tol=1e-11).dual
    b = cp.Variable(4)
    rows = [ROWS.A @ b + ROWS.c >= 0, cp.sum(b) - 1.0 == 0, b[[0, 1, 3]] >= BOX.lower[[0, 1, 3]]]
    rows += [b[[0, 2, 3]] <= BOX.upper[[0, 2, 3]]]
    rows += [TWO_SIDED.A[0] @ b >= -0.5, TWO_SIDED.A[0] @ b <= 0.4, TWO_SIDED.A[1] @ b == 0.4]
    loss = 0.5 * cp.sum_squares(Y - X @ b) + omega(cp, penalty, b)
    cp.Problem(cp.Minimize(loss), rows).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    values = [np.atleast_1d(one.dual_value) for one in rows]
    bounds = np.zeros(4)
    bounds[[0, 1, 3]] += values[2]
    bounds[[0, 2, 3]] -= values[3]
    near = {"atol": 1e-4, "rtol": 1e-5}
    np.testing.assert_allclose(dual.of(ROWS), values[0], **near)
    np.testing.assert_allclose(dual.of(EQUAL), -values[1], **near)
    np.testing.assert_allclose(dual.bounds, bounds, **near)
    np.testing.assert_allclose(dual.of(BOX), dual.bounds)
    both = [values[4][0] - values[5][0], -values[6][0]]
    np.testing.assert_allclose(dual.of(TWO_SIDED), both, **near)
    assert np.abs(dual.bounds).max() > 0.1 and np.abs(dual.of(TWO_SIDED)).max() > 0.1


@pytest.mark.parametrize("penalty", [None, L1(2.0), GroupLinf(2.0, [0, 0, 1, 1])], ids=repr)
def test_reduced_costs_are_derivatives_of_the_optimum(penalty):
    lower = np.array([0.0, 0.3, -np.inf, 0.2])

    def solved(bound):
        problem = rl.Problem(X, Y, "huber", penalty, Box(bound, np.inf), fit_intercept=False)
        return rl.solve(problem, tol=1e-12)

    bounds = solved(lower).dual.bounds
    for j in (1, 3):
        step = 1e-4 * np.eye(4)[j]
        rise = solved(lower + step).objective - solved(lower - step).objective
        assert bounds[j] == pytest.approx(rise / 2e-4, rel=1e-4, abs=1e-5)
        assert bounds[j] > 0.1


def test_other_constraints_are_refused():
    problem = rl.Problem(X, Y, "absolute", None, Nonnegative())
    dual = rl.solve(problem).dual
    assert dual.of(Nonnegative()) is dual.bounds  # equal constraints are the same
    with pytest.raises(ValueError, match=r"is no constraint of this solution; it has Nonnegative"):
        dual.of(EQUAL)


def test_constraints_may_be_named_by_their_class():
    more = [Box(-1.0, 1.0), ROWS, EQUAL]
    dual = rl.solve(rl.Problem(X, Y, "absolute", None, more)).dual
    assert dual.of("box") is dual.of(more[0])
    assert dual.of("linear_equality") is dual.of("LinearEquality") is dual.of(EQUAL)
    with pytest.raises(ValueError, match=r"'nonnegative' is no constraint of this solution"):
        dual.of("nonnegative")
    twice = rl.solve(rl.Problem(X, Y, "absolute", None, [Box(-1.0, 1.0), Box(-2.0, 2.0)])).dual
    with pytest.raises(ValueError, match="'box' names several constraints of this solution"):
        twice.of("box")


def test_a_proof_of_infeasibility_says_what_contradicts():
    rows = [Nonnegative(), LinearConstraint([1.0, 1.0, 0.0, 0.0], -3.0, -1.0)]
    solution = rl.solve(rl.Problem(X, Y, "absolute", None, rows, feature_names=list("abcd")))
    assert solution.status == "infeasible"
    said = str(solution.infeasibility)
    assert said.startswith("No coefficients satisfy the constraints: a + b <= -1; ")
    assert "a >= 0" in said and said.endswith("cannot hold together.")


def objective(problem):
    return rl.solve(problem, tol=1e-9).objective


PICKLED = {
    "plain": lambda: rl.Problem(X, Y, "huber"),
    "constraints": lambda: rl.Problem(X, Y, "absolute", L1(1.0), [BOX, EQUAL]),
    "groups": lambda: rl.Problem(X, np.sign(Y), "hinge", GroupLinf(1.0, [0, 0, 1, 1])),
    "linear": lambda: rl.Problem(X, None, "squared_error", Ridge(1.0), linear=np.ones(4)),
    "blocks": lambda: rl.Problem(rl.rows.from_arrays(X, Y, block_rows=20), "absolute"),
}


@pytest.mark.parametrize("kind", PICKLED)
def test_problems_travel_as_pickles(kind):
    problem = PICKLED[kind]()
    wanted = objective(problem)  # what was worked out stays behind
    again = pickle.loads(pickle.dumps(problem))
    assert objective(again) == wanted
    assert repr(again) == repr(problem)


def test_problems_are_solved_in_processes():
    problems = [rl.Problem(X, Y, rl.losses.Pinball(level)) for level in (0.2, 0.8)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(objective, problems)) == [objective(one) for one in problems]
