"""Contradictory constraints are proved to be so; the proof is checked here by its own formula."""

import io

import numpy as np
import pytest
from cases import GENERAL
from random_problems import random_problem
from scipy import sparse

import rectiline as rl
from rectiline import Problem
from rectiline.constraints import (
    Box,
    Fairness,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
)
from rectiline.losses import Absolute
from rectiline.penalties import GroupLinf, Ridge

D = 4
RNG = np.random.default_rng(2)
X = RNG.normal(size=(25, D))
Y = RNG.normal(size=25)
ROW = np.array([1.0, -2.0, 0.5, 3.0])
GROUP = (RNG.random(25) < 0.5).astype(float)
FAIR_ROW = (GROUP - GROUP.mean()) @ X / 25


def both(row, low, high):
    """``low <= row @ b <= high``, without a look at which is larger."""
    return [LinearInequality(np.vstack([row, -np.asarray(row)]), [-low, high])]


def polytope(seed, m=12):
    """Rows with a hidden positive combination that is zero: infeasible, every subset looks fine."""
    rng = np.random.default_rng(seed)
    A, xi = rng.normal(size=(m, D)), rng.uniform(0.5, 2.0, m)
    A[-1] = -(xi[:-1] @ A[:-1]) / xi[-1]
    c = rng.normal(size=m)
    c[-1] = -(xi[:-1] @ c[:-1] + 0.05) / xi[-1]
    return [LinearInequality(A, c)]


NEAR = ROW + 1e-6 * np.array([1.0, 1.0, -1.0, 1.0])
INFEASIBLE = {
    "parallel": both(ROW, 1.0, 0.0),
    "slightly, 1e-4": both(ROW, 1.0, 1.0 - 1e-4),
    "slightly, 1e-6": both(ROW, 1.0, 1.0 - 1e-6),
    "one coefficient": both(np.eye(D)[2], 1.0, 0.5),
    "nearly parallel in a box": [
        LinearInequality(np.vstack([ROW, -NEAR]), [-1.0, 0.9]),
        Box(-100.0, 100.0),
    ],
    "equalities": [LinearEquality(np.vstack([ROW, ROW]), [-1.0, -2.0])],
    "equalities in other units": [LinearEquality(np.vstack([ROW, 1e3 * ROW]), [-1.0, -1001.0])],
    "three equalities": [LinearEquality([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], [-1, -1, -3])],
    "slight equalities": [LinearEquality(np.vstack([ROW, ROW]), [-1.0, -1.0001])],
    "equality and inequality": [LinearEquality(ROW, -1.0), LinearInequality(-ROW, 0.5)],
    "bounds and equality": [LinearEquality(np.ones(D), -10.0), Box(0.0, 1.0)],
    "bounds and inequality": [LinearInequality(-np.ones(D), -1e-4), Nonnegative()],
    "one-sided bounds": [LinearInequality([1, -1, 0, 0], -1.0), Box([-np.inf, 0, 0, 0], 0.5)],
    "order and bounds": [Monotone(), Box([1.0, -5, -5, -5], [5, 5, 5, 0.5])],
    "fairness and inequality": [Fairness(GROUP, 0.01), LinearInequality(FAIR_ROW, -0.02)],
    "a row of zeros": [LinearInequality(np.zeros((1, D)), -1e-3)],
    "an equality of zeros": [LinearEquality(np.zeros((1, D)), 1e-3)],
    "sparse": [LinearInequality(sparse.csr_array(np.vstack([ROW, -ROW])), [-1.0, 0.5])],
    "huge rows": both(1e8 * ROW, 1e8, 0.9e8),
    "tiny rows": both(1e-8 * ROW, 1e-8, 0.9e-8),
    "mixed units": [LinearInequality(np.vstack([1e6 * ROW, -1e-6 * ROW]), [-1e6, 0.9e-6])],
    **{f"polytope {seed}": polytope(seed) for seed in range(4)},
}


