"""Strengths that are skipped: told by a guide, and certified between two others."""

from __future__ import annotations

import time

import numpy as np
import pytest

import rectiline as rl
from rectiline.paths import FoldJob, Guide, default_strengths, fold_paths, path
from rectiline.paths import _ahead as ahead
from rectiline.paths import _chain as chain
from rectiline.paths._ahead import Clock
from rectiline.paths._between_kinks import anchors
from rectiline.paths._walk import Walk
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems import certify_between, judge_all
from rectiline.solvers import BasisFollower, Follower

RNG = np.random.default_rng(11)
N, D = 400, 5
X = RNG.normal(size=(N, D)) * [1, 20, 0.1, 1, 3] + [0, 30, 0, 0, 1]
Y = X[:, 0] - 3 * X[:, 2] + 0.03 * X[:, 1] + RNG.standard_t(3, N)
LABELS = np.where(np.quantile(Y, 0.25) < Y, 1, -1)  # most rows begin on the kink
LOSSES = [rl.losses.Hinge(), rl.losses.Pinball(0.3), rl.losses.EpsilonInsensitive(0.5)]
PENALTIES = [Ridge(1.0), ElasticNet(0.5, 0.5), L1(1.0)]


def problem(loss, weight=None, penalty=PENALTIES[0]):
    y = LABELS if loss.of == "margin" else Y
    return rl.Problem(X, y, loss, penalty, sample_weight=weight)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_what_is_expected_to_be_lost_is_what_is_proved(loss, penalty):
    one = problem(loss, penalty=penalty)
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-9)
    samples = np.array([point.dual.sample for point in whole])
    pairs = judge_all(one, grid, whole.coefs, whole.intercepts, samples)
    q = None if one.columns.has_l1 else pairs.terms.q
    terms = one.columns.rho, one.columns.l1, whole.coefs, q
    objectives = np.array([point.certificate.primal for point in whole])
    chosen = anchors(grid, *terms, 3e-3 * objectives)
    assert chosen[0] == 0 and chosen[-1] == 29 and chosen == sorted(set(chosen))
    assert len(chosen) < 30
    ends = judge_all(
        one, grid[chosen], whole.coefs[chosen], whole.intercepts[chosen], samples[chosen]
    )
    for pair in certify_between(ends, np.delete(grid, chosen)):
        assert pair.certificate.relative_gap <= 3e-3 * (1 + 1e-4) + 1e-6
    assert anchors(grid, *terms, np.full(30, np.inf)) == [0, 29]
    assert len(anchors(grid, *terms, np.full(30, -1.0))) == 30


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_folds_skip_strengths_and_certify_them_all(loss, penalty, monkeypatch):
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 0)
    skipped, original = [], chain.certify_between

    def counted(pairs, strengths):
        skipped.extend(strengths)
        return original(pairs, strengths)

    monkeypatch.setattr(chain, "certify_between", counted)
    one = problem(loss, np.ones(N), penalty)
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    few = problem(loss, (np.arange(N) % 5 != 2).astype(float), penalty)
    guide = Guide(one, whole.strengths, whole.solutions)
    found = fold_paths([FoldJob(lambda: few, grid, guide)], tol=1e-3)[0]
    assert len(found) == 30 and found.relative_gaps.max() <= 1e-3
    np.testing.assert_array_equal(found.strengths, grid)
    for strength, solution in list(zip(grid, found, strict=True))[::3]:
        here = few.with_penalty(penalty.with_strength(float(strength)))
        exact = rl.solve(here, tol=1e-9)
        best, proof = exact.certificate.primal, solution.certificate
        assert best * (1 - 1e-9) <= proof.primal <= best * (1 + 1.1e-3)
        again = here.certify(solution.coef, solution.intercept, solution.dual)
        assert again.relative_gap <= 1e-3 and again.primal <= proof.primal * (1 + 1e-9)
    if penalty != L1(1.0):  # these go other ways
        assert skipped


def fold():
    """Return a part of a problem, strengths, and the guide."""
    one = problem(rl.losses.Hinge())
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    few = problem(rl.losses.Hinge(), (np.arange(N) % 5 != 2).astype(float))
    return few, grid, Guide(one, whole.strengths, whole.solutions)


@pytest.mark.parametrize("lost", [{0}, {1}, {0, 1}, {3}, {0, 4, 5}, {2, 3, 4, 5, 6, 7}], ids=repr)
def test_folds_whose_moves_get_lost_have_all_answers(lost, monkeypatch, lose_moves):
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 0)
    few, grid, guide = fold()
    lose_moves(lost)
    found = fold_paths([FoldJob(lambda: few, grid, guide)], tol=1e-3)[0]
    np.testing.assert_array_equal(found.strengths, grid)
    for strength, solution in zip(grid, found, strict=True):
        here = few.with_penalty(Ridge(float(strength)))
        proof = here.certify(solution.coef, solution.intercept, solution.dual)
        assert proof.relative_gap <= 1e-3


@pytest.mark.parametrize("off", [0.3, 3.0])
def test_answers_between_poor_ones_are_looked_for(off, monkeypatch):
    """Answers that a certificate refuses, and with them those in between."""
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 0)
    few, grid, guide = fold()
    move, calls = Follower.move, []

    def poor(self, strength, *others):
        calls.append(strength)
        found = move(self, strength, *others)
        return found if found is None or len(calls) != 2 else (found[0] * (1 + off), *found[1:])

    monkeypatch.setattr(Follower, "move", poor)
    found = fold_paths([FoldJob(lambda: few, grid, guide)], tol=1e-3)[0]
    assert len(found) == 30 and found.relative_gaps.max() <= 1e-3
    for strength, solution in zip(grid, found, strict=True):
        here = few.with_penalty(Ridge(float(strength)))
        assert here.certify(solution.coef, solution.intercept, solution.dual).relative_gap <= 1e-3


def test_followers_of_softened_problems_make_no_long_moves():
    rng = np.random.default_rng(2)
    n, d = 900, 60  # fifteen rows per column
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, -1)
    one = rl.Problem(X, y, rl.losses.Hinge(), L1(1.0))
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    guide = Guide(one, whole.strengths, whole.solutions)
    walk = Walk(Follower, one, grid, 1e-3, 1, Clock(time.perf_counter(), None))
    walk.plan_by(guide)
    assert walk.follower.longest_move < 5
    guide._anchors[1e-3] = [0, 1, 20, 29]
    places = walk.planned(0, 30)
    assert {0, 1, 20, 29} <= set(places) and places == sorted(set(places))
    ratios = grid[places[:-1]] / grid[places[1:]]
    assert ratios.max() <= walk.follower.longest_move and len(places) < 25
    assert walk.planned(5, 30)[0] == 5 and len(walk.planned(0, 4)) == 4
    walk.follower = BasisFollower(one, 1e-3)
    assert walk.planned(0, 30) == [0, 1, 20, 29]
