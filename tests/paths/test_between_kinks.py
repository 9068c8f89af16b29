"""Answers between two others: what they lose is bounded, foreseen, and certified."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.paths import FoldJob, Guide, default_strengths, fold_paths, path
from rectiline.paths import _ahead as ahead
from rectiline.paths import _between_kinks as between_kinks
from rectiline.paths import _walk as walk
from rectiline.paths._answers import Answer
from rectiline.paths._between_kinks import Anchor, answers_between, shares, skippable
from rectiline.penalties import ElasticNet, Ridge
from rectiline.problems import SlopeMultipliers, certify_slopes

RNG = np.random.default_rng(11)
N, D = 400, 5
X = RNG.normal(size=(N, D)) * [1, 20, 0.1, 1, 3] + [0, 30, 0, 0, 1]
Y = X[:, 0] - 3 * X[:, 2] + 0.03 * X[:, 1] + RNG.standard_t(3, N)
LABELS = np.where(np.quantile(Y, 0.25) < Y, 1, -1)  # most rows begin on the kink
WEIGHT = RNG.uniform(0.5, 2, N) * (np.arange(N) % 7 > 0)
LOSSES = [rl.losses.Hinge(), rl.losses.Pinball(0.3), rl.losses.EpsilonInsensitive(0.5)]


def problem(loss, weight=WEIGHT, penalty=Ridge(1.0)):  # noqa: B008
    y = LABELS if loss.of == "margin" else Y
    return rl.Problem(X, y, loss, penalty, sample_weight=weight)


def anchor(one, strength):
    """Return an answer that is as good as exact, with its slopes."""
    best = rl.solve(one.with_penalty(Ridge(strength)), tol=1e-10)
    weight = np.where(one.weight > 0, one.weight, np.inf)
    answer = Answer(strength, best.coef, best.intercept, 0, 0.0, "")
    return Anchor(answer, one.direction * best.dual.sample / weight), best


def test_shares_grow_as_the_inverse_strength():
    t = shares(np.array([8.0, 4.0, 2.0]))
    np.testing.assert_allclose(t, [0.0, 1 / 3, 1.0])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("place", [0, 6, 12, 20])
def test_what_is_lost_is_within_the_bound(loss, place):
    one = problem(loss)
    grid = default_strengths(one, 30)[place : place + 4]
    (first, one_end), (last, other_end) = anchor(one, grid[0]), anchor(one, grid[-1])
    kept = np.flatnonzero(np.abs(first.slopes - last.slopes) > 1e-9)[:50].astype(np.int64)
    found = answers_between(one, grid[1:-1], first, last, kept)
    assert [answer.strength for answer, _ in found] == list(grid[1:-1])
    known = SlopeMultipliers.of(N, [few for _, few in found])
    coefs = np.array([answer.coef for answer, _ in found])
    intercepts = np.array([answer.intercept for answer, _ in found])
    proofs = certify_slopes(one, grid[1:-1], coefs, intercepts, known)
    b, q = one_end.coef, grid[0] * one_end.coef
    b_end, q_end = other_end.coef, grid[-1] * other_end.coef
    for (proof, _), t, strength in zip(proofs, shares(grid)[1:-1], grid[1:-1], strict=True):
        off = (1 - t) * b + t * b_end - ((1 - t) * q + t * q_end) / strength
        bound = t * (1 - t) * (b_end - b) @ (q - q_end) + 0.5 * strength * off @ off
        assert -1e-9 * proof.primal <= proof.gap <= bound + 1e-8 * proof.primal
    exact = np.array([b, *coefs, b_end])
    assert skippable(grid, np.ones(D), exact, np.full(4, np.inf)) == 2
    assert skippable(grid, np.ones(D), exact, np.full(4, 1e-300)) == 0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", [Ridge(1.0), ElasticNet(0.5, 0.5)], ids=repr)
def test_folds_skip_strengths_and_certify_them_all(loss, penalty, monkeypatch):
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 0)
    skipped, original = [], between_kinks.answers_between

    def counted(one, strengths, *others):
        skipped.extend(strengths)
        return original(one, strengths, *others)

    monkeypatch.setattr(walk, "answers_between", counted)
    one = problem(loss, np.ones(N), penalty)
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    few = problem(loss, (np.arange(N) % 5 != 2).astype(float), penalty)
    guide = Guide(one, whole.strengths, whole.solutions)
    found = fold_paths([FoldJob(lambda: few, grid, guide)], tol=1e-3)[0]
    assert len(found) == 30 and found.relative_gaps.max() <= 1e-3
    np.testing.assert_array_equal(found.strengths, grid)
    for strength, solution in list(zip(grid, found, strict=True))[::3]:
        exact = rl.solve(few.with_penalty(penalty.with_strength(float(strength))), tol=1e-9)
        best = exact.certificate.primal
        assert best * (1 - 1e-9) <= solution.certificate.primal <= best * (1 + 1.1e-3)
    if loss.of == "margin" and penalty == Ridge(1.0):
        assert skipped
    if penalty != Ridge(1.0):
        assert not skipped
