"""Problems with a linear term: a proved direction, or an optimum."""

from __future__ import annotations

import numpy as np
import pytest
from random_problems import random_problem

import rectiline as rl
from rectiline.constraints import Box, LinearInequality
from rectiline.exceptions import NoAnswerError
from rectiline.penalties import L1, GroupLinf, Ridge, Slope

_rng = np.random.default_rng(8)
X = _rng.normal(size=(20, 3))
Y = X @ [1.0, 2.0, 3.0]


def solve(**given):
    return rl.solve(rl.Problem(X, Y, loss="absolute", fit_intercept=False, **given))


@pytest.mark.parametrize("penalty", [None, L1(1.0)], ids=repr)
@pytest.mark.parametrize("constraints", [(), [LinearInequality([[0.0, 1.0, 0.0]], 1.0)]])
def test_a_term_that_outweighs_the_losses_has_no_optimum(penalty, constraints):
    linear = np.array([200.0, 0.0, 0.0])
    answer = solve(penalty=penalty, constraints=constraints, linear=linear)
    assert answer.status == "unbounded" and "direction" in answer.status.advice
    # Far along the direction the objective falls at a constant rate, whoever adds it up.
    d = answer.direction

    def objective(b):
        charge = 0.0 if penalty is None else np.abs(b).sum()
        return np.abs(Y - X @ b).sum() + linear @ b + charge

    far = [objective(step * d) for step in (1e3, 1e4, 1e5)]
    assert far[2] < far[1] < far[0] < objective(np.zeros(3))
    for constraint in constraints:
        assert (constraint.rows(3).A @ d >= 0).all()


@pytest.mark.parametrize(
    "given",
    [
        {"penalty": None, "linear": [0.1, 0.0, 0.0]},
        {"penalty": Ridge(1.0), "linear": [200.0, 0.0, 0.0]},
        {"penalty": L1(300.0), "linear": [200.0, 0.0, 0.0]},
        {"penalty": None, "linear": [200.0, 0.0, 0.0], "constraints": [Box(-5.0, 5.0)]},
    ],
    ids=["weak", "ridge", "l1", "box"],
)
def test_other_terms_have_one(given):
    answer = solve(**given)
    assert answer.status == "solved" and answer.direction is None


@pytest.mark.parametrize(
    "loss, penalty",
    [
        ("squared_error", GroupLinf(0.01, [0, 0, 1, 1, 2, 2])),
        ("squared_error", Slope([0.02, 0.01, 0.01, 0.0, 0.0, 0.0])),
        ("expectile", None),
        ("squared_hinge", L1(0.01)),
    ],
    ids=repr,
)
def test_directions_that_curved_losses_leave_open(loss, penalty):
    """More columns than rows: a loss that grows without bound does not stop the fall."""
    rows = _rng.normal(size=(4, 6)) * [1e-2, 1.0, 1e2, 1.0, 1.0, 1e-2]
    y = np.array([1.0, -1.0, 1.0, -1.0])
    linear = _rng.normal(size=6)
    problem = rl.Problem(rows, y, loss, penalty, fit_intercept=False, linear=linear)
    answer = rl.solve(problem)
    assert answer.status == "unbounded"
    d = answer.direction
    charge = 0.0 if penalty is None else penalty.value(d)
    z = y * (rows @ d) if loss == "squared_hinge" else -np.abs(rows @ d)
    assert (z >= -1e-10 * (np.abs(rows) @ np.abs(d))).all()
    assert linear @ d + charge < 0


def test_losses_are_no_scale_for_an_optimum_of_zero_beside_a_linear_term():
    """A poor pair was called solved: its gap is small against a loss of large numbers, squared."""
    rng = np.random.default_rng(486)
    rows = rng.normal(size=(40, 4))
    y = rows @ [3.0, 0.0, 0.0, 1.0] + rng.normal(size=40)
    linear = 1e3 * rng.normal(size=4)
    problem = rl.Problem(rows, y, "squared_error", L1(1.0), fit_intercept=False, linear=linear)
    poor = problem.certify(np.array([1.0, 0.0, 0.0, 0.0]))
    assert poor.gap > 1.0 and not poor.holds(1e-6)


def test_an_optimum_far_from_zero_is_one():
    """min x^2 / 2 - t over t <= 1000 x: x = 1000, t = 1e6 by hand."""
    problem = rl.Problem(
        np.array([[0.0, 1.0]]),
        None,
        "squared_error",
        linear=[-1.0, 0.0],
        constraints=[Box([0.0, -np.inf], np.inf), LinearInequality([[-1.0, 1000.0]], 0.0)],
    )
    answer = rl.solve(problem)
    assert answer.status == "solved"
    np.testing.assert_allclose(answer.coef, [1e6, 1e3], rtol=1e-3)
    np.testing.assert_allclose(answer.objective, -5e5, rtol=1e-6)


def test_a_linear_term_of_zeros_adds_nothing():
    """min (x - y)^2 over x + y = 1: an optimum of zero, which a row of zeros hid."""
    budget = rl.constraints.LinearConstraint([1.0, 1.0], 1.0, 1.0)
    problem = rl.Problem(
        [[1.0, -1.0]], None, "squared_error", linear=np.zeros(2), constraints=budget
    )
    assert problem.n_samples == 1
    answer = rl.solve(problem)
    assert answer.status == "solved"
    np.testing.assert_allclose(answer.coef, 0.5)


def test_rows_with_one_infinite_slope_pay_the_other_way():
    """A row that may only fall has a price for falling, which decides between two directions."""
    loss = rl.losses.PiecewiseLQ([0.0], [(0.0, -2.0, 0.0), (0.5, 0.0, 0.0)])
    rows = np.array([[1.0, 1.0], [1.0, -1.0]])

    def solved(linear):
        problem = rl.Problem(rows, [1.0, 2.0], loss, None, fit_intercept=False, linear=linear)
        return rl.solve(problem)

    # Far away z > 0 costs 2 z and z < 0 costs z^2/2, so that only z >= 0 can fall.
    assert solved([-3.0, 0.0]).status == "solved"
    answer = solved([-5.0, 0.0])
    assert answer.status == "unbounded"
    z = rows @ answer.direction
    assert (z >= -1e-12).all()
    assert 2.0 * z.sum() - 5.0 * answer.direction[0] < 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("time_limit", [0.002, 0.01, 0.03])
def test_a_direction_found_before_a_first_answer_comes_with_coefficients(time_limit):
    problem = random_problem(4711, 561).problem()
    try:
        answer = rl.solve(problem, time_limit=time_limit)
    except NoAnswerError:
        return
    assert np.isfinite(answer.coef).all()
    if answer.status == "unbounded":
        assert problem.violation(answer.coef)[1] <= 1e-9


def test_directions_keep_long_monotone_chains_on_badly_scaled_columns():
    """Entries of a chain that are equal differ by 1e7 in units of the columns, and all count."""
    answer = rl.solve(random_problem(9912, 30).problem())
    assert answer.status == "unbounded"
    assert (np.diff(answer.direction) >= -1e-11 * np.abs(answer.direction).max()).all()


def test_directions_meet_bounds_exactly_where_a_penalty_couples_columns():
    """There bounds are rows, and an entry 1e-19 beyond a bound of zero breaks its row entirely."""
    problem = random_problem(300777, 489).problem()
    answer = rl.solve(problem)
    assert answer.status == "unbounded"
    bounds = problem.terms.given.rows
    assert (answer.direction[np.isfinite(bounds.lower)] >= 0).all()
    assert (answer.direction[np.isfinite(bounds.upper)] <= 0).all()