def check_proof(problem, proof):
    """xi >= 0 and sup over the bounds of xi'(A b + c) + nu'(E b + f) < 0: then no b is feasible."""
    rows = problem.constraint_rows
    xi, nu = proof.inequality, proof.equality
    assert (xi >= 0).all()
    A, E = (m.toarray() if sparse.issparse(m) else m for m in (rows.A, rows.E))
    combined = A.T @ xi + E.T @ nu
    size = np.abs(A).T @ xi + np.abs(E).T @ np.abs(nu)
    highest = xi @ rows.c + nu @ rows.f
    for j, entry in enumerate(combined):
        bound = rows.upper[j] if entry > 0 else rows.lower[j]
        if np.isfinite(bound):
            highest += entry * bound
        else:
            assert abs(entry) <= 1e-9 * size[j]
    assert highest < 0
    # not by rounding alone
    assert highest < -1e-10 * (xi @ np.abs(rows.c) + np.abs(nu) @ np.abs(rows.f))
    assert proof.value == pytest.approx(highest, rel=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", ["rehline", "auto"])
@pytest.mark.parametrize("name", INFEASIBLE)
def test_contradictions_are_proved(name, solver, intercept):
    problem = Problem(
        X,
        Y,
        loss=Absolute(),
        penalty=Ridge(1.0),
        constraints=INFEASIBLE[name],
        fit_intercept=intercept,
    )
    solution = rl.solve(problem, solver=solver)  # a ConvergenceWarning would be an error here
    assert solution.status == "infeasible"
    assert solution.infeasibility.proves
    check_proof(problem, solution.infeasibility)
    assert np.isnan(solution.coef).all() and np.isnan(solution.intercept)
    assert solution.n_iter == 0
    assert not solution.certificate.holds(1.0)
    assert "infeasible" in repr(solution)
    assert "contradict" in solution.reason


@pytest.mark.parametrize("name", INFEASIBLE)
def test_contradictions_are_proved_under_a_penalty_that_couples_columns(name):
    """Bounds are rows there."""
    penalty = GroupLinf(1.0, [0, 0, 1, 1])
    problem = Problem(X, Y, loss=Absolute(), penalty=penalty, constraints=INFEASIBLE[name])
    assert problem.feasibility.proof.proves
    check_proof(problem, problem.feasibility.proof)


FEASIBLE = {
    "touching": both(ROW, 1.0, 1.0),
    "a hair of room": both(ROW, 1.0, 1.0 + 1e-7),
    "nearly parallel": [LinearInequality(np.vstack([ROW, -(ROW + 0.01)]), [-1.0, 0.9])],
    "repeated equalities": [LinearEquality(np.vstack([ROW, 2 * ROW]), [-1.0, -2.0])],
    "dependent equalities": [
        LinearEquality([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], [-1, -1, -2])
    ],
    "a corner": [LinearEquality(np.ones(D), -4.0), Box(0.0, 1.0)],
    "fixed": [Box(0.3, 0.3)],
    "fixed by equalities": [LinearEquality(np.eye(D), [-0.1, 0.2, -0.3, 0.4])],
    "zero row": [LinearInequality(np.zeros((1, D)), 0.0), LinearEquality(np.zeros((1, D)), 0.0)],
    "order in a box": [Monotone(), Box([0.5, -5, -5, -5], [5, 5, 5, 0.5])],
    "huge rows": both(1e8 * ROW, 0.9e8, 1e8),
    "tiny rows": both(1e-8 * ROW, 0.9e-8, 1e-8),
    "exact fairness": [Fairness(GROUP, 0.0)],
}


@pytest.mark.parametrize("name", FEASIBLE)
def test_tight_constraints_are_not_called_contradictory(name):
    problem = Problem(X, Y, loss=Absolute(), penalty=Ridge(5.0), constraints=FEASIBLE[name])
    found = problem.feasibility
    assert found.proof is None
    assert problem.violation(found.point)[1] <= 1e-7
    assert problem.violation(problem.move_into_constraints(found.point))[1] <= 1e-9


SOLVED = [
    pytest.param(solver.name, name, id=f"{solver.name}-{name}")
    for solver in GENERAL
    for name in FEASIBLE
    if solver.hard or name != "nearly parallel"
]


@pytest.mark.parametrize(("solver", "name"), SOLVED)
def test_tight_constraints_are_solved(solver, name):
    problem = Problem(X, Y, loss=Absolute(), penalty=Ridge(5.0), constraints=FEASIBLE[name])
    solution = rl.solve(problem, solver=solver)
    assert solution.status == "solved"
    assert solution.certificate.relative_violation <= 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_random_systems_are_decided_either_way(seed):
    """Exactly one of a feasible point and a proof, over random rows, equalities and bounds."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 9)), int(rng.integers(0, 3))
    constraints = [LinearInequality(rng.normal(size=(m, D)), rng.normal(size=m) - 0.3)]
    if k:
        constraints.append(LinearEquality(rng.normal(size=(k, D)), rng.normal(size=k)))
    if seed % 2:
        constraints.append(Box(-rng.random(D), rng.random(D)))
    problem = Problem(X, Y, loss=Absolute(), constraints=constraints)
    found = problem.feasibility
    if found.proof is None:
        moved = problem.move_into_constraints(found.point)
        assert problem.violation(moved)[1] <= 1e-9
    else:
        check_proof(problem, found.proof)


@pytest.mark.parametrize("case", [(9107, 996), (80101, 953)])
def test_rounding_in_the_multipliers_of_other_rows_hides_no_contradiction(case):
    """The linear program leaves 1e-15 or 3e-12 on rows whose multipliers are zero."""
    solution = rl.solve(random_problem(*case).problem())
    assert solution.status == "infeasible"
    file = io.BytesIO()
    solution.save(file)
    assert rl.verify.check(file) is None
