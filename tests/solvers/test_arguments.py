"""Which solver takes a problem, what is refused with a reason, and what is not understood."""

from dataclasses import fields

import numpy as np
import pytest
from cases import COUPLED, FLAT, GENERAL

import rectiline as rl
from rectiline import Problem, UnsupportedProblemError
from rectiline.constraints import Box, Nonnegative
from rectiline.losses import Absolute, Hinge, Pinball
from rectiline.penalties import L1, Ridge
from rectiline.solvers import Status
from rectiline.solvers._arguments import SOLVERS as METHODS

RNG = np.random.default_rng(21)
X = RNG.normal(size=(80, 5))
Y = X @ RNG.normal(size=5) + RNG.normal(size=80)
solvers = pytest.mark.parametrize("solver", [solver.name for solver in GENERAL])


@pytest.fixture
def problem():
    return Problem(X, Y, loss=Pinball(0.8), penalty=Ridge(10.0))


@pytest.fixture
def stubborn():
    """Badly scaled and hardly penalised: coordinate ascent does not get far in a few sweeps."""
    return Problem(X * [1e-2, 1.0, 50.0, 1.0, 1.0] + 5.0, Y, loss=Absolute(), penalty=Ridge(1e-3))


def collect(problem, **options):
    """Solve, and return the solution with all progress seen by the callback."""
    seen = []
    solution = rl.solve(problem, callback=lambda progress: seen.append(progress), **options)
    return solution, seen


# ---- choice and refusal -----------------------------------------------------------------------


def test_auto_gives_a_written_reason(problem):
    solution = rl.solve(problem)
    assert solution.status == "solved"
    assert solution.solver in solution.reason
    assert len(solution.reason) > len(solution.solver)


@pytest.mark.parametrize("case", [*FLAT, *COUPLED], ids=lambda case: case.name)
def test_rehline_refuses_penalties_without_a_ridge_part(case):
    problem = Problem(X, Y, loss=Absolute(), penalty=case.make(5))
    with pytest.raises(UnsupportedProblemError, match="'rehline' cannot take this problem: ") as e:
        rl.solve(problem, solver="rehline")
    assert METHODS["rehline"].refuses(problem) in str(e.value)
    assert isinstance(e.value, ValueError)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", [*FLAT, *COUPLED], ids=lambda case: case.name)
@pytest.mark.parametrize("constraints", [[], [Nonnegative()]], ids=["free", "nonnegative"])
def test_a_solver_refuses_or_solves(case, name, constraints):
    problem = Problem(X, Y, loss=Absolute(), penalty=case.make(5), constraints=constraints)
    reason = METHODS[name]().refuses(problem)
    if reason is None:
        tol = 1e-2 if name == "smoothed" else 1e-6  # it prepares the others
        solution = rl.solve(problem, solver=name, tol=tol)
        assert solution.status == "solved" and solution.solver == name
        return
    with pytest.raises(UnsupportedProblemError) as refusal:
        rl.solve(problem, solver=name)
    assert reason in str(refusal.value)
    for other, method in METHODS.items():  # and it says who can
        if method().refuses(problem) is None:
            assert other in str(refusal.value)


@pytest.mark.parametrize("case", [*FLAT, *COUPLED], ids=lambda case: case.name)
def test_auto_solves_or_says_why_not(case):
    problem = Problem(X, Y, loss=Absolute(), penalty=case.make(5))
    try:
        solution = rl.solve(problem)
    except UnsupportedProblemError as refusal:
        assert "No solver takes this problem" in str(refusal)
        assert all(method().refuses(problem) is not None for method in METHODS.values())
    else:
        assert solution.status == "solved"


# ---- bad arguments ----------------------------------------------------------------------------

