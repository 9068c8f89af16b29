"""Following a path: candidates are certified like all answers, and `solve` steps in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.constraints import Box, LinearInequality
from rectiline.paths import default_strengths, path
from rectiline.paths._largest import null_model
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.solvers import KinkedFollower, NewtonFollower

RNG = np.random.default_rng(5)
X = RNG.normal(size=(240, 7)) * [1, 3, 0.1, 1, 1, 2, 1] + [0, 5, 0, 0, 1, 0, 0]
SCORE = X[:, 0] - 2 * X[:, 2] + 0.2 * X[:, 1]
Y = SCORE + RNG.standard_t(3, 240)
LABELS = np.where(SCORE + RNG.normal(size=240) > 1.0, 1, -1)
WIDE = RNG.standard_normal((40, 90)) * np.exp(RNG.uniform(-2, 2, 90)) + 0.5
FOLLOWED = "continued from the strength before"

LOSSES = [
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.Pinball(0.3),
    rl.losses.Huber(),
    rl.losses.SquaredError(),
    rl.losses.EpsilonInsensitive(0.5),
]
PENALTIES = [Ridge(1.0), L1(1.0), ElasticNet(0.3, 0.7)]


def problem(loss, penalty, data=X, **more):
    y = (LABELS if loss.of == "margin" else Y)[: data.shape[0]]
    return rl.Problem(data, y, loss, penalty, **more)


def followed(point):
    return FOLLOWED in point.reason


def check(found, one, tol):
    """Every point is certified, and none is worse than another solver's by more than the gap."""
    assert found.relative_gaps.max() <= tol
    for strength, point in zip(found.strengths, found, strict=True):
        alone = one.with_penalty(one.penalty.with_strength(float(strength)))
        assert alone.certify(point).relative_gap <= 1.01 * tol
        assert point.objective == pytest.approx(alone.objective(point.coef, point.intercept))
        cold = rl.solve(alone, solver="interior", tol=1e-8)
        assert point.objective <= cold.objective * (1 + 1.01 * tol) + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_answers_are_those_of_single_solves(loss, penalty, tol):
    weight = np.random.default_rng(1).integers(0, 3, 240).astype(float)
    one = problem(loss, penalty, sample_weight=weight)
    found = path(one, n_strengths=7, tol=tol)
    assert len(found) == 7
    assert tol < 1e-4 or sum(map(followed, found)) >= 5
    check(found, one, tol)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_more_columns_than_rows_are_followed_in_the_span_of_the_rows(loss, fit_intercept):
    weight = np.where(np.arange(40) % 7 == 0, 0.0, 1.0 + np.arange(40) % 3)
    one = problem(loss, Ridge(1.0), WIDE, sample_weight=weight, fit_intercept=fit_intercept)
    found = path(one, [100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1], tol=1e-6)
    check(found, one, 1e-6)
    # The first ones have no neighbour to start from, and may be left to other solvers.
    assert all(point.solver == "reduced_newton" for point in found.solutions[3:])


def test_rows_that_depend_on_one_another():
    data = np.vstack([WIDE[:10], WIDE[:10], np.zeros((3, 90))])
    one = problem(rl.losses.Hinge(), Ridge(1.0), data)
    check(path(one, [10.0, 1.0, 0.1]), one, 1e-6)
    nothing = problem(rl.losses.Hinge(), Ridge(1.0), np.zeros((4, 9)))
    check(path(nothing, [10.0, 1.0]), nothing, 1e-6)


@pytest.mark.parametrize("data", [WIDE, X[:120]], ids=["wide", "tall"])
@pytest.mark.parametrize(
    "loss", [rl.losses.Hinge(), rl.losses.Absolute(), rl.losses.Pinball(0.8)], ids=repr
)
def test_linear_programs(loss, data):
    one = problem(loss, L1(1.0), data)
    check(path(one, n_strengths=9, ratio=1e-2, tol=1e-8), one, 1e-8)


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        sp.csr_array,
        sp.csc_array,
        lambda data: data.astype(np.float32),
        lambda data: np.repeat(data, 2, axis=1)[:, ::2],
    ],
    ids=["fortran", "csr", "csc", "float32", "strided"],
)
def test_any_storage_of_x(make):
    for tol in (1e-3, 1e-6):
        found = path(problem(rl.losses.Hinge(), Ridge(1.0), make(X)), n_strengths=5, tol=tol)
        assert all(map(followed, found)) and found.relative_gaps.max() <= tol


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_intercept(loss):
    found = path(problem(loss, Ridge(1.0), fit_intercept=False), n_strengths=6)
    assert found.relative_gaps.max() <= 1e-6 and any(map(followed, found))


def test_what_is_not_followed():
    for constraint in (LinearInequality(np.ones((1, 7)), [1.0]), Box(-0.5, 0.5)):
        bound = problem(rl.losses.Huber(), Ridge(1.0), constraints=constraint)
        assert not NewtonFollower.accepts(bound, 1e-3) and not KinkedFollower.accepts(bound, 1e-6)
        assert path(bound, n_strengths=4).relative_gaps.max() <= 1e-6
    assert not NewtonFollower.accepts(problem(rl.losses.Pinball(0.5), L1(1.0)), 1e-9)
    for options in ({"solver": "rehline"}, {"max_iter": 1000}):
        found = path(problem(rl.losses.Hinge(), Ridge(1.0)), [3.0, 2.0], tol=1e-3, **options)
        assert not any(map(followed, found))
    with pytest.raises(TypeError, match="colour"):
        path(problem(rl.losses.Hinge(), Ridge(1.0)), [3.0, 2.0], colour="blue")
    with pytest.raises(ValueError, match="tol"):
        path(problem(rl.losses.Hinge(), Ridge(1.0)), [3.0, 2.0], tol=2.0)


