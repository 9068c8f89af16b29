"""The states behind the polish: on which knot or piece of its loss each sample sits."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.losses import Absolute, Huber, Pinball, SquaredHinge
from rectiline.solvers._base import Pair
from rectiline.solvers._polish import optimality_step

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])


def test_samples_on_knots_keep_their_multipliers_and_others_take_the_slope_of_their_piece():
    y = np.array([1.0, 3.0, 3.0, 2.0, 9.0])
    weight = np.array([1.0, 2.0, 1.0, 0.0, 1.0])
    problem = rl.Problem(X, y, Pinball(0.25), sample_weight=weight, fit_intercept=False)
    z = X.ravel()  # residuals 0, 1, 0, -2, 4; the fourth sample has no weight
    given = np.array([-0.1, -0.4, 0.3, 0.0, -0.2])
    g, bend, target, held = problem.rows.states(z, given, 5)
    np.testing.assert_array_equal(held, [True, False, True, False, False])
    np.testing.assert_allclose(g, [-0.1, -0.5, 0.3, 0.0, -0.25])
    np.testing.assert_array_equal(target[held], y[held])
    assert not bend.any()


def test_the_surest_knots_stay_where_there_are_too_many():
    problem = rl.Problem(X, np.array([1.0, 2.0, 3.0, 9.0, -9.0]), Absolute())
    z, given = X.ravel(), np.array([0.9, 0.0, -0.8, -1.0, 1.0])
    for most, rows in ((3, [0, 1, 2]), (2, [1, 2]), (1, [1]), (0, [])):
        held = problem.rows.states(z, given, most)[3]
        np.testing.assert_array_equal(np.flatnonzero(held), rows)


def test_curved_pieces_follow_the_prediction():
    y = np.array([1.5, 2.0, 3.0, 8.0, 4.5])
    weight = np.array([1.0, 1.0, 1.0, 3.0, 2.0])
    problem = rl.Problem(X, y, Huber(1.0), sample_weight=weight)
    g, bend, _, held = problem.rows.states(X.ravel(), np.array([-0.5, 0, 0, -3.0, 1.0]), 2)
    assert not held.any()
    np.testing.assert_allclose(g, [-0.5, 0.0, 0.0, -3.0, 1.0])
    np.testing.assert_allclose(bend, [1.0, 1.0, 1.0, 0.0, 2.0])


@pytest.mark.parametrize("loss", [Pinball(0.3), Huber(0.5), SquaredHinge()])
def test_one_step_from_a_close_pair_is_exact(loss):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=60)
    y = np.sign(y) if loss.of == "margin" else y
    problem = rl.Problem(X, y, loss)
    close = rl.solve(problem, tol=1e-7)
    assert close.certificate.relative_gap > 0.0
    moved = optimality_step(problem, Pair(close.coef, close.intercept, close.dual))
    certificate = problem.certify(moved.coef, moved.intercept, moved.dual)
    assert certificate.relative_gap <= 1e-13
