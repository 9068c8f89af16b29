"""Paths in the span of the rows, and paths by pivots."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.paths import FoldJob, Guide, fold_paths, path
from rectiline.paths._ahead import Ahead, Clock
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.solvers import BasisFollower, Follower, SpanFollower, Status

RNG = np.random.default_rng(5)
WIDE = RNG.standard_normal((40, 90)) * np.exp(RNG.uniform(-2, 2, 90)) + 0.5
WEIGHT = np.where(np.arange(40) % 7 == 0, 0.0, 1.0 + np.arange(40) % 3)
TALL = RNG.standard_normal((120, 4)) * [1.0, 50.0, 0.02, 1.0] + [0.0, 3.0, 1.0, 0.0]
SMOOTH = [rl.losses.Huber(0.7), rl.losses.Expectile(0.3)]
KINKED = [rl.losses.Absolute(), rl.losses.Pinball(0.8), rl.losses.EpsilonInsensitive(0.3)]


def _targets(X, loss):
    z = X[:, 0] - X[:, 1] / X[:, 1].std() + np.random.default_rng(0).standard_normal(len(X))
    return np.where(z > np.median(z), 1.0, -1.0) if loss.of == "margin" else z


def _agree(found, problem, tol):
    """Every point is certified, and none is better than another solver's by more than the gaps."""
    for strength, one in zip(found.strengths, found.solutions, strict=True):
        assert one.status == Status.SOLVED and one.certificate.relative_gap <= tol
        alone = problem.with_penalty(problem.penalty.with_strength(float(strength)))
        again = alone.certify(one.coef, one.intercept, one.dual)
        assert again.relative_gap <= 1.01 * tol
        cold = rl.solve(alone, solver="interior", tol=tol)
        assert one.objective == pytest.approx(cold.objective, rel=3 * tol)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED, rl.losses.Hinge(), rl.losses.SquaredHinge()])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_more_columns_than_rows_are_followed_in_the_span_of_the_rows(loss, fit_intercept, tol):
    y = _targets(WIDE, loss)
    problem = rl.Problem(
        WIDE, y, loss, Ridge(1.0), sample_weight=WEIGHT, fit_intercept=fit_intercept
    )
    assert SpanFollower.accepts(problem, tol) and not Follower.accepts(problem, tol)
    found = path(problem, [100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1], tol=tol)
    _agree(found, problem, tol)
    # The first ones come from nowhere, and may be left to other solvers.
    assert all(one.solver == "reduced_newton" for one in found.solutions[3:])


def test_the_span_is_for_plain_ridge_penalties_on_dense_data_with_few_rows():
    y = _targets(WIDE, rl.losses.Huber())
    for penalty in (L1(1.0), ElasticNet(1.0, 0.5)):
        assert not SpanFollower.accepts(rl.Problem(WIDE, y, rl.losses.Huber(), penalty), 1e-3)
    assert not SpanFollower.accepts(rl.Problem(WIDE[:, :20], y, rl.losses.Huber()), 1e-3)
    bounded = rl.Problem(WIDE, y, rl.losses.Huber(), constraints=rl.constraints.Nonnegative())
    assert not SpanFollower.accepts(bounded, 1e-3)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED, rl.losses.Hinge(), rl.losses.SquaredHinge()])
@pytest.mark.parametrize("is_large", [False, True])
def test_folds_of_more_columns_than_rows_are_certified(loss, is_large, monkeypatch):
    """Large ones without kinks look at every other strength, in the span as well."""
    if is_large:
        monkeypatch.setattr("rectiline.paths._ahead._FOCUS_SIZE", 0)
    y = _targets(WIDE, loss)
    problem = rl.Problem(WIDE, y, loss, Ridge(1.0))
    whole = path(problem, n_strengths=20, tol=1e-3)
    guide = Guide(problem, whole.strengths, whole.solutions)
    part = problem.with_sample_weight(np.where(np.arange(40) % 5 == 2, 0.0, 1.0))
    found = fold_paths([FoldJob(lambda: part, whole.strengths, guide)], tol=1e-3)[0]
    _agree(found, part, 1e-3)
    between = ["between two strengths" in one.reason for one in found.solutions]
    assert any(between) == (is_large and loss in [*SMOOTH, rl.losses.SquaredHinge()])


