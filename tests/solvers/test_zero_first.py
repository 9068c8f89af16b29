"""Zero coefficients are looked at first where they may be good enough."""

from __future__ import annotations

import numpy as np

import rectiline as rl
from rectiline.solvers._choose import zero_may_be_optimal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5000, 5))
FAR = 1e6 + X.sum(axis=1)  # targets so far away that slopes are all the same


def problem(y, strength=1.0, **options):
    return rl.Problem(
        X,
        y,
        rl.losses.Huber(1.0),
        rl.penalties.Ridge(strength),
        sample_weight=np.full(5000, 1 / 5000),
        fit_intercept=False,
        **options,
    )


def test_zero_is_returned_where_it_is_certified():
    solution = rl.solve(problem(FAR))
    assert solution.status == "solved" and not solution.coef.any()
    assert "zero coefficients" in solution.reason and solution.n_iter == 0
    assert solution.certificate.relative_gap <= 1e-6


def test_zero_that_is_not_good_enough_is_no_start():
    one = problem(FAR)
    assert zero_may_be_optimal(one)
    tight, plain = rl.solve(one, tol=1e-13), rl.solve(one, solver="newton", tol=1e-13)
    assert tight.coef.any()
    np.testing.assert_allclose(tight.coef, plain.coef, rtol=1e-5)


def test_ordinary_targets_are_not_looked_at():
    assert not zero_may_be_optimal(problem(X.sum(axis=1)))
    assert not zero_may_be_optimal(problem(FAR, constraints=rl.constraints.Box(lower=1.0)))
    assert not zero_may_be_optimal(
        rl.Problem(X, FAR, rl.losses.Huber(1.0), rl.penalties.Ridge(1.0))
    )


def test_centred_columns_leave_nothing_of_slopes_that_are_all_the_same():
    far = 3e3 + X.sum(axis=1)
    centred, shifted = X - X.mean(axis=0), X + 1.0
    for columns, expected in ((centred, True), (shifted, False)):
        one = rl.Problem(
            columns, far, rl.losses.Huber(1.0), rl.penalties.Ridge(1e-4 / 5000), fit_intercept=False
        )
        assert zero_may_be_optimal(one) is expected
        solution = rl.solve(one)
        assert solution.status == "solved"
        assert solution.coef.any() == (not expected)
