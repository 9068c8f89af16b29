"""Every solver against Clarabel, over losses, penalties, constraints and awkward designs."""

import itertools
import warnings

import pytest
from cases import LOSSES, PENALTIES, SOLVERS
from combinations import FACTORS, full_product, pairwise
from reference.oracle import optimum, reference, slack

import rectiline as rl
from rectiline import ConvergenceWarning
from rectiline.solvers._arguments import SOLVERS as METHODS

RUNS = [
    pytest.param(solver, case, id=f"{solver.name}-{case.name}")
    for solver in SOLVERS
    for case in pairwise(solver)
]


def is_solved(solver, case):
    """Check the answer against the other solver's; tell whether it is as good as was asked."""
    tol = max(solver.tol, 1e-6)
    limits = {"max_iter": 100_000, "time_limit": 60.0}  # coordinate ascent is patient
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = rl.solve(case.problem, solver=solver.name, tol=tol, **limits)
    proof, best, allowed = solution.certificate, optimum(case), slack(case)
    assert proof.dual <= best + allowed

    # The objective and the violation, evaluated by somebody else.
    value, violation = reference(case).evaluate(solution.coef, solution.intercept)
    assert value == pytest.approx(proof.primal, rel=1e-9, abs=allowed)
    assert violation <= max(1e-9, 2 * proof.violation)
    if solution.status != "solved":
        return False
    assert proof.holds(tol)  # an optimum of zero has a criterion of its own
    assert best <= proof.primal + allowed
    assert proof.primal - best <= tol * max(abs(best), abs(proof.primal)) + allowed
    assert max(violation, proof.violation, proof.relative_violation) <= 1e-9
    return True


@pytest.mark.parametrize(("solver", "case"), RUNS)
def test_agrees_with_an_independent_solver(solver, case):
    assert is_solved(solver, case)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_the_full_product_agrees(solver, loss):
    """A solver by name may give up on one case in fifty, and says so; "auto" on none."""
    cases = [case for case in full_product(solver) if case.loss is loss]
    unsolved = [case.name for case in cases if not is_solved(solver, case)]
    assert len(unsolved) <= (0 if solver.name == "auto" else len(cases) // 50), unsolved


def test_every_solver_is_listed():
    assert sorted(solver.name for solver in SOLVERS) == sorted(["auto", "passes", *METHODS])


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_any_two_values_meet(solver):
    def pairs(cases):
        return {
            (one, other, getattr(case, one), getattr(case, other))
            for case in cases
            for one, other in itertools.combinations(FACTORS, 2)
        }

    chosen, everything = pairwise(solver), full_product(solver)
    assert pairs(chosen) >= pairs(everything)
    assert {case.penalty for case in chosen} == {
        one for one in PENALTIES if one in solver.penalties and (solver.hard or not one.hard)
    }
