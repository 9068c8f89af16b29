"""Matrices of products, balances and decompositions ask for the time in pieces, or are refused."""

import numpy as np
import pytest
from solvers.test_time_limits import Counting

import rectiline as rl
from rectiline._costs import SECONDS_PER_PRODUCT
from rectiline._polling import OutOfTime, asked_at_checkpoints
from rectiline.backends import Design
from rectiline.problems import DualPoint
from rectiline.problems.proof._balance import balance_free_columns
from rectiline.solvers.generation._programs import LinearProgram

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("kind", ["gram", "kernel"])
def test_matrices_of_products_are_summed_in_pieces_that_ask(kind):
    shape = (60_000, 30) if kind == "gram" else (30, 60_000)
    design = Design(RNG.normal(size=shape))

    def compute():
        if kind == "gram":
            return design.weighted_gram(np.ones(shape[0]), np.arange(shape[1]), False)
        return design.weighted_kernel(np.ones(shape[1]))

    whole = compute()
    keeper = Counting(10**6)
    with asked_at_checkpoints(keeper):
        np.testing.assert_array_equal(compute(), whole)
    assert keeper.asked >= 10
    with asked_at_checkpoints(Counting(3)), pytest.raises(OutOfTime):
        compute()


def test_matrices_of_products_are_not_begun_without_the_time_for_all_pieces():
    design = Design(RNG.normal(size=(30, 60_000)))
    keeper = Counting(10**6, SECONDS_PER_PRODUCT * 0.25 * 60_000 * 30**2)
    with asked_at_checkpoints(keeper), pytest.raises(OutOfTime):
        design.weighted_kernel(np.ones(60_000))
    assert keeper.asked == 1


def test_more_free_columns_than_rows_are_balanced_by_the_smaller_matrix(monkeypatch):
    # Rank 8 of 12 rows: multipliers that balance all 40 columns exist and are not zero.
    X = RNG.normal(size=(12, 8)) @ RNG.normal(size=(8, 40))
    design = Design(X)
    monkeypatch.setattr(Design, "weighted_gram", None)  # 40 x 40 is not asked for
    wanted = RNG.uniform(-0.5, 0.5, 12)
    columns = np.arange(40)
    low, high = -np.ones(12), np.ones(12)
    found, left = balance_free_columns(design, columns, True, wanted, low, high, np.zeros(41))
    both = np.column_stack([X, np.ones(12)])
    projected = wanted - both @ np.linalg.lstsq(both, wanted, rcond=1e-10)[0]
    assert left < 1e-12 and np.abs(both.T @ found).max() < 1e-10
    assert np.linalg.norm(found) > 0.1 * np.linalg.norm(projected)
    some = np.arange(30)
    found, left = balance_free_columns(design, some, False, wanted, low, high, np.zeros(30))
    assert left < 1e-12 and np.abs(X[:, :30].T @ found).max() < 1e-10


def test_free_columns_are_not_balanced_without_the_time_for_it():
    design = Design(RNG.normal(size=(200, 2000)))
    sample, low, high = np.zeros(200), -np.ones(200), np.ones(200)
    given = design, np.arange(2000), False, sample, low, high, np.ones(2000)
    keeper = Counting(100, seconds=1e-3)  # the products of the rows take about four times as long
    with asked_at_checkpoints(keeper), pytest.raises(OutOfTime):
        balance_free_columns(*given)


def test_unpenalised_wide_problems_are_certified():
    X = RNG.normal(size=(20, 60))
    problem = rl.Problem(X, RNG.normal(size=20), rl.losses.Absolute(), None)
    zero = problem.certify(np.zeros(60), 0.0, DualPoint(np.zeros(20)))
    assert abs(zero.dual) < 1e-10
    assert rl.solve(problem).status == "solved"  # it interpolates


def test_numbers_that_highs_refuses_are_an_arithmetic_error():
    program = LinearProgram()
    nowhere = np.zeros(0, dtype=np.int32)
    columns = program.add_columns(np.ones(1), np.zeros(1), np.ones(1), nowhere, np.zeros((0, 1)))
    with pytest.raises(ArithmeticError, match="HiGHS refuses"):
        program.add_rows(np.zeros(1), np.ones(1), columns, np.array([[1e300]]))


def test_products_of_rows_that_overflow_are_an_arithmetic_error():
    design = Design(1e200 * RNG.normal(size=(3, 5)))
    with np.errstate(over="ignore"), pytest.raises(ArithmeticError, match="too large"):
        _ = design.row_space


def test_newton_refuses_constraint_rows_that_it_would_make_dense():
    X = RNG.normal(size=(5, 8_000))
    problem = rl.Problem(X, RNG.normal(size=5), "absolute", "l2", rl.constraints.Monotone())
    with pytest.raises(rl.UnsupportedProblemError, match="copy of the constraint rows"):
        rl.solve(problem, "newton")


def test_a_decomposition_is_not_begun_that_cannot_be_finished():
    design = Design(RNG.normal(size=(60, 100)))
    with asked_at_checkpoints(Counting(100, seconds=5e-5)), pytest.raises(OutOfTime):
        design.row_space  # about 6e-5 seconds  # noqa: B018
    with asked_at_checkpoints(Counting(100, seconds=1.0)):
        assert design.row_space[0].shape == (60, 60)
