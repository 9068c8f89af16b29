"""The search over the spectrum: two algorithms, brute force, ties, and every end of the scale."""

import numpy as np
import pytest
from reference_methods.weights_by_medians import weights_by_medians

from rectiline.penalties._shared_subspace import weights_by_sorting

BOTH = pytest.mark.parametrize("search", [weights_by_sorting, weights_by_medians])


def instances(count, seed=0):
    rng = np.random.default_rng(seed)
    for k in range(count):
        q = int(rng.integers(1, 30))
        kind = k % 6
        s = rng.exponential(size=q) * 10.0 ** rng.uniform(-6, 6)
        if kind == 1:
            s = np.round(s / s.max() * 3) + 1.0  # many ties
        elif kind == 2:
            s[rng.random(q) < 0.5] = 0.0  # rank below q, often below h
        elif kind == 3:
            s = s.max() * 0.1 ** np.arange(q)  # fast decay: often tight
        elif kind == 4:
            s[:] = s[0]
        h = q if kind == 5 else int(rng.integers(1, q + 1))
        yield s, 10.0 ** rng.uniform(-4, 2), h


def check_optimal(s, eta, h, g):
    assert g.shape == s.shape
    assert (g >= 0).all() and (g <= 1).all()
    assert g.sum() <= h * (1 + 1e-12)
    positive = s > 0
    if positive.sum() <= h:
        assert (g[positive] == 1).all()
        return
    assert g.sum() == pytest.approx(h, rel=1e-11)
    # One multiplier: s/(eta+g) is the same inside, no larger at 0, no smaller at 1.
    level = s / (eta + g)
    inside = (g > 1e-9) & (g < 1 - 1e-9)
    low = level[g <= 1e-9].max(initial=0.0)
    high = level[g >= 1 - 1e-9].min(initial=np.inf)
    assert low <= high * (1 + 1e-6)
    if inside.any():
        assert np.ptp(level[inside]) <= 1e-9 * level[inside].max()
        assert low <= level[inside].max() * (1 + 1e-6)
        assert high >= level[inside].min() * (1 - 1e-6)


@BOTH
def test_conditions_hold_on_thousands_of_instances(search):
    for s, eta, h in instances(3000):
        check_optimal(s, eta, h, search(s, eta, h))


def test_both_searches_agree_on_thousands_of_instances():
    for s, eta, h in instances(4000, seed=1):
        one, other = weights_by_sorting(s, eta, h), weights_by_medians(s, eta, h)
        # A tie at the edge of the budget may be shared out with rounding only.
        np.testing.assert_allclose(one, other, atol=1e-9 * (1 + eta))


@BOTH
def test_order_and_unit_do_not_matter(search):
    rng = np.random.default_rng(3)
    s = rng.exponential(size=20)
    g = search(s, 0.3, 4)
    order = rng.permutation(20)
    np.testing.assert_allclose(search(s[order], 0.3, 4), g[order], atol=1e-14)
    for unit in (1e-200, 1e150):
        np.testing.assert_allclose(search(unit * s, 0.3, 4), g, atol=1e-13)


@BOTH
def test_ends_of_the_scale(search):
    s = np.array([5.0, 4.0, 3.0])
    np.testing.assert_array_equal(search(s, 0.1, 3), 1.0)
    np.testing.assert_array_equal(search(s, 0.1, 7), 1.0)
    np.testing.assert_array_equal(search(np.zeros(3), 0.1, 1), 0.0)
    np.testing.assert_allclose(search(np.full(4, 2.0), 0.1, 2), 0.5)
    # A spread of 1 + 1/eta makes the relaxation tight.
    np.testing.assert_array_equal(search(np.array([11.0, 1.0, 0.5]), 0.1, 1), [1.0, 0.0, 0.0])


def test_a_grid_finds_nothing_better():
    s, eta = np.array([2.0, 1.5, 0.7]), 0.4
    g = weights_by_sorting(s, eta, 1)
    best = np.sum(s**2 / (eta + g))
    grid = np.linspace(0, 1, 101)
    for a in grid:
        for b in grid[grid <= 1 - a + 1e-12]:
            other = np.array([a, b, max(1 - a - b, 0.0)])
            assert best <= np.sum(s**2 / (eta + other)) + 1e-12
