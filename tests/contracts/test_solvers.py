"""What every solver promises, over the one list of solvers."""

import pickle
import warnings

import numpy as np
import pytest
from cases import LOSSES, SOLVERS
from contracts.kinds import (
    LABELS,
    NAMES,
    SIGNAL,
    X,
    each,
    every,
    make,
    pairs,
    same,
    solved,
    solvers,
)

import rectiline as rl
from rectiline import Problem
from rectiline.constraints import Box
from rectiline.losses import Absolute, Hinge, SquaredError
from rectiline.penalties import Ridge
from rectiline.solvers import Solution, Status

# ---- the gap ----------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("tol", [3e-2, 1e-6, 1e-10])
def test_closes_the_gap(solver, kind, tol):
    problem, tol = make(kind), max(tol, {one.name: one.tol for one in SOLVERS}[solver])
    solution = solved(problem, solver, tol)
    assert isinstance(solution, Solution) and solution.status is Status.SOLVED
    assert solution.certificate.relative_gap <= tol
    assert solution.certificate.relative_violation <= 1e-9
    again = problem.certify(solution.coef, solution.intercept, solution.dual)
    assert solution.certificate.primal == solution.objective
    assert abs(again.primal - solution.objective) <= again.rounding + solution.certificate.rounding
    assert again.relative_gap <= 2 * tol
    assert again.violation == solution.certificate.violation


@solvers
@pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
def test_closes_the_gap_for_every_loss(solver, case):
    y = LABELS if case.loss.of == "margin" else SIGNAL
    for intercept in (True, False):
        problem = Problem(X, y, loss=case.loss, penalty=Ridge(9.0), fit_intercept=intercept)
        solved(problem, solver, 1e-8)


@each
def test_the_answer_says_how_it_was_found(solver, kind):
    solution = solved(make(kind), solver, 1e-6)
    assert solution.solver in (
        [name for name in NAMES if name != "auto"] if solver == "auto" else [solver]
    )
    assert solution.reason
    assert solution.n_iter >= 1 and solution.seconds > 0
    assert solution.infeasibility is None
    assert [p.seconds for p in solution.history] == sorted(p.seconds for p in solution.history)
    for name in {progress.solver for progress in solution.history}:  # one or several stages
        counts = [progress.n_iter for progress in solution.history if progress.solver == name]
        assert counts == sorted(counts)
    assert solution.history[-1].n_iter == solution.n_iter
    assert solution.history[-1].relative_gap == solution.certificate.relative_gap
    for word in ("solved", "objective", "relative_gap", "violation", solution.solver):
        assert word in repr(solution)


# ---- repeatability ----------------------------------------------------------------------------


@each
def test_the_same_seed_gives_the_same_answer(solver, kind):
    first, second = (solved(make(kind), solver, 1e-6, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.dual.sample, second.dual.sample)
    assert (first.n_iter, first.certificate) == (second.n_iter, second.certificate)


@each
def test_any_seed_gives_a_good_answer(solver, kind):
    same(solved(make(kind), solver, random_state=0), solved(make(kind), solver, random_state=99))


@each
def test_a_problem_can_be_solved_again(solver, kind):
    problem = make(kind)
    first, second = (solved(problem, solver, 1e-6) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)


@pairs([solver for solver in SOLVERS if solver.warm])
def test_a_warm_start_takes_fewer_iterations(solver, kind):
    problem = make(kind)
    cold = solved(problem, solver, 1e-8)
    warm = solved(problem, solver, 1e-8, warm_start=cold)
    assert warm.n_iter <= max(2, 0.5 * cold.n_iter)


@each
def test_a_warm_start_from_a_similar_problem(solver, kind):
    penalty = make(kind).penalty
    problem = make(kind, penalty=penalty.with_strength(1.05 * penalty.strength))
    solution = solved(problem, solver, warm_start=solved(make(kind), solver))
    same(solved(problem, solver), solution)


@solvers
def test_a_solution_can_be_pickled(solver):
    solution = solved(make("hinge"), solver, 1e-6)
    copy = pickle.loads(pickle.dumps(solution))
    np.testing.assert_array_equal(copy.coef, solution.coef)
    assert copy.certificate == solution.certificate
    assert copy.status == "solved"


@each
def test_nothing_is_printed_or_warned(solver, kind, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved(make(kind), solver, 1e-6)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


# ---- extremes ---------------------------------------------------------------------------------


@solvers
def test_one_sample_and_one_column(solver):
    solution = solved(Problem([[2.0]], [3.0], loss=Absolute(), fit_intercept=False), solver)
    assert solution.coef[0] == pytest.approx(1.5, rel=1e-4)
    solution = solved(Problem([[2.0]], [3.0], loss=Absolute()), solver)
    assert solution.objective == pytest.approx(0.0, abs=1e-9)


@solvers
@pytest.mark.parametrize("loss", [Hinge(), Absolute(), SquaredError()])
def test_a_design_of_zeros(solver, loss):
    """Only the intercept can do anything."""
    y = LABELS if loss.of == "margin" else SIGNAL
    solution = solved(Problem(np.zeros((60, 3)), y, loss=loss), solver, 1e-8)
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-3)
    best = min(
        float(loss.value(y, np.full(60, b0)).sum()) for b0 in (np.mean(y), np.median(y), 1.0, -1.0)
    )
    assert solution.objective == pytest.approx(best, rel=1e-6)
    origin = Problem(np.zeros((60, 3)), y, loss=loss, fit_intercept=False)
    assert solved(origin, solver).objective == pytest.approx(origin.objective(np.zeros(3)))


@solvers
def test_all_coefficients_fixed_by_bounds(solver):
    problem = Problem(X, SIGNAL, loss=Absolute(), penalty=Ridge(9.0), constraints=[Box(0.1, 0.1)])
    solution = solved(problem, solver)
    np.testing.assert_array_equal(solution.coef, np.full(6, 0.1))
    assert solution.intercept == pytest.approx(np.median(SIGNAL - 0.1 * X.sum(axis=1)), abs=0.2)


@solvers
def test_a_target_that_is_met_exactly(solver):
    """All residuals inside the insensitive zone: the optimum is zero at zero."""
    loss = rl.losses.EpsilonInsensitive(epsilon=100.0)
    solution = solved(Problem(X, SIGNAL, loss=loss, penalty=Ridge(1.0)), solver)
    assert solution.objective == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-4)
