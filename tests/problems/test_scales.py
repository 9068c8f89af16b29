"""Units that problems count in, which compiled code works out, against NumPy."""

import dataclasses

import fuzz_verify
import numpy as np
import pytest
from random_problems import random_problem

import rectiline as rl
from rectiline.constraints import LinearInequality
from rectiline.problems._terms import Columns


def upper_median(values):
    return np.sort(values)[values.size // 2]


@pytest.mark.parametrize("n", [1, 2, 7, 50])
@pytest.mark.parametrize("intercept", [True, False])
def test_argument_scale_is_the_median_deviation_of_rows_that_count(n, intercept):
    rng = np.random.default_rng(n)
    y, weight = 5.0 + rng.standard_normal(n), rng.integers(0, 2, n) + 0.0
    weight[0] = 1.0
    problem = rl.Problem(
        np.ones((n, 1)), y, "absolute", sample_weight=weight, fit_intercept=intercept
    )
    counted = y[weight > 0]
    distance = np.abs(counted - (upper_median(counted) if intercept else 0.0))
    assert problem.argument_scale == (upper_median(distance) or distance.mean() or 1.0)


def test_argument_scale_of_mostly_equal_targets_is_a_mean():
    y = np.array([2.0, 2.0, 2.0, 6.0])
    assert rl.Problem(np.ones((4, 1)), y, "absolute").argument_scale == 1.0
    assert rl.Problem(np.ones((4, 1)), np.full(4, 2.0), "absolute").argument_scale == 1.0


def test_dual_boxes_are_weighted_ranges_of_slopes():
    losses = [rl.losses.Pinball(0.3), rl.losses.Huber(2.0), rl.losses.SquaredError()]
    index, weight = np.array([0, 1, 2, 0, 2]), np.array([1.0, 2.0, 3.0, 0.0, 0.0])
    problem = rl.Problem(
        np.ones((5, 1)), np.zeros(5), losses, loss_index=index, sample_weight=weight
    )
    low, high = problem.dual_boxes
    far = [losses[k].derivative(0.0, [-1e30, 1e30], weight[i]) for i, k in enumerate(index)]
    for i, (left, right) in enumerate(far):
        unbounded = index[i] == 2 and weight[i] > 0
        assert low[i] == (-np.inf if unbounded else left[0])
        assert high[i] == (np.inf if unbounded else right[1])


@pytest.mark.parametrize("intercept", [True, False])
def test_column_units_centre_and_scale(intercept):
    rng = np.random.default_rng(3)
    # The last but one is nothing, the last has a mean that dwarfs its spread.
    X = np.column_stack([3.0 + rng.standard_normal((40, 3)), np.zeros(40), np.full(40, 1e9)])
    X[0, -1] += 1e-3
    weight = rng.random(40) + 0.1
    problem = rl.Problem(
        X, rng.standard_normal(40), "absolute", sample_weight=weight, fit_intercept=intercept
    )
    centre, unit = problem.data.column_units(intercept)
    mean = np.average(X, axis=0, weights=weight)
    if intercept:
        assert np.allclose(centre[:3], mean[:3], rtol=1e-12) and not centre[3:].any()
    else:
        assert centre is None
    about = mean * np.array([1, 1, 1, 0, 0]) * intercept
    root = np.sqrt(np.average((X - about) ** 2, axis=0, weights=weight))
    assert np.allclose(unit, 1.0 / np.where(root == 0, 1.0, root), rtol=1e-9)


def test_mean_row_square_is_a_mean_over_rows():
    X = np.random.default_rng(0).standard_normal((3001, 4)).astype(np.float32)
    scale = np.array([1.0, 0.5, 0.0, 2.0])
    design = rl.Problem(X, np.zeros(3001), "absolute").design
    expected = (X.astype(float) ** 2 @ scale).mean()
    assert design.mean_row_square(scale) == pytest.approx(expected, rel=1e-12)


def test_kinds_of_columns():
    inf = np.inf
    rows = [  # rho, l1, lower, upper
        ((1.0, 1.0), (0.0, 0.0), (-inf, -inf), (inf, inf), (True, False, False)),
        ((1.0, 0.0), (0.0, 2.0), (-inf, -inf), (inf, inf), (False, True, False)),
        ((0.0, 0.0), (0.0, 2.0), (-inf, 0.0), (inf, inf), (False, True, True)),
        ((0.0, 1.0), (0.0, 0.0), (-inf, -inf), (3.0, inf), (False, False, True)),
    ]
    for *arrays, kinds in rows:
        columns = Columns(*(np.array(one) for one in arrays))
        assert (columns.strongly_convex, columns.has_l1, columns.has_bounds) == kinds
        rho, l1, lower, upper = map(np.array, arrays)
        low, high = columns.dual_range
        assert np.array_equal(low, np.where((rho == 0) & (lower == -inf), -l1, -inf))
        assert np.array_equal(high, np.where((rho == 0) & (upper == inf), l1, inf))


def test_violations_are_measured_against_the_terms_of_their_row():
    """As the checker of files does: coefficients of other columns are a million times larger."""
    proved = fuzz_verify.solved(random_problem(80121, 2112))
    assert fuzz_verify.check_true(proved).startswith("true")
    rows = [LinearInequality([1.0, -1.0, 0.0], 0.0)]
    problem = rl.Problem(np.eye(3), np.ones(3), "absolute", None, rows)
    coef = np.array([1.0, 1.0 + 1e-6, 1e6])
    assert 1e-7 < problem.violation(coef)[1] < 1e-6
    assert problem.violation(coef, roughly=True)[1] < 1e-12


@pytest.mark.parametrize("with_constraint", [False, True])
def test_multipliers_near_the_best_ones_prove_an_answer_in_any_units(with_constraint):
    """A tiny error of multipliers is a large one of q beside the ridge of a column in large units.

    Samples on the kink make up for it.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) * [1e6, 1.0, 0.1, 1e5]
    y = np.sign(X @ [1e-6, 1.0, 0.0, 1e-5] + 0.5 * rng.standard_normal(300))
    constraints = [rl.constraints.LinearInequality([[0.0, -1.0, 0.0, 0.0]], [0.5])]
    problem = rl.Problem(
        X,
        y,
        "hinge",
        rl.penalties.Ridge(1.0),
        constraints if with_constraint else (),
        sample_weight=np.full(300, 5.0),
    )
    found = rl.solve(problem, tol=1e-10)
    low, high = problem.dual_boxes
    sample = found.dual.sample
    on_kink = (sample > low + 1e-3) & (sample < high - 1e-3)
    error = np.where(on_kink, 1e-5 * rng.standard_normal(300), 0.0)
    near = dataclasses.replace(found.dual, sample=sample + error)
    assert problem.certify(found.coef, found.intercept, near).relative_gap > 1e-3
    proof = problem.prove(found.coef, found.intercept, near, tol=1e-9)
    assert proof.certificate.relative_gap <= 1e-9
