"""Several quantiles: shapes, scores, intervals, no crossing, shared slopes, expectiles."""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.metrics import d2_pinball_score

from rectiline.estimators import QuantileRegressor, _non_crossing
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.losses import Expectile

LEVELS = [0.5, 0.05, 0.1, 0.3, 0.7, 0.9, 0.95]  # not in order on purpose


@pytest.fixture(scope="module")
def crossing():
    """Few samples and many columns, so that separate quantiles cross."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (60, 4))
    y = X[:, 0] + (1.2 + X[:, 1]) * rng.standard_normal(60)
    return X, y


def smallest_step(model, X, seed=0):
    rng = np.random.default_rng(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    points = low + (high - low) * rng.choice([0.0, 1.0, 0.5, 0.25], size=(4000, X.shape[1]))
    predicted = model.predict(points)[:, np.argsort(model.quantiles_)]
    return np.diff(predicted, axis=1).min()


def test_separate_quantiles_cross_here(crossing):
    X, y = crossing
    model = QuantileRegressor(quantile=LEVELS, alpha=0).fit(X, y)
    assert model.coef_.shape == (7, 4) and model.predict(X).shape == (60, 7)
    assert smallest_step(model, X) < -0.1


@pytest.mark.parametrize("loss", ["pinball", "expectile"])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.0, 1.0), (0.01, 1.0), (0.01, 0.0)])
def test_non_crossing_holds_on_the_whole_box(crossing, loss, alpha, l1_ratio):
    X, y = crossing
    model = QuantileRegressor(
        quantile=LEVELS, alpha=alpha, l1_ratio=l1_ratio, loss=loss, non_crossing="box"
    ).fit(X, y)
    assert smallest_step(model, X) >= -1e-12
    assert model.certificate_.relative_gap <= 1e-8 and model.certificate_.relative_violation <= 1e-9


@pytest.mark.parametrize("loss", ["pinball", "expectile"])
@pytest.mark.parametrize("region", [True, "box"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_non_crossing_agrees_with_the_problem_of_all_rows(crossing, loss, region, make):
    X, y = crossing
    points = X
    if region == "box":
        points = np.array(list(product(*zip(X.min(axis=0), X.max(axis=0), strict=True))))
    model = QuantileRegressor(quantile=LEVELS, alpha=0.01, loss=loss, non_crossing=region)
    model.fit(make(X), y)
    up = np.argsort(LEVELS)
    coef, intercept = model.coef_[up], model.intercept_[up]
    assert np.diff(points @ coef.T + intercept, axis=1).min() >= 0
    assert sum(one.shape[0] for one in model._points) < 6 * len(points)  # some, not all
    b, b0 = cp.Variable((7, 4)), cp.Variable(7)
    total, within = 0.01 * cp.sum(cp.abs(b)), []
    for k, q in enumerate(np.sort(LEVELS)):
        left = y - X @ b[k] - b0[k]
        if loss == "pinball":
            total += cp.sum(cp.maximum(q * left, (q - 1) * left)) / 60
        else:
            squares = q * cp.square(cp.pos(left)) + (1 - q) * cp.square(cp.neg(left))
            total += cp.sum(squares) * (Expectile(q).value(1.0, 0.0) / q) / 60
        if k:
            within.append(points @ (b[k] - b[k - 1]) + b0[k] - b0[k - 1] >= 0)
    best = cp.Problem(cp.Minimize(total), within).solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certificate_.violation == 0 and model.certificate_.relative_gap <= 1e-8
    assert model.verify(make(X), y).relative_gap <= 1e-8
    assert model.dual_coef_.shape == (7, 60)


def test_only_quantiles_that_cross_become_one_problem(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 8))
    y = X @ rng.standard_normal(8) + rng.standard_t(4, 600)
    levels = np.linspace(0.1, 0.9, 9).tolist()
    free = QuantileRegressor(quantile=levels, alpha=0).fit(X, y)
    crossed = np.flatnonzero((np.diff(free.predict(X), axis=1) < 0).any(axis=0))
    assert 0 < crossed.size < 8  # otherwise the test shows nothing
    sizes, build = [], StackedQuantiles.problem

    def noted(self, *given):
        sizes.append(self.m)
        return build(self, *given)

    monkeypatch.setattr(StackedQuantiles, "problem", noted)
    model = QuantileRegressor(quantile=levels, alpha=0, non_crossing=True).fit(X, y)
    assert sizes and max(sizes) < 9
    assert np.diff(model.predict(X), axis=1).min() >= -1e-13
    alone = [k for k in range(9) if not {k - 1, k} & set(crossed.tolist())]
    for k in alone:
        if not any(one.shape[0] for one in model._points[max(k - 1, 0) : k + 1]):
            np.testing.assert_array_equal(model.coef_[k], free.coef_[k])
    proof = model.verify(X, y)
    assert proof.primal == pytest.approx(model.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("roots", [0.05, 2.0])  # of few samples near a quantile some cross it
@pytest.mark.parametrize("alpha", [0.0, 0.003])
@pytest.mark.parametrize("level", [0.0, 1e5])  # a linear term that is large beside the optimum
def test_samples_frozen_on_their_side_change_no_answer(monkeypatch, roots, alpha, level):
    monkeypatch.setattr(_non_crossing, "_NEAR_ROOTS", roots)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((800, 3))
    weight = rng.uniform(0.5, 2.0, 800)
    y = level + X.sum(axis=1) + np.exp(0.5 * X[:, 0]) * rng.standard_normal(800)
    levels, frozen, build = [0.2, 0.5, 0.6, 0.7, 0.9], [], StackedQuantiles.problem

    def noted(self, *given):
        frozen.append(self.frozen is not None)
        return build(self, *given)

    monkeypatch.setattr(StackedQuantiles, "problem", noted)
    model = QuantileRegressor(quantile=levels, alpha=alpha, non_crossing=True, tol=1e-8)
    model.fit(X, y, sample_weight=weight)
    assert any(frozen) and model.status_ == "solved"
    assert np.diff(model.predict(X), axis=1).min() >= 0
    b, b0 = cp.Variable((5, 3)), cp.Variable(5)
    total, within = alpha * cp.sum(cp.abs(b)), []
    for k, q in enumerate(levels):
        left = y - level - X @ b[k] - b0[k]
        total += cp.sum(cp.multiply(weight, cp.maximum(q * left, (q - 1) * left))) / weight.sum()
        if k:
            within.append(X @ (b[k] - b[k - 1]) + b0[k] - b0[k - 1] >= 0)
    best = cp.Problem(cp.Minimize(total), within).solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certificate_.relative_gap <= 1e-8
    assert model.verify(X, y, sample_weight=weight).relative_gap <= 1e-8


def test_rows_without_weight_may_cross(crossing):
    X, y = crossing
    rng = np.random.default_rng(0)
    more = np.vstack([X, rng.uniform(-9, 9, (40, 4))])
    weight = np.repeat([1.0, 0.0], [60, 40])
    model = QuantileRegressor(quantile=LEVELS, alpha=0, non_crossing=True)
    held = QuantileRegressor(quantile=LEVELS, alpha=0, non_crossing=True).fit(X, y)
    model.fit(more, np.append(y, np.zeros(40)), sample_weight=weight)
    np.testing.assert_allclose(model.coef_, held.coef_, atol=1e-6)


def test_a_violation_anywhere_is_part_of_the_certificate(crossing):
    X, y = crossing
    model = QuantileRegressor(quantile=LEVELS, alpha=0, non_crossing=True).fit(X, y)
    model.intercept_[np.argmax(model.quantiles_)] -= 50.0
    assert model.verify(X, y).violation > 10


def test_non_crossing_changes_nothing_where_nothing_crosses():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (400, 2))
    y = X[:, 0] + (0.5 + X[:, 1]) * rng.standard_normal(400)
    levels = [0.25, 0.5, 0.75]
    free = QuantileRegressor(quantile=levels, alpha=0).fit(X, y)
    joint = QuantileRegressor(quantile=levels, alpha=0, non_crossing=True).fit(X, y)
    np.testing.assert_allclose(joint.coef_, free.coef_, atol=1e-5)
    np.testing.assert_allclose(joint.intercept_, free.intercept_, atol=1e-5)


def test_sparse_and_constant_columns(crossing):
    X, y = crossing
    wide = sparse.csr_array(np.column_stack([X, np.zeros(60), np.ones(60)]))
    model = QuantileRegressor(quantile=[0.2, 0.8], alpha=0.01, non_crossing=True).fit(wide, y)
    dense = QuantileRegressor(quantile=[0.2, 0.8], alpha=0.01, non_crossing=True)
    dense.fit(wide.toarray(), y)
    np.testing.assert_allclose(model.predict(wide), dense.predict(wide.toarray()), atol=1e-5)


def test_shared_slopes(crossing):
    X, y = crossing
    model = QuantileRegressor(quantile=LEVELS, alpha=0.001, shared_slopes=True).fit(X, y)
    assert np.ptp(model.coef_, axis=0).max() == 0
    assert smallest_step(model, X) >= 0
    left = y - X @ model.coef_[0]
    for level, intercept in zip(model.quantiles_, model.intercept_, strict=True):
        assert np.mean(left < intercept - 1e-9) <= level <= np.mean(left <= intercept + 1e-9)


def test_expectile_of_a_half_is_least_squares(crossing):
    X, y = crossing
    model = QuantileRegressor(quantile=0.5, alpha=0, loss="expectile").fit(X, y)
    expected = np.linalg.lstsq(np.column_stack([X, np.ones(60)]), y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_, expected[:4], atol=1e-8)
    assert Expectile(0.5).value(2.0, 0.0) == 1.0


def test_intervals_and_scores(crossing):
    X, y = crossing
    model = QuantileRegressor(quantile=LEVELS, alpha=0.01).fit(X, y)
    ends = model.predict_interval(X, coverage=0.9)
    assert (ends[:, 0] <= ends[:, 1]).all() and np.mean(
        (y >= ends[:, 0]) & (y <= ends[:, 1])
    ) >= 0.8
    with pytest.raises(ValueError, match="fitted are"):
        model.predict_interval(X, coverage=0.5)
    one = QuantileRegressor(quantile=0.9, alpha=0.01).fit(X, y)
    assert one.pinball_score(X, y) == pytest.approx(
        d2_pinball_score(y, one.predict(X), alpha=0.9), abs=1e-9
    )
    assert model.score(X, y) == model.pinball_score(X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("quantile", [0.3, [0.3]])
def test_score_is_the_share_of_the_pinball_loss_for_one_quantile_too(quantile, weighted):
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0, 2, y.size) if weighted else None
    model = QuantileRegressor(quantile=quantile, alpha=0.01).fit(X, y)

    def loss(z):
        return np.average(np.maximum(0.3 * (y - z), -0.7 * (y - z)), weights=weight)

    expected = 1 - loss(model.predict(X).ravel()) / min(loss(c) for c in y)
    assert model.score(X, y, weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("quantile", [0.0, 1.2, [], [0.1, 0.1], [[0.1, 0.2]], [0.5, 1.0]])
def test_wrong_quantiles(crossing, quantile):
    with pytest.raises(ValueError, match="quantile"):
        QuantileRegressor(quantile=quantile).fit(*crossing)
