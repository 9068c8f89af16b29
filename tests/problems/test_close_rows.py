"""The compiled closing of a certificate against the one that goes part by part."""

import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.problems import DualPoint, _closed_proof
from rectiline.problems._closed_proof import _closed_at_once, _closed_by_parts, _Pair
from rectiline.problems._rounding import measure_plain, measure_twofold

STORED = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "single": lambda X: np.asarray(X, dtype=np.float32),
}
PENALTIES = [
    rl.penalties.Ridge(0.5),
    rl.penalties.L1(2.0),
    rl.penalties.ElasticNet(1.0, 0.3),
    rl.penalties.L1(1e-3),
]
FREE = [None, rl.penalties.L1(1.0, weights=[0.0, 1.0, 0.0])]


def made(stored, penalty, intercept, constraints=()):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((40, 3)) * (rng.random((40, 3)) < 0.7)
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(40)
    weight = rng.integers(0, 3, 40) + 0.0
    return rl.Problem(
        STORED[stored](X),
        y,
        rl.losses.Pinball(0.3),
        penalty=penalty,
        sample_weight=weight,
        fit_intercept=intercept,
        constraints=constraints,
    )


def both(problem, coef, intercept, point, little, measure):
    pair = _Pair(coef, intercept, point, measure(point), problem.terms.free_columns)
    at_once = _closed_at_once(problem, pair, little)
    return at_once, _closed_by_parts(problem, pair, little)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES + FREE, ids=repr)
@pytest.mark.parametrize("stored", STORED)
def test_both_closings_agree(stored, penalty, intercept):
    if penalty in FREE and stored.startswith("cs"):
        pytest.skip("free columns of sparse X are left to the other")
    problem = made(stored, penalty, intercept)
    solution = rl.solve(problem, tol=1e-9)
    coef, b0, point = solution.coef, solution.intercept, solution.dual
    plain = problem.design.both(coef, point.sample)

    def measure_in_doubles(moved):
        return measure_plain(problem, coef, b0, moved, *plain)

    def measure_in_pairs(moved):
        return measure_twofold(problem, coef, b0, moved)

    for measure in (measure_in_doubles, measure_in_pairs):
        at_once, by_parts = both(problem, coef, b0, point, 0.5, measure)
        assert at_once.share == by_parts.share
        assert at_once.radius == by_parts.radius == np.inf
        assert np.array_equal(at_once.q, by_parts.q)
        np.testing.assert_allclose(at_once.error, by_parts.error, rtol=1e-15)
        assert at_once.rows[:2] == by_parts.rows[:2]
        for place in (0, 1):  # values, upper bounds
            sums = [sum(one[place] for one in rows.rows.terms) for rows in (at_once, by_parts)]
            assert sums[0] == pytest.approx(sums[1], rel=1e-14, abs=0.0)
        assert at_once.rows.at_zero() == by_parts.rows.at_zero()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES + FREE, ids=repr)
@pytest.mark.parametrize("stored", STORED)
def test_small_problems_are_proved_alike(stored, penalty, intercept, monkeypatch):
    problem = made(stored, penalty, intercept)
    rng = np.random.default_rng(9)
    solution = rl.solve(problem, tol=1e-9)
    b0 = solution.intercept
    near = solution.dual.sample + 1e-3 * rng.standard_normal(40), solution.dual.sample
    for sample in (*near, np.zeros(40)):
        for tol in (None, 1e-3, 1e-8, 1e-13, 0.0):
            small = problem.prove(solution.coef, b0, sample, tol)
            with monkeypatch.context() as patch:
                patch.setattr(_closed_proof, "_SMALL", 0)
                general = problem.prove(solution.coef, b0, sample, tol)
            np.testing.assert_allclose(small.dual.sample, general.dual.sample, atol=1e-14)
            primal = general.certificate.primal
            assert small.certificate.primal == pytest.approx(primal, rel=1e-15)
            assert small.certificate.radius == general.certificate.radius
            gap = pytest.approx(general.certificate.gap, rel=1e-6)
            assert small.certificate.gap == gap or small.certificate.gap < 1e-12 * primal


def test_multipliers_far_outside_are_left_to_the_other():
    problem = made("rows", rl.penalties.L1(1e-3), False)
    point = DualPoint(0.5 * problem.dual_boxes[1])
    coef = np.zeros(3)
    plain = problem.design.both(coef, point.sample)
    at_once, by_parts = both(
        problem, coef, 0.0, point, 1e-8, lambda p: measure_plain(problem, coef, 0.0, p, *plain)
    )
    assert at_once is None and by_parts.share < 0.1


def test_a_sum_that_no_row_can_take_is_left_to_the_other():
    problem = made("rows", rl.penalties.Ridge(1.0), True)
    point = DualPoint(problem.dual_boxes[1].copy())  # all at an end: their sum is not zero
    coef = np.zeros(3)
    plain = problem.design.both(coef, point.sample)
    at_once, by_parts = both(
        problem, coef, 0.0, point, 1e-8, lambda p: measure_plain(problem, coef, 0.0, p, *plain)
    )
    assert at_once is None and by_parts.radius < np.inf


def test_constraint_rows_are_left_to_the_other():
    rows = rl.constraints.LinearInequality(np.ones((1, 3)), 1.0)
    problem = made("rows", rl.penalties.Ridge(1.0), True, [rows])
    solution = rl.solve(problem)
    plain = problem.design.both(solution.coef, solution.dual.sample)
    at_once, _ = both(
        problem,
        solution.coef,
        solution.intercept,
        solution.dual,
        0.5,
        lambda p: measure_plain(problem, solution.coef, solution.intercept, p, *plain),
    )
    assert at_once is None