@pytest.mark.parametrize("lost", [{0}, {3, 4}, {2, 5, 9}, set(range(12))], ids=str)
@pytest.mark.parametrize("kind", ["lost", "wrong"])
def test_solve_steps_in(monkeypatch, kind, lost):
    """Some candidates are missing, or so wrong that they are refused."""
    move, moves = KinkedFollower.move, []

    def poor(self, strength, seconds):
        moves.append(strength)
        found = move(self, strength, seconds)
        if len(moves) - 1 not in lost or found is None:
            return found
        return None if kind == "lost" else replace(found, coef=found.coef + 1.0)

    monkeypatch.setattr(KinkedFollower, "move", poor)
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    found = path(one, np.geomspace(1e4, 1e-2, 12))
    assert found.relative_gaps.max() <= 1e-6
    np.testing.assert_array_equal(found.strengths, np.geomspace(1e4, 1e-2, 12))
    if len(lost) < 12:
        assert [not followed(point) for point in found].count(True) >= len(lost)
        assert any(map(followed, found))
    else:
        assert not any(map(followed, found)) and len(moves) < 12  # it was given up


def test_a_callback_hears_of_every_answer_once():
    heard = []
    found = path(problem(rl.losses.Huber(), Ridge(1.0)), n_strengths=6, callback=heard.append)
    assert len(heard) >= 6
    for point in found:
        assert sum(one.certificate is point.certificate for one in heard) == 1


def test_strengths_that_a_limit_leaves_no_time_for_are_left_out():
    one = problem(rl.losses.Huber(), Ridge(1.0))
    assert len(path(one, n_strengths=20, time_limit=600.0)) == 20
    with pytest.raises(rl.NoAnswerError, match="time_limit"):
        path(problem(rl.losses.Hinge(), L1(1.0)), np.geomspace(1.0, 0.1, 20), time_limit=1e-9)


@pytest.mark.parametrize(
    "loss",
    [rl.losses.Hinge(), rl.losses.SquaredHinge(), rl.losses.SmoothedHinge()],
    ids=repr,
)
@pytest.mark.parametrize("share", [0.5, 0.3, 0.02, 0.0])  # 0: one class has no weight
def test_the_null_model_of_two_classes_is_best_without_coefficients(loss, share):
    rng = np.random.default_rng(6)
    y = np.where(np.arange(200) < max(200 * share, 4), 1, -1)
    weight = rng.integers(0, 3, 200).astype(float)
    weight[:4] = 0.0 if share == 0 else 1.0
    # So strong that coefficients do not matter: what is proved is about the intercept.
    one = rl.Problem(rng.normal(size=(200, 2)), y, loss, Ridge(1e12), sample_weight=weight)
    null = null_model(one)
    low, high = float(null.low.sum()), float(null.high.sum())
    sample = null.low - (low / (high - low) if high > low else 0.0) * (null.high - null.low)
    assert abs(sample.sum()) <= 1e-12 * abs(sample).sum()
    proof = one.certify(np.zeros(2), null.intercept, sample)
    assert proof.relative_gap <= 1e-9 if share > 0 else proof.gap <= 1e-12  # of nothing at all


def test_the_ridge_grid_of_many_samples_is_that_of_few():
    many = np.tile(X, (10, 1)), np.tile(Y, 10)
    few = default_strengths(problem(rl.losses.Pinball(0.3), Ridge(1.0)), 3)
    grid = default_strengths(rl.Problem(*many, rl.losses.Pinball(0.3), Ridge(1.0)), 3)
    np.testing.assert_allclose(grid, 10 * few, rtol=1e-2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_multipliers_follow_the_strength_once_nothing_is_lost(fit_intercept):
    """Separable classes: all weak penalties have the coefficients of the widest margin."""
    data = np.random.default_rng(2).standard_normal((400, 6))
    z = data @ [2.0, -1.0, 0.0, 0.0, 1.0, 0.5]
    apart = np.abs(z) > 0.5
    labels, loss = np.sign(z[apart]), rl.losses.Hinge()
    one = rl.Problem(data[apart], labels, loss, Ridge(1.0), fit_intercept=fit_intercept)
    grid = np.geomspace(1e2, 1e-5, 40)
    found = path(one, grid, tol=1e-4)
    assert found.relative_gaps.max() <= 1e-4
    weak = [point for strength, point in zip(grid, found, strict=True) if strength < 1e-3]
    assert sum(point.n_iter == 0 for point in weak) >= len(weak) - 3


def test_a_path_without_duals_keeps_its_certificates():
    found = path(problem(rl.losses.Huber(), Ridge(1.0)), n_strengths=4)
    small = found.without_duals()
    assert all(point.dual.sample.size == 0 for point in small)
    np.testing.assert_array_equal(small.relative_gaps, found.relative_gaps)
    np.testing.assert_array_equal(small.coefs, found.coefs)
