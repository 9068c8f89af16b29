"""Answers of a guide that do for a part of its samples under strong penalties."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import rectiline as rl
from rectiline.paths import FoldJob, Guide, default_strengths, fold_paths, path
from rectiline.paths import _ahead as ahead
from rectiline.paths._answers import not_solved
from rectiline.paths._lent import LENT
from rectiline.paths._walk import Walk
from rectiline.penalties import Ridge

RNG = np.random.default_rng(5)
N, D = 40_000, 4
X = RNG.normal(size=(N, D)) * [1, 20, 0.1, 1] + [0, 30, 0, 0]
Y = X[:, 0] - 3 * X[:, 2] + 0.03 * X[:, 1] + RNG.standard_t(3, N)
LABELS = np.where(np.median(Y) < Y, 1, -1)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 1000)


def problem(loss, weight=None, rows=slice(None), fit_intercept=True):
    y = LABELS if loss.of == "margin" else Y
    return rl.Problem(
        X[rows], y[rows], loss, Ridge(1.0), sample_weight=weight, fit_intercept=fit_intercept
    )


def folds(loss, order=slice(None), weight=None, fit_intercept=True):
    """Return the guide and paths of five folds, all of whose certificates have been checked."""
    weight = np.ones(N) if weight is None else weight
    one = problem(loss, weight, order, fit_intercept)
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    guide = Guide(one, whole.strengths, whole.solutions)
    found = []
    for fold in range(5):
        held = np.arange(N) * 5 // N == fold
        part = problem(loss, np.where(held, 0.0, weight), order, fit_intercept)
        found += fold_paths([FoldJob(lambda part=part: part, grid, guide)], tol=1e-3)
        assert len(found[-1]) == 30 and found[-1].relative_gaps.max() <= 1e-3
        for strength, solution in zip(grid, found[-1], strict=True):
            here = part.with_penalty(Ridge(float(strength)))
            proof = here.certify(solution.coef, solution.intercept, solution.dual)
            assert proof.relative_gap <= 1e-3
    return guide, found


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_folds_begin_with_answers_of_the_guide(fit_intercept):
    both = np.column_stack([np.flatnonzero(LABELS > 0), np.flatnonzero(LABELS < 0)]).ravel()
    guide, found = folds(rl.losses.Hinge(), both, fit_intercept=fit_intercept)  # equal classes
    assert guide.may_lend is True
    for one in found:
        lent = [k for k, solution in enumerate(one) if solution.reason == LENT]
        assert lent == guide.anchors(1e-3)[:2]
        for k in lent:
            assert one[k].n_iter == 0


def test_weights_go_with_the_samples():
    guide, found = folds(rl.losses.Hinge(), weight=RNG.integers(0, 3, N).astype(float))
    assert len(found) == 5
    if guide.may_lend:
        assert all(found[0][k].reason == LENT for k in guide.anchors(1e-3)[:2])


def test_nobody_borrows_where_samples_are_sorted():
    guide, found = folds(rl.losses.Absolute(), order=np.argsort(Y))
    assert not guide.may_lend
    assert all(solution.reason != LENT for one in found for solution in one)


def test_what_the_first_fold_could_borrow_others_may_not():
    """A guide that was told that it may lend, and should not have been."""
    one = problem(rl.losses.Absolute(), np.ones(N), np.argsort(Y))
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    guide = Guide(one, whole.strengths, whole.solutions)
    guide.may_lend = True
    part = problem(rl.losses.Absolute(), (np.arange(N) > N // 5).astype(float), np.argsort(Y))
    [found] = fold_paths([FoldJob(lambda: part, grid, guide)], tol=1e-3)
    assert guide.may_lend is False and found.relative_gaps.max() <= 1e-3
    for strength, solution in zip(grid, found, strict=True):
        here = part.with_penalty(Ridge(float(strength)))
        assert here.certify(solution.coef, solution.intercept, solution.dual).relative_gap <= 1e-3


@pytest.mark.parametrize("share", [1.0, 0.8, 0.3])
def test_lent_answers_are_those_at_a_larger_strength(share):
    one = problem(rl.losses.Hinge(), np.ones(N))
    grid = np.geomspace(1e5, 1e3, 9)
    whole = path(one, grid, tol=1e-6)
    guide = Guide(one, whole.strengths, whole.solutions)
    part = problem(rl.losses.Hinge(), np.where(np.arange(N) < share * N, 1.0, 0.0))
    coef, _, slopes = guide.lent(part, 0)
    np.testing.assert_allclose(coef, whole[0].coef * share)
    np.testing.assert_allclose(slopes * one.direction, whole[0].dual.sample)
    coef, intercept, slopes = guide.lent(part, 6)
    here = one.with_penalty(Ridge(float(grid[6]) / share))
    best = rl.solve(here, tol=1e-8).certificate.primal
    assert here.objective(coef, intercept) <= best * (1 + 5e-3)
    assert (slopes <= 1e-12).all() and (slopes >= -1 - 1e-12).all()


def test_paths_know_what_balancing_costs(monkeypatch):
    """Where rows begin to meet their kink, few of them can balance the others."""
    rng = np.random.default_rng(0)
    n, d = 20_000, 30
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + 0.5 * np.sqrt(d) * rng.standard_normal(n) > 0, 1, -1)
    weight = np.ones(n)
    one = rl.Problem(X, y, rl.losses.Hinge(), Ridge(1.0), sample_weight=weight)
    grid = default_strengths(one, 30)
    whole = path(one, grid, tol=1e-3)
    guide = Guide(one, whole.strengths, whole.solutions)
    failed, original = [], Walk.mended

    def counted(self, answers, solutions):
        failed.extend(not_solved(solutions))
        return original(self, answers, solutions)

    monkeypatch.setattr(Walk, "mended", counted)
    for fold, (train, _) in enumerate(StratifiedKFold(5).split(X, y)):
        weight = np.zeros(n)
        weight[train] = 1.0
        part = one.with_sample_weight(weight)
        [found] = fold_paths([FoldJob(lambda part=part: part, grid, guide)], tol=1e-3)
        assert found.relative_gaps.max() <= 1e-3, fold
    assert guide.may_lend and not failed
