"""Every solver against Clarabel, over losses, penalties, constraints and awkward designs."""

import pytest
from cases import SOLVERS
from combinations import CASES, FLAT_CASES
from reference.oracle import optimum, reference, slack

import rectiline as rl

TOL = 1e-6
RUNS = [
    pytest.param(solver, case, id=f"{solver.name}-{case.name}")
    for solver in SOLVERS
    for case in [*CASES, *(FLAT_CASES if solver.flat else [])]
    if solver.hard or not case.hard
]


@pytest.mark.parametrize(("solver", "case"), RUNS)
def test_agrees_with_an_independent_solver(solver, case):
    solution = rl.solve(case.problem, solver=solver.name, tol=TOL, time_limit=60.0)
    proof, best, allowed = solution.certificate, optimum(case), slack(case)

    assert solution.status == "solved"
    assert proof.relative_gap <= TOL
    assert proof.dual <= best + allowed
    assert best <= proof.primal + allowed
    assert proof.primal - best <= TOL * max(abs(best), abs(proof.primal)) + allowed

    # The objective and the violation, evaluated by somebody else.
    value, violation = reference(case).evaluate(solution.coef, solution.intercept)
    assert value == pytest.approx(proof.primal, rel=1e-9, abs=allowed)
    assert violation <= 1e-9
    assert proof.violation <= 1e-9
    assert proof.relative_violation <= 1e-9


def test_the_list_covers_what_it_should():
    for attribute in ("loss", "penalty", "constraint", "design", "intercept"):
        easy = {getattr(case, attribute) for case in CASES if not case.hard}
        everything = {getattr(case, attribute) for case in CASES}
        assert easy == {one for one in everything if not getattr(one, "hard", False)}
    assert len(CASES) >= 150
