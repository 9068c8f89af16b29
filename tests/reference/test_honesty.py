"""A certificate never lies: dual <= optimum <= primal, whatever pair it is given."""

import numpy as np
import pytest
from cases import PENALTIES, SOLVERS, SolverCase
from combinations import pairwise
from reference.oracle import answer, optimum, slack

from rectiline import DualPoint
from rectiline.problems.proofs import prove
from rectiline.solvers._arguments import SOLVERS as METHODS
from rectiline.solvers._base import Budget

# Every penalty there is, whoever takes it; all tests of a case follow one another, because the
# answer of the other solver is remembered.
JUDGED = pairwise(SolverCase("any", PENALTIES))
evaluated = pytest.mark.parametrize(
    "case", JUDGED, ids=[case.name for case in JUDGED], scope="module"
)
ITERATES = [
    pytest.param(solver, case, id=f"{solver.name}-{case.name}")
    for solver in SOLVERS
    if solver.name in METHODS
    for case in pairwise(solver)[::3]
]


def check_bounds(case, proof):
    """The bound is below the optimum and, at a feasible point, the objective above it."""
    best, allowed = optimum(case), slack(case)
    assert proof.gap >= 0.0
    assert proof.dual <= best + allowed
    if proof.violation == 0.0:
        assert proof.primal >= best - allowed


def wild(rng, size):
    """Numbers of all sizes and signs, some of them zero."""
    values = rng.normal(size=size) * 10.0 ** rng.uniform(-8, 8, size=size)
    return np.where(rng.random(size) < 0.2, 0.0, values)


@pytest.mark.parametrize(("solver", "case"), ITERATES)
def test_every_iterate_of_a_solver(solver, case):
    problem, method = case.problem, METHODS[solver.name]()
    form = method.form.apply(problem)
    state = method.start(form, None, 0)
    for iterations in (1, 1, 1, 2, 5, 10, 20):
        method.advance(state, Budget(iterations, 10.0, 0.0))
        proof = problem.certify(*form.invert(method.point(state)))
        check_bounds(case, proof)


@evaluated
def test_the_answer_of_another_solver_is_certified(case):
    proof = case.problem.certify(*answer(case))
    check_bounds(case, proof)
    assert proof.violation <= 1e-8
    if case.design.hard and proof.rounding > slack(case):
        return  # columns of very different size: rounding keeps the proof open, and it says so
    assert proof.gap <= slack(case)


@evaluated
def test_a_perturbed_answer_is_not_certified(case):
    problem, (coef, intercept, dual) = case.problem, answer(case)
    rng = np.random.default_rng(5)
    for size in (1e-7, 1e-5, 1e-3, 1e-1, 10.0):
        moved = coef + size * rng.normal(size=coef.size)
        moved_intercept = intercept + size * rng.normal() if case.intercept else 0.0
        proof = problem.certify(moved, moved_intercept, dual)
        check_bounds(case, proof)
        suboptimality = proof.primal - optimum(case)
        assert proof.gap >= suboptimality - slack(case)
        if suboptimality > 1e-5 * abs(optimum(case)) + slack(case):
            assert not proof.holds(1e-6)


@evaluated
def test_perturbed_multipliers_prove_less(case):
    problem, (coef, intercept, dual) = case.problem, answer(case)
    rng = np.random.default_rng(6)
    for size in (1e-9, 1e-4, 1e-1, 10.0):
        moved = DualPoint(
            dual.sample + size * rng.normal(size=dual.sample.size),
            dual.inequality + size * rng.normal(size=dual.inequality.size),
            dual.equality + size * rng.normal(size=dual.equality.size),
        )
        check_bounds(case, problem.certify(coef, intercept, moved))
        check_bounds(case, problem.certify(np.zeros(coef.size), 0.0, moved))


@evaluated
def test_wild_multipliers_never_prove_too_much(case):
    problem = case.problem
    rows, rng = problem.constraint_rows, np.random.default_rng(7)
    points = [np.zeros(case.n_features), 3.0 * rng.normal(size=case.n_features)]
    for k in range(12):
        dual = DualPoint(
            wild(rng, problem.n_samples), wild(rng, rows.c.size), wild(rng, rows.f.size)
        )
        check_bounds(case, problem.certify(points[k % 2], 0.0, dual))
    for coef in points:
        check_bounds(case, problem.certify(coef, 0.0))
        nothing = DualPoint(np.zeros(problem.n_samples))
        check_bounds(case, problem.certify(coef, 0.0, nothing))


@evaluated
def test_the_repaired_point_proves_the_same_again(case):
    problem, (coef, intercept, dual) = case.problem, answer(case)
    proof, repaired = prove(problem, coef, intercept, dual)
    again, _ = prove(problem, coef, intercept, repaired)
    assert again.primal == proof.primal
    # Repairing a repaired point moves it again by rounding, for which tiny gaps show.
    assert again.gap <= (1 + 1e-3) * proof.gap + 1e-2 * slack(case)
    assert again.gap == pytest.approx(proof.gap, rel=1e-3, abs=0.1 * slack(case))


@evaluated
def test_the_repaired_point_is_dual_feasible(case):
    """Checked with the penalty's own conjugate and the problem's boxes, not with the repair."""
    problem, (coef, intercept, dual) = case.problem, answer(case)
    _, point = prove(problem, coef, intercept, dual)
    X, _, weight = case.data
    low, high = problem.dual_boxes
    assert (point.sample >= low).all() and (point.sample <= high).all()
    assert (point.inequality >= 0).all()
    if weight is not None:
        assert not point.sample[weight == 0].any()
    if case.intercept:
        assert abs(point.sample.sum()) <= 1e-12 * np.abs(point.sample).sum()
    rows = problem.constraint_rows
    q = rows.A.T @ point.inequality + rows.E.T @ point.equality - X.T @ point.sample
    level = np.sqrt((X**2).sum(axis=0)) * np.linalg.norm(point.sample) + 1e-300
    free = np.isneginf(rows.lower) & np.isposinf(rows.upper)
    if free.all() and problem.penalty is not None:
        q = np.where(np.abs(q) <= 1e-12 * level, 0.0, q)
        # Multipliers that are exactly feasible are proved to exist within rounding of these.
        q = np.sign(q) * np.maximum(np.abs(q) - 2.0**-46 * level, 0.0)
        assert problem.penalty.dual_norm(q) <= 1.0 + 1e-11
    elif problem.penalty is None:
        assert (np.abs(q)[free] <= 1e-12 * level[free]).all()