BAD = [
    ({"solver": "simplex"}, ValueError, r"solver='simplex' is not one of 'auto', .*'rehline'"),
    ({"tol": 0.0}, ValueError, "tol=0.0"),
    ({"tol": -1e-3}, ValueError, "tol=-0.001"),
    ({"tol": float("nan")}, ValueError, "tol=nan"),
    ({"tol": "tight"}, (ValueError, TypeError), "tol='tight'"),
    ({"max_iter": 0}, ValueError, "max_iter=0"),
    ({"max_iter": -5}, ValueError, "max_iter=-5"),
    ({"max_iter": 2.5}, (ValueError, TypeError), "max_iter=2.5"),
    ({"time_limit": 0.0}, ValueError, "time_limit=0.0"),
    ({"time_limit": -1.0}, ValueError, "time_limit=-1.0"),
    ({"time_limit": float("nan")}, ValueError, "time_limit=nan"),
    ({"random_state": -1}, ValueError, "random_state=-1"),
    ({"random_state": 1.5}, ValueError, "random_state=1.5"),
    ({"random_state": "a"}, ValueError, "random_state='a'"),
    ({"random_state": True}, ValueError, "random_state=True"),
    ({"warm_start": np.zeros(5)}, TypeError, "warm_start must be a Solution"),
    ({"solver": "rehline", "shrinking": True}, TypeError, "no option 'shrinking'.*'shrink'"),
    ({"shrink": True}, TypeError, "solver='auto' takes no options; got 'shrink'"),
    ({"callback": 3}, TypeError, "callback"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD, ids=[m for _, _, m in BAD])
def test_bad_arguments(problem, options, error, message):
    with pytest.raises(error, match=message):
        rl.solve(problem, **options)


def test_the_problem_must_be_one():
    with pytest.raises(TypeError, match=r"problem must be a rectiline\.Problem; got ndarray"):
        rl.solve(X)


def test_a_warm_start_must_fit(problem):
    other = rl.solve(Problem(X[:, :3], Y, loss=Absolute(), penalty=Ridge(9.0)), solver="rehline")
    with pytest.raises(ValueError, match=r"warm_start .* 80 samples and 3 features.* 80 and 5"):
        rl.solve(problem, warm_start=other)
    fewer = rl.solve(Problem(X[:50], Y[:50], loss=Absolute(), penalty=Ridge(9.0)), solver="rehline")
    with pytest.raises(ValueError, match="warm_start"):
        rl.solve(problem, warm_start=fewer)


def test_status_is_a_string():
    assert Status.SOLVED == "solved" and str(Status.ITERATION_LIMIT) == "iteration_limit"
    assert {status.value for status in Status} == {
        "solved",
        "stalled",
        "iteration_limit",
        "time_limit",
        "precision_limit",
        "stopped",
        "infeasible",
        "unbounded",
    }


@pytest.mark.parametrize("status", Status)
def test_every_status_says_what_to_do(status):
    assert status.advice.endswith(".") and len(status.advice.split()) > 5


def test_only_a_limit_is_worth_raising():
    assert "max_iter" in Status.ITERATION_LIMIT.advice
    assert "max_iter" not in Status.STALLED.advice and "time_limit" not in Status.STALLED.advice


def test_the_public_names_are_there():
    problem = Problem(X, np.where(Y > 0, "b", "a"), loss=Hinge(), constraints=(Box(-1, 1),))
    solution = rl.solve(
        problem,
        solver="auto",
        tol=1e-6,
        max_iter=None,
        time_limit=None,
        warm_start=None,
        callback=None,
        random_state=0,
    )
    for name in ("coef", "intercept", "status", "solver", "n_iter", "seconds", "dual"):
        assert hasattr(solution, name)
    for name in ("primal", "dual", "gap", "relative_gap", "violation"):
        assert isinstance(getattr(solution.certificate, name), float)
    assert problem.with_penalty(L1(1.0)).penalty == L1(1.0)
    assert solution.coef.shape == (5,) and isinstance(solution.intercept, float)


ODD = [10**400, 1j, float("nan"), "3", [1]]


@pytest.mark.parametrize("value", [*ODD, True], ids=lambda one: str(one)[:4])
@pytest.mark.parametrize("name", ["tol", "max_iter", "time_limit", "random_state", "n_threads"])
def test_odd_values_of_arguments_are_named(name, value):
    problem = rl.Problem(np.eye(3), np.ones(3), "absolute", "l2")
    if name == "max_iter" and value == 10**400:
        value = -value  # as many iterations as that are allowed
    with pytest.raises(ValueError, match=rf"^{name}=.{{1,60}}: must "):
        rl.solve(problem, **{name: value})


@pytest.mark.parametrize("value", ODD, ids=lambda one: str(one)[:4])
@pytest.mark.parametrize("solver", sorted(METHODS))
def test_odd_values_of_options_are_named(solver, value):
    problem = rl.Problem(np.eye(3), np.ones(3), "absolute", "l1")
    for field in fields(METHODS[solver]):
        if field.type == "str" and isinstance(value, str):
            continue
        with pytest.raises(ValueError, match=rf"^{field.name}=.{{1,60}}: must "):
            rl.solve(problem, solver, **{field.name: value})


def test_too_many_threads_are_refused():
    with pytest.raises(ValueError, match="n_threads=1000000000000: must be"):
        rl.solve(rl.Problem(np.eye(3), np.ones(3), "absolute", "l2"), n_threads=10**12)
