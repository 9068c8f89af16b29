"""The repairs behind a proof: multipliers into their boxes, coefficients into the constraints."""

import numpy as np
import pytest
from cases import LOSSES
from scipy import sparse

from rectiline import Problem
from rectiline.backends import as_design
from rectiline.constraints import ConstraintRows, LinearEquality, Monotone, Nonnegative
from rectiline.losses import Absolute, Hinge, PiecewiseLQ, SquaredError
from rectiline.penalties import L1
from rectiline.problems._feasibility import move_into_constraints
from rectiline.problems._region import Region
from rectiline.problems.proof._balance import balance_free_columns

RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 4))
Y = X @ RNG.normal(size=4) + RNG.normal(size=60)
WEIGHT = RNG.uniform(0, 2, 60) * (RNG.random(60) < 0.8)
INF = np.inf


def rows_of(loss, weight=None):
    y = np.where(Y > 0.3, 1, -1) if loss.of == "margin" else Y
    return Problem(X, y, loss=loss, sample_weight=weight)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 0.1, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
def test_multipliers_of_an_intercept_sum_to_zero(case, scale):
    for weight in (None, WEIGHT):
        problem = rows_of(case.loss, weight)
        low, high = problem.dual_boxes
        for seed in range(5):
            g = np.clip(scale * np.random.default_rng(seed).normal(size=60), low, high)
            left = problem.rows.balance(g)
            assert (g >= low).all() and (g <= high).all()
            assert abs(g.sum() - left) <= 1e-14 * np.abs(g).sum()
            assert abs(left) <= 1e-13 * np.abs(g).sum()


def test_balanced_multipliers_are_left_alone():
    problem = rows_of(Absolute())
    g = np.tile([0.25, -0.25, 1.0, -1.0], 15)
    kept = g.copy()
    assert problem.rows.balance(g) == 0.0
    np.testing.assert_array_equal(g, kept)


def test_a_small_excess_is_taken_from_the_interior():
    """Multipliers at the ends of their boxes belong to samples away from kinks: they stay."""
    problem = rows_of(Absolute())
    g = np.tile([1.0, -1.0], 30)
    g[:4] = [0.5, -0.5, 0.2, -0.1]
    problem.rows.balance(g)
    np.testing.assert_array_equal(g[4:], np.tile([1.0, -1.0], 28))
    assert abs(g.sum()) <= 1e-15


def test_when_no_balance_exists_the_rest_is_reported():
    """A loss whose slopes are all positive: an intercept lowers it forever."""
    rising = PiecewiseLQ([0.0, 1.0], [(0, 0, 0), (0, 1, 0), (0, 2, -1)], of="prediction")
    problem = Problem(X, Y, loss=rising)
    g = np.full(60, 1.5)
    assert problem.rows.balance(g) == pytest.approx(0.0, abs=1e-15)
    assert (g == 0.0).all()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "store", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
)
def test_free_columns_are_balanced(store, intercept):
    design = as_design(store(X))
    columns = np.array([0, 2])
    Z = np.column_stack([X[:, columns], np.ones(60)]) if intercept else X[:, columns]
    low, high = np.full(60, -1.0), np.full(60, 1.0)
    # an exactly balanced point inside the box, then moved a little
    g = RNG.uniform(-0.8, 0.8, 60)
    g -= Z @ np.linalg.lstsq(Z.T @ Z, Z.T @ g, rcond=None)[0]
    g = np.clip(g + 1e-4 * RNG.normal(size=60), -1, 1)
    target = np.zeros(Z.shape[1])
    moved, left = balance_free_columns(design, columns, intercept, g, low, high, target)
    assert left <= 1e-15
    assert (np.abs(moved) <= 1.0).all()
    np.testing.assert_allclose(Z.T @ moved, target, atol=1e-12)
    assert np.linalg.norm(moved - g) <= 1e-2


def test_free_columns_meet_another_target_with_open_boxes():
    design = as_design(X)
    low, high = np.full(60, -INF), np.full(60, INF)
    target = np.array([1.0, -2.0])
    moved, left = balance_free_columns(
        design, np.array([1, 3]), False, np.zeros(60), low, high, target
    )
    assert left <= 1e-14
    np.testing.assert_allclose(X[:, [1, 3]].T @ moved, target, rtol=1e-12)


@pytest.mark.parametrize("seed", [102, 185, 261, 279])
def test_multipliers_pushed_out_of_their_boxes_stay_at_the_end(seed):
    """Three columns have rows at an end of their boxes alone, which few of them may leave."""
    rng = np.random.default_rng(seed)
    Z, low, high = rng.normal(size=(60, 8)), np.full(60, -1.0), np.zeros(60)
    Z[:30, :3] = 0.0
    g = np.where(np.arange(60) < 30, -0.5 * rng.random(60), 0.0)
    reachable = np.where(g < 0, g, -1e-6 * (rng.random(60) < 0.3))
    moved, left = balance_free_columns(
        as_design(Z), np.arange(8), False, g, low, high, Z.T @ reachable
    )
    assert left <= 1e-15
    assert ((low <= moved) & (moved <= high)).all()


