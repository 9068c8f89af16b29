"""Rank intervals: R's numbers, a linear-programming oracle, and laws they obey."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import t as student

import rectiline as rl
from rectiline.estimators import QuantileRegressor
from rectiline.inference._rank import _Walks
from rectiline.inference._read_fit import read_fit

RNG = np.random.default_rng(11)


def sample(n, p, rng):
    X = rng.uniform(0, 2, (n, p))
    return X, X @ np.linspace(1.0, -1.0, p) + (0.5 + X[:, 0]) * rng.standard_normal(n)


def test_engel_as_r_prints_it():
    X, y = rl.datasets.load_engel(return_X_y=True)
    table = QuantileRegressor(quantile=0.5, alpha=0).fit(X, y).summary(X, y, level=0.9)
    assert table.kind == "rank" and np.isnan(table.std_error).all()
    np.testing.assert_allclose(table.interval[0], [53.25915, 114.01156], atol=6e-6)
    np.testing.assert_allclose(table.interval[1], [0.48702, 0.60199], atol=6e-6)
    assert "(intercept)   81.4822" in str(table)


class ScoreByLinearProgram:
    """T(b) from the dual linear program of the regression with coefficient j fixed at b."""

    def __init__(self, D, y, tau, j):
        self.D, self.y, self.tau, self.j = D, y, tau, j
        self.Z = np.delete(D, j, axis=1)
        slope = np.linalg.lstsq(self.Z, D[:, j], rcond=None)[0]
        rest = D[:, j] - self.Z @ slope
        self.size = np.sqrt(tau * (1 - tau) * rest @ rest)

    def __call__(self, b):
        side = (1 - self.tau) * self.Z.sum(axis=0)
        target = self.y - b * self.D[:, self.j]
        found = linprog(-target, A_eq=self.Z.T, b_eq=side, bounds=(0, 1), method="highs")
        return float(self.D[:, self.j] @ (found.x - (1 - self.tau))) / self.size

    def end(self, start, direction, cut):
        """The interpolated end of the interval, by bisection on places of jumps."""
        low, high = start, start + direction
        while abs(self(high)) <= cut:
            low, high = high, high + 2 * (high - start)
        last = self.bisect(low, high, lambda T: abs(T) > cut)
        before = self(last - direction * 1e-7)
        previous = self.bisect(start, last - direction * 1e-7, lambda T: abs(T - before) < 1e-7)
        after = self(last + direction * 1e-7)
        share = (cut - abs(before)) / (abs(after) - abs(before))
        return previous + share * (last - previous)

    def bisect(self, low, high, holds):
        for _ in range(36):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if holds(self(middle)) else (middle, high)
        return high


@pytest.mark.parametrize("tau", [0.5, 0.2])
def test_ends_against_linear_programs(tau):
    X, y = sample(60, 2, np.random.default_rng(5))
    model = QuantileRegressor(quantile=tau, alpha=0).fit(X, y)
    table = model.summary(X, y, kind="rank", level=0.9)
    D = np.column_stack([np.ones(60), X])
    cut = student.ppf(0.95, 57)
    for j in (0, 1):
        score = ScoreByLinearProgram(D, y, tau, j)
        for side, direction in enumerate((-1.0, 1.0)):
            expected = score.end(table.coef[j], direction, cut)
            np.testing.assert_allclose(table.interval[j, side], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_samples_near_the_plane_are_enough(level):
    X, y = sample(4000, 4, RNG)
    model = QuantileRegressor(quantile=0.3, alpha=0).fit(X, y)
    table = model.summary(X, y, kind="rank", level=level)
    walks = _Walks(read_fit(model, X, y), 0)
    assert not walks.near.keeps_all
    walks._keep(4000)
    assert walks.near.keeps_all
    fit = read_fit(model, X, y)
    cut = student.ppf(0.5 + 0.5 * level, 4000 - 5)
    until = cut * np.sqrt(0.3 * 0.7 / np.diag(np.linalg.inv(fit.gram)))
    np.testing.assert_allclose(walks.intervals(until), table.interval, rtol=1e-9)


@pytest.mark.parametrize("iid", [True, False])
def test_laws(iid):
    X, y = sample(150, 2, RNG)
    fitted = QuantileRegressor(quantile=0.4, alpha=0).fit(X, y)
    base = fitted.conf_int(X, y, "rank", iid=iid)
    coef = np.r_[fitted.intercept_, fitted.coef_]
    assert (base[:, 0] <= coef).all() and (coef <= base[:, 1]).all()
    scaled = (
        QuantileRegressor(quantile=0.4, alpha=0).fit(X, 10 * y).conf_int(X, 10 * y, "rank", iid=iid)
    )
    np.testing.assert_allclose(scaled, 10 * base, rtol=1e-6)
    moved = y + X @ [2.0, 3.0] - 1.0
    shifted = (
        QuantileRegressor(quantile=0.4, alpha=0).fit(X, moved).conf_int(X, moved, "rank", iid=iid)
    )
    np.testing.assert_allclose(shifted, base + np.array([[-1.0], [2.0], [3.0]]), rtol=1e-6)
    turned = QuantileRegressor(quantile=0.6, alpha=0).fit(X, -y).conf_int(X, -y, "rank", iid=iid)
    np.testing.assert_allclose(turned, -base[:, ::-1], rtol=1e-6)
    order = RNG.permutation(150)
    mixed = QuantileRegressor(quantile=0.4, alpha=0).fit(X[order], y[order])
    np.testing.assert_allclose(mixed.conf_int(X[order], y[order], "rank", iid=iid), base, rtol=1e-6)


@pytest.mark.parametrize("iid", [True, False])
def test_frequency_weights_are_copies_of_rows(iid):
    X, y = sample(120, 2, RNG)
    weight = RNG.integers(0, 4, 120).astype(float)
    copies = np.repeat(np.arange(120), weight.astype(int))
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, y, weight)
    weighted = model.conf_int(X, y, "rank", sample_weight=weight, iid=iid)
    model.fit(X[copies], y[copies])
    copied = model.conf_int(X[copies], y[copies], "rank", iid=iid)
    np.testing.assert_allclose(weighted, copied, rtol=1e-6)


def test_integer_data_with_many_ties():
    X = np.repeat(np.arange(5.0), 12)[:, None]
    y = np.round(2 * X[:, 0] + RNG.standard_normal(60) * 2)
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    interval = model.conf_int(X, y, "rank", level=0.9)
    assert np.isfinite(interval).all() and interval[1, 0] < 2.0 < interval[1, 1]


def test_few_samples_leave_the_interval_open():
    X, y = sample(6, 1, RNG)
    interval = QuantileRegressor(quantile=0.5, alpha=0).fit(X, y).conf_int(X, y, level=0.999)
    assert np.isinf(interval).any()


def test_defaults_follow_r():
    X, y = sample(1001, 1, RNG)
    model = QuantileRegressor(quantile=0.5, alpha=0)
    assert model.fit(X[:1000], y[:1000]).summary(X[:1000], y[:1000]).kind == "rank"
    assert model.fit(X, y).summary(X, y).kind == "nid"


def test_there_is_no_covariance():
    X, y = sample(50, 1, RNG)
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    with pytest.raises(ValueError, match="intervals and no covariance"):
        rl.inference.covariance(model, X, y, kind="rank")