def test_duplicated_and_zero_rows_have_a_span_of_lower_rank():
    X = np.vstack([WIDE[:10], WIDE[:10], np.zeros((3, 90))])
    y = np.where(np.arange(23) % 2 == 0, 1.0, -1.0)
    problem = rl.Problem(X, y, rl.losses.Hinge(), Ridge(1.0))
    rows, back = problem.design.row_space
    assert rows.shape == (23, 10)
    np.testing.assert_allclose(rows @ rows.T, X @ X.T, atol=1e-9)
    np.testing.assert_allclose(X.T @ back @ rows.T, X.T, atol=1e-9)
    _agree(path(problem, [10.0, 1.0, 0.1], tol=1e-6), problem, 1e-6)
    nothing = rl.Problem(np.zeros((4, 9)), [1.0, -1.0, 1.0, 1.0], rl.losses.Hinge(), Ridge(1.0))
    _agree(path(nothing, [10.0, 1.0], tol=1e-6), nothing, 1e-6)


@pytest.mark.parametrize("loss", [*KINKED, rl.losses.Hinge()])
@pytest.mark.parametrize("X", [WIDE, TALL], ids=["wide", "tall"])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_linear_programs_are_followed_by_pivots(loss, X, tol):
    weight = WEIGHT if len(X) == 40 else np.where(np.arange(120) % 9 == 0, 0.0, 1.0)
    problem = rl.Problem(X, _targets(X, loss), loss, L1(1.0), sample_weight=weight)
    assert BasisFollower.accepts(problem, tol)
    found = path(problem, n_strengths=9, ratio=1e-2, tol=tol)
    _agree(found, problem, tol)


def test_pivots_are_for_linear_programs_with_a_cost_on_every_column():
    y = _targets(TALL, rl.losses.Absolute())
    for loss, penalty in (
        (rl.losses.Huber(), L1(1.0)),
        (rl.losses.Absolute(), ElasticNet(1.0, 0.5)),
        (rl.losses.Absolute(), L1(1.0, weights=[1.0, 0.0, 1.0, 1.0])),
    ):
        assert not BasisFollower.accepts(rl.Problem(TALL, y, loss, penalty), 1e-3)


def test_a_path_that_gets_lost_goes_on_by_pivots(monkeypatch):
    monkeypatch.setattr(Follower, "move", lambda self, strength, *others: None)
    X = RNG.standard_normal((900, 5))
    y = _targets(X, rl.losses.Hinge())
    problem = rl.Problem(X, y, rl.losses.Hinge(), L1(1.0))
    grid = np.geomspace(100.0, 1.0, 12)
    assert Follower.accepts(problem, 1e-3)
    found = path(problem, grid, tol=1e-3)
    _agree(found, problem, 1e-3)
    ways = [one.reason for one in found.solutions]
    assert all("pivots from the strength before" in one for one in ways[3:])


def test_pivots_that_get_lost_are_found_by_others(monkeypatch):
    monkeypatch.setattr(BasisFollower, "move", lambda self, strength, *others: None)
    problem = rl.Problem(TALL, _targets(TALL, rl.losses.Absolute()), rl.losses.Absolute(), L1(1.0))
    _agree(path(problem, n_strengths=9, tol=1e-6), problem, 1e-6)


def test_folds_begin_the_way_that_the_path_on_all_data_ended(monkeypatch):
    X = RNG.standard_normal((900, 5))
    problem = rl.Problem(X, _targets(X, rl.losses.Hinge()), rl.losses.Hinge(), L1(1.0))
    grid = np.geomspace(100.0, 1.0, 12)

    def follower_of(found):
        guide = Guide(problem, found.strengths, found.solutions)
        clock = Clock(0.0, None)
        ahead = Ahead.of(problem, grid, None, {"tol": 1e-3}, clock, False, guide=guide)
        return type(ahead._walk.follower)

    assert follower_of(path(problem, grid, tol=1e-3)) is Follower
    assert follower_of(path(problem, grid, tol=1e-7)) is Follower  # pivots from the beginning
    move = Follower.move
    lost = lambda self, strength, *others: move(self, strength, *others) if strength > 60 else None  # noqa: E731
    monkeypatch.setattr(Follower, "move", lost)
    assert follower_of(path(problem, grid, tol=1e-3)) is BasisFollower