def test_an_unreachable_balance_is_reported():
    design = as_design(np.ones((5, 1)))
    low, high = np.full(5, 1.0), np.full(5, 2.0)  # the sum is at least 5
    _, left = balance_free_columns(
        design, np.array([0]), False, np.full(5, 1.5), low, high, np.zeros(1)
    )
    assert left > 0.1


def test_no_bound_without_a_balance():
    """Weights zero but for one class: slopes of one sign only, so an intercept is unbounded."""
    y = np.where(Y > 0, 1, -1)
    problem = Problem(X, y, loss=Hinge(), sample_weight=(y > 0).astype(float))
    proof = problem.certify(np.zeros(4), 0.0, np.full(60, -1.0))
    assert proof.dual <= 0.0  # the optimum is zero: the intercept puts every weighted sample right


@pytest.mark.parametrize("seed", range(10))
def test_coefficients_move_into_random_constraints(seed):
    rng = np.random.default_rng(seed)
    d, m, k = 6, 5, 2
    inside = rng.uniform(-0.5, 0.5, d)
    A, E = rng.normal(size=(m, d)), rng.normal(size=(k, d))
    c, f = rng.uniform(0, 0.1, m) - A @ inside, -E @ inside
    lower, upper = inside - rng.random(d), inside + rng.random(d)
    outside = inside + 1e-3 * rng.normal(size=d)
    for store in (np.asarray, sparse.csr_array):
        rows = ConstraintRows(store(A), c, store(E), f, lower, upper)
        moved = move_into_constraints(outside, rows, Region(rows).stacked)
        assert (A @ moved + c >= -1e-14).all()
        np.testing.assert_allclose(E @ moved + f, 0.0, atol=1e-13)
        assert ((moved >= lower) & (moved <= upper)).all()
        assert np.linalg.norm(moved - outside) <= 0.1


def test_feasible_coefficients_do_not_move():
    coef = np.array([0.1, 0.2])
    none = np.zeros((0, 2)), np.zeros(0)
    rows = ConstraintRows(np.eye(2), np.zeros(2), *none, np.full(2, -1.0), np.ones(2))
    np.testing.assert_array_equal(move_into_constraints(coef, rows, Region(rows).stacked), coef)


def test_next_to_nothing_in_a_long_monotone_chain_becomes_zero():
    """Certificate files measure violations by small units: 1.3e-12 was too much for one."""
    small = np.repeat([0.0, 1.3e-12, 0.0, 5.6e-12, 0.3], [106, 61, 18, 6, 1])
    limits = [Nonnegative(), Monotone()]
    problem = Problem(np.eye(192), None, "squared_error", None, limits, fit_intercept=False)
    moved = problem.move_into_constraints(small)
    assert problem.violation(moved) == (0.0, 0.0)
    assert np.abs(moved - small).max() < 1e-11


def test_a_violation_that_is_rounding_of_its_row_moves_no_zeros():
    """A step of 1e-11 spread over all columns costs more than an optimum of zero allows."""
    rng = np.random.default_rng(4)
    coef = np.concatenate([1e4 * rng.normal(size=10), np.zeros(40)])
    E = rng.normal(size=(1, 50))
    f = 2e-11 - E @ coef
    open_ends = np.full(50, INF)
    rows = ConstraintRows(np.zeros((0, 50)), np.zeros(0), E, f, -open_ends, open_ends)
    np.testing.assert_array_equal(move_into_constraints(coef, rows, Region(rows).stacked), coef)


def test_squared_error_has_open_boxes():
    low, high = rows_of(SquaredError()).dual_boxes
    assert (low == -INF).all() and (high == INF).all()


def test_boxes_next_to_nothing_are_left_without_a_warning():
    """Products underflow, so that steps have no end; what was there at first is kept."""
    tiny = np.full(60, 1e-160)
    moved, left = balance_free_columns(
        as_design(X), np.array([0]), False, np.zeros(60), -tiny, tiny, np.ones(1)
    )
    assert (np.abs(moved) <= tiny).all()
    assert left == pytest.approx(1.0)


def test_multipliers_next_to_nothing_are_certified_without_a_warning():
    """Columns leave more room than a share can say; one pays nothing."""
    penalty = L1(0.6, weights=[0.0, 1.0, 2.0, 1.0])
    problem = Problem(X * [0, 1, 1, 1], Y, loss=Absolute(), penalty=penalty, fit_intercept=False)
    proof = problem.certify(np.ones(4), 0.0, np.full(60, 1e-310))
    assert 0.0 <= proof.gap <= proof.primal * (1 + 1e-12)


def test_coefficients_without_data_count_a_little_in_violations():
    # Columns that no row uses have no unit of their own: rounding near zero is still rounding.
    equal = LinearEquality([[0.0, 1.0, -1.0]], [0.0])
    problem = Problem([[1.0, 0.0, 0.0]], None, "squared_error", None, constraints=[equal])
    assert problem.violation([1000.0, 1e-14, 0.0])[1] < 1e-12
    assert problem.violation([1000.0, 1.0, 0.0])[1] > 0.1
