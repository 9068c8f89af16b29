"""The smallest strength with zeros only, against linear programs over all variables at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline.paths import largest_strength
from rectiline.penalties import L1, GroupLinf, Slope


def hinge_ranges(labels, weight):
    """The class with more weight is on the margin, so its multipliers are open."""
    larger = 1 if weight[labels == 1].sum() > weight[labels == -1].sum() else -1
    pull = -labels * weight
    ends = np.where(labels == larger, 0.0, pull), pull
    return np.minimum(*ends), np.maximum(*ends)


def whole_program(X, low, high, balanced, sides):
    """Minimise t over (t, extra, g) with rows from `sides(q)` for ``q = -X'g``, all at once."""
    m = len(low)
    size = float((high - low).max())
    if balanced:
        X = X - X.mean(axis=0)  # does not change X'g
    rows, n_extra = sides(-X.T * size)
    sums = np.concatenate([np.zeros(1 + n_extra), np.ones(m)])
    found = linprog(
        np.eye(1, 1 + n_extra + m)[0],
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=sums[None] if balanced else None,
        b_eq=[0.0] if balanced else None,
        bounds=[(0, None)]
        + [(None, None)] * n_extra
        + list(zip(low / size, high / size, strict=True)),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return found.fun


def l1_sides(costs):
    def sides(Q):
        t = -costs[:, None]
        return np.vstack([np.hstack([t, Q]), np.hstack([t, -Q])]), 0

    return sides


def group_sides(groups):
    """Size of each |q_j|, and their sum in each group, at most t."""

    def sides(Q):
        d, m = Q.shape
        eye, zero = -np.eye(d), np.zeros((d, 1))
        member = (groups == np.unique(groups)[:, None]).astype(float)
        total = np.hstack([-np.ones((len(member), 1)), member, np.zeros((len(member), m))])
        return np.vstack([np.hstack([zero, eye, Q]), np.hstack([zero, eye, -Q]), total]), d

    return sides


def slope_sides(strengths):
    """The sum of the k largest |q_j| is the least k s + sum_j max(|q_j| - s, 0)."""

    def sides(Q):
        d, m = Q.shape
        rows = []
        n_extra = d * (d + 1)  # for each k: s, and d excesses
        for k in range(d):
            first = k * (d + 1)
            for sign in (1.0, -1.0):
                part = np.zeros((d, 1 + n_extra + m))
                part[:, 1 + first] = -1.0
                part[np.arange(d), 2 + first + np.arange(d)] = -1.0
                part[:, 1 + n_extra :] = sign * Q
                rows.append(part)
            excess = np.zeros((d, 1 + n_extra + m))
            excess[np.arange(d), 2 + first + np.arange(d)] = -1.0
            total = np.zeros((1, 1 + n_extra + m))
            total[0, 0] = -strengths[: k + 1].sum()
            total[0, 1 + first] = k + 1.0
            total[0, 2 + first : 2 + first + d] = 1.0
            rows += [excess, total]
        return np.vstack(rows), n_extra

    return sides


def data(kind, n=300, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    labels = np.where(X[:, 0] + rng.normal(size=n) > 0.8, 1, -1)
    weight, costs = np.ones(n), np.ones(d)
    if kind == "raw columns":
        X = X * 10.0 ** rng.uniform(-2, 2, d) + rng.uniform(-3, 3, d)
    elif kind == "equal rows":
        X = X[rng.integers(0, n // 4, n)]
    elif kind == "few values":
        X = np.round(X)
    elif kind == "weights with zeros":
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    elif kind == "constant columns":
        X[:, 1], X[:, 4] = 0.0, 7.5
    elif kind == "equal columns":
        X[:, 3] = X[:, 1]
    elif kind == "costs of columns":
        costs = rng.uniform(0.2, 5.0, d)
    return X, labels, weight, costs


KINDS = [
    "plain",
    "raw columns",
    "equal rows",
    "few values",
    "weights with zeros",
    "constant columns",
    "equal columns",
    "costs of columns",
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_unbalanced_classes(kind, seed):
    X, labels, weight, costs = data(kind, seed=seed)
    one = rl.Problem(X, labels, rl.losses.Hinge(), L1(1.0, costs), sample_weight=weight)
    low, high = hinge_ranges(labels, weight)
    expected = whole_program(X, low, high, True, l1_sides(costs))
    assert largest_strength(one) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_intercept(kind):
    """Targets that are exactly zero leave their multipliers open."""
    X, labels, weight, costs = data(kind, seed=3)
    y = np.where(labels == 1, 0.0, np.round(X[:, 0], 1) + 0.05)
    loss = rl.losses.Pinball(0.3)
    one = rl.Problem(X, y, loss, L1(1.0, costs), sample_weight=weight, fit_intercept=False)
    low = weight * np.where(y > 0, -0.3, np.where(y < 0, 0.7, -0.3))
    high = weight * np.where(y > 0, -0.3, np.where(y < 0, 0.7, 0.7))
    expected = whole_program(X, low, high, False, l1_sides(costs))
    assert largest_strength(one) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["plain", "few values", "weights with zeros"])
def test_groups(kind, seed):
    X, labels, weight, _ = data(kind, n=120, seed=seed)
    groups = np.array([0, 0, 1, 1, 1, 2, 3, 3])
    one = rl.Problem(X, labels, rl.losses.Hinge(), GroupLinf(1.0, groups), sample_weight=weight)
    low, high = hinge_ranges(labels, weight)
    expected = whole_program(X, low, high, True, group_sides(groups))
    assert largest_strength(one) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["plain", "few values", "weights with zeros"])
def test_slope(kind, seed):
    X, labels, weight, _ = data(kind, n=60, d=5, seed=seed)
    strengths = np.array([3.0, 2.5, 1.5, 1.5, 1.0])
    one = rl.Problem(X, labels, rl.losses.Hinge(), Slope(strengths), sample_weight=weight)
    low, high = hinge_ranges(labels, weight)
    expected = strengths[0] * whole_program(X, low, high, True, slope_sides(strengths))
    assert largest_strength(one) == pytest.approx(expected, rel=1e-8)


def test_sparse_and_single_precision_designs_agree_with_dense_ones():
    X, labels, _, _ = data("few values")
    expected = largest_strength(rl.Problem(X, labels, rl.losses.Hinge(), L1(1.0)))
    for same in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X, dtype=np.float32)):
        one = rl.Problem(same, labels, rl.losses.Hinge(), L1(1.0))
        assert largest_strength(one) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(2000, 30), (6000, 30), (400, 300), (40, 300)])
def test_zeros_are_the_solution_there_and_not_below(n, d):
    X, labels, _, _ = data("plain", n=n, d=d)
    one = rl.Problem(X, labels, rl.losses.Hinge(), L1(1.0))
    strength = largest_strength(one)
    coef = rl.solve(one.with_penalty(L1(1.001 * strength)), tol=1e-9).coef
    assert np.abs(coef).max() <= 1e-6
    coef = rl.solve(one.with_penalty(L1(0.98 * strength)), tol=1e-9).coef
    assert np.abs(coef).max() > 1e-6
