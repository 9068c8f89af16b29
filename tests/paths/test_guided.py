"""Paths on parts of the samples, guided by the path on all of them: found on few rows or by a step
from it, certified on all rows, and the same as without a guide."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.paths import FoldJob, Guide, default_strengths, fold_paths, path
from rectiline.paths import _ahead as ahead
from rectiline.paths._ahead import Clock
from rectiline.paths._answers import Answer, Kept
from rectiline.paths._path import along
from rectiline.paths._reach import Beside
from rectiline.paths._without_kinks import between
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.solvers import Follower, LeaveOut

RNG = np.random.default_rng(3)
N, D = 600, 6
X = RNG.normal(size=(N, D)) * [1, 30, 0.1, 1, 1, 2] + [0, 50, 0, 0, 1, 0]
SCORE = X[:, 0] - 4 * X[:, 2] + 0.02 * X[:, 1]
Y = SCORE + RNG.standard_t(3, N)
LABELS = np.where(SCORE + RNG.normal(size=N) > 1.5, 1, -1)
TRAIN = (np.arange(N) % 5 != 2).astype(float)
LOSSES = [
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.Pinball(0.3),
    rl.losses.Huber(),
    rl.losses.SquaredError(),
    rl.losses.EpsilonInsensitive(0.5),
    rl.losses.Expectile(0.8),
]
PENALTIES = [Ridge(1.0), L1(1.0), ElasticNet(0.3, 0.7)]


@pytest.fixture(autouse=True)
def small_data_are_large(monkeypatch):
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 0)


def problem(loss, penalty, weight=None, data=X, **more):
    y = LABELS if loss.of == "margin" else Y
    return rl.Problem(data, y, loss, penalty, sample_weight=weight, **more)


def guided(loss, penalty, weight=None, part=TRAIN, tol=1e-3, **more):
    """Return the problem on a part, and its path beside that on all samples."""
    one = problem(loss, penalty, weight, **more)
    grid = default_strengths(one, 12)
    whole = path(one, grid, tol=tol)
    few = problem(loss, penalty, part if weight is None else part * weight, **more)
    guide = Guide(one, whole.strengths, whole.solutions)
    return few, fold_paths([FoldJob(lambda: few, grid, guide)], tol=tol)[0], guide


def check(one, found, tol=1e-3):
    assert found.relative_gaps.max() <= tol
    for strength, point in zip(found.strengths, found, strict=True):
        here = one.with_penalty(one.penalty.with_strength(float(strength)))
        assert here.certify(point.coef, point.intercept, point.dual).relative_gap <= tol
        best = rl.solve(here, tol=1e-9).objective
        assert point.objective <= best * (1 + tol) + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_guided_answers_are_certified(loss, penalty):
    few, found, _ = guided(loss, penalty)
    check(few, found)


@pytest.mark.parametrize("storage", [np.asfortranarray, sp.csr_array, np.float32], ids=repr)
@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.Huber()], ids=repr)
def test_any_storage_weights_and_no_intercept(loss, storage):
    weight = RNG.integers(0, 3, N).astype(float)
    for more in ({}, {"fit_intercept": False}):
        few, found, _ = guided(loss, Ridge(1.0), weight, data=storage(X), **more)
        check(few, found)


def test_tighter_than_a_search_asks_for():
    few, found, _ = guided(rl.losses.Pinball(0.7), Ridge(1.0), tol=1e-6)
    check(few, found, 1e-6)


def test_parts_with_little_in_common_are_still_certified():
    # The guide is of no use here: half of the samples, with targets of their own.
    half = (np.median(Y) < Y).astype(float)
    for loss in (rl.losses.Pinball(0.5), rl.losses.Huber(0.1)):
        few, found, _ = guided(loss, Ridge(1.0), part=half)
        check(few, found)


def test_a_guide_with_other_strengths_or_after_a_start_is_left_aside():
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    grid = default_strengths(one, 8)
    whole = path(one, grid, tol=1e-3)
    guide = Guide(one, whole.strengths, whole.solutions)
    few = problem(rl.losses.Hinge(), Ridge(1.0), TRAIN)
    clock = ahead.Clock(0.0, None)
    check(few, along(few, grid[:5], clock, guide=guide, tol=1e-3))
    check(few, along(few, grid, clock, start=whole[0], guide=guide, tol=1e-3))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_start_on_a_part_is_balanced(loss):
    one = problem(loss, Ridge(1.0))
    whole = path(one, n_strengths=6, tol=1e-3)
    weight = np.where(np.arange(N) < 100, 0.0, 1.0)
    start = Guide(one, whole.strengths, whole.solutions).start(problem(loss, Ridge(1.0), weight))
    sample = start.dual.sample
    assert not sample[:100].any() and abs(sample.sum()) <= 1e-9 * abs(sample).sum()


def test_predictions_of_a_guide_in_pieces(monkeypatch):
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    whole = path(one, n_strengths=6, tol=1e-3)
    guide = Guide(one, whole.strengths, whole.solutions)
    expected = whole.coefs @ X.T + whole.intercepts[:, None]
    np.testing.assert_allclose(guide.predictions([1, 3]), expected[[1, 3]])
    np.testing.assert_allclose(guide.predictions([0, 3, 5]), expected[[0, 3, 5]])
    assert guide.predictions([3])[0] is guide.predictions([3])[0]
    monkeypatch.setattr("rectiline.paths._guide.MOST_KEPT", 10)
    again = Guide(one, whole.strengths, whole.solutions)
    np.testing.assert_allclose(again.predictions([1, 2, 3]), expected[1:4])
    assert again.leave_out is None and again.predictions([3])[0] is not again.predictions([3])[0]
    monkeypatch.undo()
    pieces = [expected[:1], expected[1:3], expected[3:]]
    known = Guide(one, whole.strengths, whole.solutions, Kept(pieces))
    for places in [[0], [1, 2], [0, 5], [2, 3, 4, 5]]:
        np.testing.assert_array_equal(known.predictions(places), expected[places])
    assert np.shares_memory(known.predictions([1])[0], expected)
    for one_guide in (known, again):
        least, most = one_guide.ends([1, 2, 4])
        np.testing.assert_allclose(least, expected[[1, 2, 4]].min(axis=0))
        np.testing.assert_allclose(most, expected[[1, 2, 4]].max(axis=0))
    assert known.ends([1, 5])[0] is known.ends([1, 5])[0]


def test_ranges_hold_the_guide_and_the_distance_to_it():
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    whole = path(one, n_strengths=20, tol=1e-3)
    reach = Beside(Guide(one, whole.strengths, whole.solutions), one, range(20))
    z = whole.coefs @ X.T + whole.intercepts[:, None]
    low, high, here, until = reach.look(0, None, 0)
    assert here is None and 4 <= until <= 16
    assert (low < z[:until]).all() and (z[:until] < high).all()
    near = Answer(1.0, whole.coefs[1], whole.intercepts[1] + 0.3, 0, 0.0, "")
    low, high, here, until = reach.look(2, near, 1)
    np.testing.assert_allclose(here, z[1] + 0.3)
    assert (low <= z[1:until].min(axis=0) + 1e-12).all()
    assert (z[1:until].max(axis=0) + 0.3 <= high + 1e-12).all()
    assert reach.look(18, near, 17).until == 20


@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.Pinball(0.7)], ids=repr)
def test_a_follower_on_few_rows_notices_when_it_leaves_their_ranges(loss):
    one = problem(loss, Ridge(1.0))
    grid = default_strengths(one, 12)
    follower = Follower(one.with_penalty(Ridge(float(grid[0]))), 8e-4)
    follower.place_at_zero()
    for strength in grid[:6]:
        coef, intercept, _ = follower.move(float(strength), 10.0)
    here, multipliers = X @ coef + intercept, follower.multipliers
    assert follower.focus(here - 0.02, here + 0.02)
    assert follower.move(float(grid[5]), 10.0) is not None and not follower.has_strayed
    assert follower.move(float(grid[11]), 10.0) is None or follower.has_strayed
    follower.place(coef, intercept, multipliers)
    coef, intercept, _ = follower.move(float(grid[6]), 10.0)
    assert not follower.has_strayed
    weaker = one.with_penalty(Ridge(float(grid[6])))
    assert weaker.certify(coef, intercept, follower.multipliers).relative_gap <= 1e-3
    assert not follower.focus(here - 1e9, here + 1e9)  # nothing to leave out


@pytest.mark.parametrize(
    "loss", [rl.losses.Huber(), rl.losses.SquaredHinge(), rl.losses.SquaredError()], ids=repr
)
def test_steps_without_samples_converge_to_the_answers(loss):
    one = problem(loss, Ridge(1.0))
    strengths = np.array([30.0, 10.0, 3.0, 1.0, 0.3])
    found = path(one, strengths, tol=1e-10)
    z = found.coefs @ X.T + found.intercepts[:, None]
    rho = np.outer(strengths, np.ones(D))
    few = problem(loss, Ridge(1.0), TRAIN)
    steps = LeaveOut(one, rho, found.coefs, found.intercepts, z).to(few)
    exact = path(few, strengths, tol=1e-12)
    coefs, intercepts = steps.step()
    scale = X.std(axis=0)
    distance = [np.abs((coefs - exact.coefs) * scale).max()]
    for _ in range(3):
        coefs, intercepts = steps.step_again(range(5), coefs, intercepts)
        distance.append(np.abs((coefs - exact.coefs) * scale).max())
    # The matrix is that of the first answers, so that later steps gain a factor each.
    assert distance[0] <= 0.2 * np.abs((found.coefs - exact.coefs) * scale).max()
    assert distance[-1] <= 0.05 * distance[0] + 1e-9
    np.testing.assert_allclose(intercepts, exact.intercepts, rtol=1e-3, atol=1e-3)


def test_steps_are_for_problems_without_kinks():
    assert LeaveOut.accepts(problem(rl.losses.Huber(), Ridge(1.0)), 30)
    assert not LeaveOut.accepts(problem(rl.losses.Huber(), ElasticNet(0.5, 0.5)), 30)
    assert not LeaveOut.accepts(problem(rl.losses.Hinge(), Ridge(1.0)), 30)
    assert not LeaveOut.accepts(problem(rl.losses.Huber(1e-3), Ridge(1.0)), 30)
    assert not LeaveOut.accepts(problem(rl.losses.Huber(), Ridge(1.0)), 10**6)


def test_where_steps_fail_rows_are_followed_and_nobody_tries_again():
    # Nearly all rows are on straight pieces: which ones are not changes with every sample.
    few, found, guide = guided(rl.losses.Huber(0.12), Ridge(1.0), part=(np.arange(N) < 370) * 1.0)
    check(few, found)
    stepped = [point.reason == "newton: from more samples" for point in found]
    assert guide.leave_out is None or all(stepped)


@pytest.mark.parametrize(("delta", "leads"), [(1.35, True), (0.12, False)])
def test_a_step_is_tried_where_it_may_fail(delta, leads, monkeypatch):
    monkeypatch.setattr(ahead, "_SURE_ROWS", 10**6)
    part = TRAIN if leads else (np.arange(N) < 370) * 1.0
    few, found, guide = guided(rl.losses.Huber(delta), Ridge(1.0), part=part)
    check(few, found)
    assert guide.was_tried
    stepped = [point.reason == "newton: from more samples" for point in found]
    assert any(stepped) == (guide.leave_out is not None) == leads


@pytest.mark.parametrize("loss", [rl.losses.Huber(), rl.losses.SquaredHinge()], ids=repr)
def test_so_many_samples_that_few_answers_wait_for_certificates(loss, monkeypatch):
    monkeypatch.setattr(ahead, "_MOST_ENTRIES", 5 * N)  # of 12 answers
    few, found, _ = guided(loss, Ridge(1.0))
    check(few, found)
    whole = path(problem(loss, Ridge(1.0)), n_strengths=12, ratio=1e-3, tol=1e-3)
    check(problem(loss, Ridge(1.0)), whole)
    np.testing.assert_array_equal(whole.lent_coefs, whole.coefs)


def test_steps_are_not_for_half_of_the_samples():
    few, found, _ = guided(rl.losses.Huber(), Ridge(1.0), part=(np.arange(N) % 2) * 1.0)
    check(few, found)
    assert not any(point.reason == "newton: from more samples" for point in found)
    few, found, _ = guided(rl.losses.Huber(), Ridge(1.0))
    assert any(point.reason == "newton: from more samples" for point in found)


def test_collinear_and_constant_columns_have_steps():
    data = np.column_stack([X, X[:, 0], np.ones(N), np.zeros(N)])
    few, found, _ = guided(rl.losses.Huber(), Ridge(1.0), data=data)
    check(few, found)


def test_cubics_between_answers_are_exact_for_cubics_and_keep_what_is_known():
    strengths = np.geomspace(100.0, 0.1, 11)
    u = np.log(strengths)
    coefs = np.column_stack([u**3 - u, 2 * u**2])
    answers = [
        Answer(float(strengths[k]), coefs[k], float(u[k]), 1, 0.0, "known")
        for k in (0, 2, 4, 6, 8, 10)
    ]
    filled = between(strengths, answers)
    np.testing.assert_allclose([one.coef for one in filled], coefs, atol=1e-9)
    np.testing.assert_allclose([one.intercept for one in filled], u, atol=1e-9)
    assert [one.way == "known" for one in filled] == [k % 2 == 0 for k in range(11)]


def test_paths_without_kinks_are_thinned_and_certified():
    one = problem(rl.losses.Huber(), Ridge(1.0))
    found = path(one, n_strengths=30, tol=1e-3)
    check(one, found)
    assert sum(point.reason == "newton: between two strengths" for point in found) >= 10
    for tol, size in ((1e-6, 30), (1e-3, 12)):  # too good for a cubic, too far from each other
        other = path(one, n_strengths=size, tol=tol)
        assert all(point.reason != "newton: between two strengths" for point in other)
        check(one, other, tol)


def test_searches_choose_the_same_on_few_rows(monkeypatch):
    searches = [
        rl.estimators.PLQClassifierCV(loss="hinge", n_jobs=2),
        rl.estimators.PLQClassifierCV(loss="squared_hinge"),
    ]
    for search in searches:
        beside = search.fit(X, LABELS).cv_results_["mean_test_score"]
        monkeypatch.setattr(ahead, "_FOCUS_SIZE", 10**9)
        alone = search.fit(X, LABELS).cv_results_["mean_test_score"]
        monkeypatch.setattr(ahead, "_FOCUS_SIZE", 0)
        np.testing.assert_allclose(beside, alone, atol=0.02)


@pytest.mark.parametrize("loss", [rl.losses.Huber(), rl.losses.Hinge()], ids=repr)
@pytest.mark.parametrize("lost", [{0}, {1}, {0, 1}, {3}, {0, 5, 9}], ids=repr)
def test_answers_belong_to_their_strengths_when_some_are_not_found(lose_moves, loss, lost):
    one = problem(loss, Ridge(1.0))
    lose_moves(lost)
    found = path(one, n_strengths=30, tol=1e-3)
    assert len(found) == 30
    check(one, found)


@pytest.mark.parametrize("penalty", [Ridge(1.0), ElasticNet(0.5, 0.5)], ids=repr)
@pytest.mark.parametrize("loss", [rl.losses.Pinball(0.6), rl.losses.Hinge()], ids=repr)
@pytest.mark.parametrize("is_focused", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.02])  # of positive labels: with few, all others share
def test_multipliers_are_slopes_with_exceptions(loss, penalty, is_focused, share):
    """Slopes at predictions of the answers, which put columns onto kinks that they are near."""
    rng = np.random.default_rng(4)
    data = rng.standard_normal((1500, 40))
    y = data @ rng.standard_normal(40) + rng.standard_t(3, 1500)
    if loss.of == "margin":
        y = np.where(y > np.quantile(y, 1 - share), 1.0, -1.0)
    one = rl.Problem(data, y, loss, penalty)
    grid = default_strengths(one, 25)
    follower = Follower(one.with_penalty(penalty.with_strength(float(grid[0]))), 1e-3)
    follower.place_at_zero()
    here, written_out = None, 0
    for strength in grid:
        if is_focused and here is not None:
            assert follower.focus(here - 0.5, here + 0.5, here) < 1500
        found = follower.move(float(strength), 10.0)
        if found is None:  # few labels are hard to begin with under L1 terms, and separable later
            assert share < 0.5
            break
        here = data @ found[0] + found[1]
        slopes, rows, values = follower.exceptions()
        written = one.rows.slopes(here)
        if slopes is not None:
            assert not np.isnan(slopes).all()
            assert is_focused or not np.isnan(slopes).any()
            written_out += not np.isnan(slopes).any()
            written = np.where(np.isnan(slopes), written, one.direction * one.weight * slopes)
        written[rows] = values
        # Whoever certifies them balances them; no one is moved by more than all sum to.
        excess = abs(written.sum())
        assert excess < 0.02 * abs(written).sum()
        np.testing.assert_allclose(written, follower.multipliers, atol=excess + 1e-9)
    assert written_out or share == 0.5 or loss.of != "margin" or penalty != Ridge(1.0)


@pytest.mark.parametrize("lost", [set(), {0}, {3}, {0, 5, 9}], ids=repr)
@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.Huber()], ids=repr)
def test_pulls_are_kept_for_every_answer(lose_moves, loss, lost):
    one = problem(loss, Ridge(1.0))
    lose_moves(lost)
    grid = default_strengths(one, 20)
    found = along(one, grid, Clock(time.perf_counter(), None), keeps=True, tol=1e-3)
    pulls = np.concatenate(found.kept.pulls)
    expected = np.array([-X.T @ point.dual.sample for point in found])
    assert pulls.shape == expected.shape
    same = np.isclose(pulls, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max()).all(axis=1)
    assert same.sum() >= 19  # one may have been looked for again
    assert found.kept.predictions is None or not lost
