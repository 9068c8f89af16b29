"""Following losses with kinks: predictions and working sets of rows."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.paths import path
from rectiline.penalties import ElasticNet, Ridge
from rectiline.solvers import KinkedFollower
from rectiline.solvers.newton._model import WorkingSet

RNG = np.random.default_rng(8)
N, D = 4000, 6
X = RNG.normal(size=(N, D)) * [1, 3, 0.1, 1, 1, 2] + [0, 5, 0, 0, 1, 0]
SCORE = X[:, 0] - 2 * X[:, 2] + 0.2 * X[:, 1]
Y = SCORE + RNG.standard_t(3, N)
LABELS = np.where(SCORE + RNG.normal(size=N) > 1.0, 1, -1)
GRID = np.geomspace(1e4, 1e-2, 16)
LOSSES = [rl.losses.Hinge(), rl.losses.Pinball(0.2), rl.losses.EpsilonInsensitive(0.5)]


def problem(loss, penalty=None, data=X, **more):
    return rl.Problem(
        data, LABELS if loss.of == "margin" else Y, loss, penalty or Ridge(1.0), **more
    )


def check(found, one, tol=1e-6):
    assert found.relative_gaps.max() <= tol
    for strength, point in list(zip(found.strengths, found, strict=True))[::5]:
        alone = one.with_penalty(one.penalty.with_strength(float(strength)))
        exact = rl.solve(alone, solver="interior", tol=1e-9)
        assert point.objective <= exact.objective * (1 + 1.01 * tol)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_most_strengths_take_one_small_problem(loss, monkeypatch):
    sizes = []

    def counted(*arguments):
        working = _freeze(*arguments)
        sizes.append(N if working is None else working.rows.n)
        return working

    _freeze = WorkingSet.split
    monkeypatch.setattr(WorkingSet, "split", counted)
    one = problem(loss)
    found = path(one, GRID)
    check(found, one)
    assert all("continued" in point.reason for point in found)
    # The first two strengths have nothing to predict from.
    assert len(GRID) - 2 <= len(sizes) <= len(GRID) + 2
    assert np.median(sizes) < N / 8
    assert sum(point.n_iter for point in found) < 20 * len(GRID)


@pytest.mark.parametrize("penalty", [Ridge(1.0), ElasticNet(0.5, 0.5)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_strengths_far_apart_and_close_together(loss, penalty):
    """Predictions are wrong then; working sets are made anew, or `solve` steps in."""
    one = problem(loss, penalty)
    grid = np.array([3e3, 2.999e3, 2.0, 2.0, 1.9, 1e-2, 0.999e-2])
    check(path(one, grid), one)


def test_samples_without_weight_decide_nothing():
    weight = np.where(np.arange(N) % 5 == 0, 0.0, 1.0 + np.arange(N) % 3)
    other = X.copy()
    other[weight == 0] = 100.0 * RNG.normal(size=(np.sum(weight == 0), D))
    for loss in LOSSES:
        one, two = (
            path(problem(loss, data=data, sample_weight=weight), GRID) for data in (X, other)
        )
        # Equal up to rounding: other steps would end elsewhere within the gap of 1e-6.
        np.testing.assert_allclose(one.coefs, two.coefs, rtol=1e-8, atol=1e-11)


def test_equal_bits_for_any_number_of_threads():
    data = np.tile(X, (20, 1))
    labels = np.tile(LABELS, 20) * np.where(RNG.random(20 * N) < 0.1, -1, 1)
    one = rl.Problem(data, labels, rl.losses.Hinge(), Ridge(1.0))
    runs = [path(one, GRID[::4], n_threads=count) for count in (1, 2, 3, 1)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.coefs, runs[0].coefs)
        np.testing.assert_array_equal(run.intercepts, runs[0].intercepts)


def test_separable_classes():
    """All weak penalties have the coefficients of the widest margin, and no loss is left."""
    apart = np.abs(SCORE - 1.0) > 0.5
    labels = np.sign(SCORE[apart] - 1.0)
    one = rl.Problem(X[apart], labels, rl.losses.Hinge(), Ridge(1.0))
    check(path(one, np.geomspace(1e3, 1e-6, 12)), one)


@pytest.mark.parametrize("loss", [rl.losses.EpsilonInsensitive(0.5), rl.losses.Absolute()])
def test_coefficients_that_do_not_move(loss):
    """Targets without errors: the same model, without coefficients, at every strength."""
    one = rl.Problem(X, np.full(N, 2.0), loss, Ridge(1.0))
    found = path(one, np.append(GRID, GRID[-1] * (1 - 1e-16)))
    assert all(point.status == "solved" for point in found)
    np.testing.assert_allclose(found.coefs, 0.0, atol=1e-12)


def test_a_target_out_of_reach_gives_no_candidate():
    follower = KinkedFollower(problem(rl.losses.Hinge()), 1e-30)
    follower.place(np.zeros(D), 0.0, rl.problems.DualPoint(np.zeros(N)))
    assert follower.move(100.0, seconds=60.0) is None


@pytest.mark.parametrize("seed", [0, 1])
def test_predictions_that_do_not_move_at_all(seed):
    rng = np.random.default_rng(seed)
    X = 1e-260 * rng.normal(size=(13, 2))
    y = np.where(rng.random(13) < 0.5, 0.0, rng.normal(size=13))
    found = path(rl.Problem(X, y, "absolute", rl.penalties.Ridge(1.0)), n_strengths=5)
    assert found.relative_gaps.max() <= 1e-6
