"""The scale of constraint rows does not matter."""

import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.constraints import ConstraintRows, LinearEquality, LinearInequality
from rectiline.losses import Absolute, SquaredError
from rectiline.penalties import L1, Ridge

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=30)
ROWS = np.array([[1.0, 1.0, 0.0], [0.0, -1.0, 2.0]])


def answer(scale, loss, penalty, equality):
    if equality:
        constraint = LinearEquality(scale * ROWS[:1], [-scale])
    else:
        constraint = LinearInequality(scale * ROWS, [-scale, -scale])
    problem = rl.Problem(X, Y, loss=loss, penalty=penalty, constraints=[constraint])
    return rl.solve(problem, tol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-20, 1e20, 1e155, 1e300])
@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [(SquaredError(), Ridge(0.5)), (Absolute(), L1(0.5)), (Absolute(), None)],
)
def test_rows_of_any_size_give_the_same_answer(scale, equality, loss, penalty):
    expected = answer(1.0, loss, penalty, equality)
    found = answer(scale, loss, penalty, equality)
    assert found.status == "solved"
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    assert found.certificate.relative_violation <= 1e-9


def test_ordinary_rows_are_left_alone():
    constraint = LinearInequality(1e6 * ROWS, [-1e6, -1e-6])
    problem = rl.Problem(X, Y, loss=Absolute(), constraints=[constraint])
    np.testing.assert_array_equal(problem.constraint_rows.A, 1e6 * ROWS)


def test_infeasible_rows_of_any_size_are_proved_so():
    for scale in (1e-200, 1.0, 1e155):
        rows = scale * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
        constraint = LinearInequality(rows, [-scale, -scale])
        problem = rl.Problem(X, Y, loss=Absolute(), constraints=[constraint])
        solution = rl.solve(problem)
        assert solution.status == "infeasible"
        assert solution.infeasibility.proves


def test_sparse_rows_are_scaled():
    rows = sp.csr_array(1e-250 * np.eye(3))
    problem = rl.Problem(X, Y, loss=Absolute(), constraints=[LinearInequality(rows, np.zeros(3))])
    A = problem.constraint_rows.A
    largest = abs(A).max() if sp.issparse(A) else np.abs(A).max()
    assert 1.0 <= largest < 2.0


def test_constants_stay_finite():
    rows = ConstraintRows.make(1, A=np.array([[1e-300]]), c=np.array([1e300]))
    problem = rl.Problem(
        X[:, :1], Y, loss=Absolute(), constraints=[LinearInequality(rows.A, rows.c)]
    )
    assert np.isfinite(problem.constraint_rows.c).all()
    assert rl.solve(problem).status == "solved"
