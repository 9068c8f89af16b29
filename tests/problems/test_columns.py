"""Column functions ``rho/2 b^2 + l1 |b|`` on an interval, against a fine grid."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from rectiline import _core
from rectiline.problems._terms import Columns

INTERVALS = [(-np.inf, np.inf), (0, np.inf), (-np.inf, 0.5), (-1, 2), (0.5, 3), (1, 1), (-2, -1)]
KINDS = list(itertools.product([0.0, 0.7], [0.0, 0.4], INTERVALS))


def one_column(rho, l1, lower, upper):
    return Columns(*(np.array([float(v)]) for v in (rho, l1, lower, upper)))


def gap_of(columns, b, q):
    point = (np.array([float(one)]) for one in (b, q, 0.0))
    return _core.column_bounds(columns.core, *point)[2]


def grid(lower, upper):
    return np.union1d(
        np.linspace(max(lower, -30.0), min(upper, 30.0), 20_001), np.clip(0, lower, upper)
    )


def slopes(columns):
    low, high = (float(end[0]) for end in columns.dual_range)
    return [q for q in (-2.0, -0.4, -0.1, 0.0, 0.2, 0.4, 1.5) if low <= q <= high]


@pytest.mark.parametrize(("rho", "l1", "bounds"), KINDS)
def test_fenchel_young_is_value_plus_conjugate_minus_product(rho, l1, bounds):
    columns = one_column(rho, l1, *bounds)
    points = grid(*bounds)
    values = 0.5 * rho * points**2 + l1 * np.abs(points)
    for q in slopes(columns):
        conjugate = np.max(q * points - values)
        for b in np.clip([-3.0, -0.2, 0.0, 1.0, 2.5], *bounds):
            value = 0.5 * rho * b**2 + l1 * abs(b)
            assert columns.value(np.array([b])) == pytest.approx(value)
            found = gap_of(columns, b, q)
            assert found >= 0
            assert found == pytest.approx(value + conjugate - q * b, abs=1e-5)


@pytest.mark.parametrize(("rho", "l1", "bounds"), KINDS)
def test_some_point_of_the_interval_closes_the_gap(rho, l1, bounds):
    columns = one_column(rho, l1, *bounds)
    for q in slopes(columns):
        ends = [end for end in (*bounds, 0.0) if np.isfinite(end)]
        inside = (q - np.clip(q, -l1, l1)) / rho if rho else 0.0
        gaps = [gap_of(columns, b, q) for b in np.clip([*ends, inside], *bounds)]
        assert min(gaps) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(("rho", "l1", "bounds"), KINDS)
def test_outside_the_dual_range_the_conjugate_is_infinite(rho, l1, bounds):
    low, high = (float(end[0]) for end in one_column(rho, l1, *bounds).dual_range)
    far = 1e6
    for q, edge in ((high + 0.1, min(bounds[1], far)), (low - 0.1, max(bounds[0], -far))):
        if np.isfinite(q):
            assert q * edge - 0.5 * rho * edge**2 - l1 * abs(edge) > 1e4


def test_free_columns_are_those_without_any_cost():
    inf = np.inf
    columns = Columns(
        np.array([0.0, 1.0, 0.0, 0.0, 0.0]),
        np.array([0.0, 0.0, 1.0, 0.0, 0.0]),
        np.array([-inf, -inf, -inf, 0.0, -1.0]),
        np.array([inf, inf, inf, inf, 1.0]),
    )
    assert columns.free.tolist() == [True, False, False, False, False]
    assert not columns.strongly_convex


def exact_gap(rho, l1, lower, upper, b, q):
    """Return ``h(b) + h*(q) - q b`` in rationals, and ``h(b)``; q in the dual range."""

    def cost(b):
        return rho * b * b / 2 + l1 * abs(b)

    candidates = [one for one in (lower, upper, 0.0) if lower <= one <= upper]
    finite = [Fraction(one) for one in candidates if np.isfinite(one)]
    rho, l1, b, q = (Fraction(float(one)) for one in (rho, l1, b, q))
    if rho:
        shrunk = q - min(max(q, -l1), l1)
        inside = shrunk / rho
        inside = max(inside, Fraction(lower)) if np.isfinite(lower) else inside
        finite.append(min(inside, Fraction(upper)) if np.isfinite(upper) else inside)
    conjugate = max(q * one - cost(one) for one in finite)
    return cost(b) + conjugate - q * b, cost(b)


@pytest.mark.parametrize(("rho", "l1", "bounds"), KINDS)
def test_bounds_on_values_and_gaps_contain_the_exact_ones(rho, l1, bounds):
    """For every q within its error, also where nearly all digits of a gap cancel."""
    rng = np.random.default_rng(0)
    columns = one_column(rho, l1, *bounds)
    low, high = (float(end[0]) for end in columns.dual_range)
    for trial in range(100):
        b = float(np.clip(rng.normal() * 10.0 ** rng.integers(-6, 6), *bounds))
        q = float(np.clip(rng.normal() * 10.0 ** rng.integers(-6, 6), low, high))
        if trial % 2 and rho:  # nearly optimal
            q = float(np.clip(rho * b + l1 * np.sign(b) + 1e-13 * rng.normal(), low, high))
        error = abs(q) * 10.0 ** rng.integers(-17, -3) if trial % 3 else 0.0
        error = min(error, high - q, q - low)
        values = (np.array([one]) for one in (b, q, error))
        value, value_error, gap, upper = _core.column_bounds(columns.core, *values)
        exact, cost = exact_gap(rho, l1, *bounds, b, q)
        assert abs(Fraction(value) - cost) <= Fraction(value_error)
        assert Fraction(gap) <= Fraction(upper)
        for end in (q - error, q, q + error):
            if low <= end <= high:
                assert exact_gap(rho, l1, *bounds, b, end)[0] <= Fraction(upper)
        slack = 1e-9 * float(cost + exact + abs(Fraction(q) * Fraction(b)))
        assert gap == pytest.approx(float(exact), rel=1e-9, abs=slack)


@pytest.mark.parametrize(("rho", "l1", "bounds"), KINDS)
def test_the_share_brings_every_point_into_the_dual_range(rho, l1, bounds):
    rng = np.random.default_rng(1)
    columns = one_column(rho, l1, *bounds)
    low, high = (float(end[0]) for end in columns.dual_range)
    for _ in range(50):
        q = rng.normal() * 10.0 ** rng.integers(-2, 2)
        error = abs(rng.normal()) * 10.0 ** rng.integers(-17, 1)
        share = _core.dual_share(columns.core, np.array([q]), np.array([error]))
        assert 0.0 <= share <= 1.0
        for exact in (Fraction(q) - Fraction(error), Fraction(q) + Fraction(error)):
            moved = Fraction(share) * exact
            assert not np.isfinite(low) or moved >= Fraction(low)
            assert not np.isfinite(high) or moved <= Fraction(high)
        ends = [end / one for end, one in ((high, q + error), (low, q - error)) if one * end > 0]
        if min(l1, 1 - rho) > 0 or rho:  # nearly the largest one
            assert share >= min([1.0, *ends]) * (1 - 1e-12)
