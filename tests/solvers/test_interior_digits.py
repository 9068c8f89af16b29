"""The interior point method in numbers of 32 digits, and what `auto` needs it for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from fuzz_solve import is_proved
from random_problems import random_problem

import rectiline as rl
from rectiline import _core
from rectiline.constraints import Box, LinearEquality, Monotone
from rectiline.penalties import L1, GroupLinf, Slope
from rectiline.solvers._choose import choose, remaining
from rectiline.solvers.interior import Interior


def exact_least_squares(X, y):
    """Return the coefficients in rational arithmetic, by elimination."""
    d = X.shape[1]
    rows = [[Fraction(float(v)) for v in row] for row in X]
    right = [Fraction(float(v)) for v in y]
    system = [
        [sum(r[i] * r[j] for r in rows) for j in range(d)]
        + [sum(r[i] * t for r, t in zip(rows, right, strict=True))]
        for i in range(d)
    ]
    for i in range(d):
        for k in range(d):
            if k != i:
                factor = system[k][i] / system[i][i]
                system[k] = [a - factor * b for a, b in zip(system[k], system[i], strict=True)]
    return np.array([float(system[i][d] / system[i][i]) for i in range(d)])


def test_a_hilbert_matrix_is_no_trouble():
    """The condition of X'X is 1e18: normal equations in doubles have two digits right."""
    X = 1.0 / (np.arange(12)[:, None] + np.arange(7) + 1.0)
    y = np.linspace(1.0, 2.0, 12)
    given = _core.UnitProgram(
        np.arange(12),
        np.array([-y, *np.outer([-np.inf, np.inf, 1.0, 0.0, 1.0], np.ones(12))]),
        np.zeros(7),
        np.zeros(7),
        np.full(7, -1),
        0.0,
        1.0,
        True,
    )
    rows = np.arange(0, 85, 7), np.tile(np.arange(7), 12), X.ravel()
    core = _core.TwofoldInterior(given, *rows, False, 1e-20)
    for _ in range(4):
        core.step(np.inf, False)
    wanted = exact_least_squares(X, y)
    np.testing.assert_allclose(core.point()[0], wanted, rtol=1e-9)
    plain = np.linalg.solve(X.T @ X, X.T @ y)
    assert np.abs(plain - wanted).max() > 1e-3 * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("seed", "case"), [(20261116, 32), (20261116, 817), (5, 236), (1001, 86), (80105, 2989)]
)
def test_orders_of_badly_scaled_columns(seed, case):
    """These ended with relative gaps of 1e-4 to 1.0; Clarabel solves two of them.

    The proof is checked in rational arithmetic, which needs no other solver.
    """
    given = random_problem(seed, case)
    answer = rl.solve(given.problem(), solver="interior", digits=32)
    assert answer.status == "solved"
    assert answer.certificate.relative_violation <= 1e-12
    assert is_proved(given, answer)


def test_a_sorted_penalty_of_225_columns_is_not_too_large():
    """16 digits end at a relative gap of 1e-5, and 32 take a second."""
    problem = random_problem(31415, 987).problem()
    assert rl.solve(problem, solver="interior", digits=32).status == "solved"


def test_chains_of_badly_scaled_columns_take_few_steps():
    """Their multipliers are 1e3 and more: from rooms of 10 it stalled with 40 steps still to go."""
    problem = random_problem(8811, 1108).problem()
    answer = rl.solve(problem, solver="interior", digits=32)
    assert answer.status == "solved" and answer.n_iter <= 60


def test_auto_turns_to_it():
    given = random_problem(1001, 86).problem()
    methods = [stage.method for stage in choose(given)]
    assert methods.index(Interior(digits=32)) == methods.index(Interior(digits=16)) + 1
    wide = rl.Problem(np.eye(3, 4000), [1.0, 2.0, 3.0], "absolute", rl.penalties.ElasticNet(1, 1))
    assert remaining(choose(wide))[0].method == Interior(digits=32)
    assert rl.solve(given).status == "solved"


@pytest.mark.parametrize(
    "penalty",
    [None, L1(0.3), GroupLinf(0.3, [0, 0, 1, 1, 2]), Slope([0.5, 0.4, 0.3, 0.2, 0.1])],
    ids=repr,
)
@pytest.mark.parametrize("loss", ["hinge", "huber", "absolute", "squared_hinge"])
def test_fixed_columns_weights_and_signs(loss, penalty):
    """The program is the same as that of the other methods, whatever its parts."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 5))
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    weight = rng.uniform(0.0, 2.0, 30) * (rng.random(30) < 0.8)
    constraints = [
        Monotone(),
        Box([-1.0, 0.2, -np.inf, -np.inf, -np.inf], [1.0, 0.2, 2.0, np.inf, np.inf]),
        LinearEquality(np.ones(5), -1.5),
    ]
    problem = rl.Problem(
        X, y, loss, penalty, constraints=constraints, sample_weight=weight, fit_intercept=True
    )
    ours = rl.solve(problem, solver="interior", digits=32, tol=1e-9)
    other = rl.solve(problem, solver="interior", tol=1e-9)
    assert ours.status == other.status == "solved"
    np.testing.assert_allclose(ours.objective, other.objective, rtol=3e-9)
    assert ours.coef[1] == pytest.approx(0.2, abs=1e-12)


def test_problems_that_are_too_large_are_refused():
    problem = rl.Problem(np.ones((300, 600)), np.ones(300), "absolute", L1(1.0))
    with pytest.raises(rl.exceptions.UnsupportedProblemError, match="products"):
        rl.solve(problem, solver="interior", digits=32)


def test_it_stops_in_time():
    rng = np.random.default_rng(0)
    problem = rl.Problem(rng.normal(size=(300, 250)), rng.normal(size=300), "absolute", L1(1.0))
    with pytest.raises(rl.NoAnswerError, match=r"time_limit=0.001: the time was up"):
        rl.solve(problem, solver="interior", digits=32, time_limit=1e-3)


@pytest.mark.parametrize("name", ["small_interior", "twofold"])
def test_names_of_before_say_what_to_use(name):
    problem = rl.Problem(np.eye(3), np.ones(3), "absolute", L1(1.0))
    with pytest.raises(ValueError, match="use 'interior'"):
        rl.solve(problem, solver=name)
    with pytest.raises(ValueError, match="digits=20"):
        rl.solve(problem, solver="interior", digits=20)
