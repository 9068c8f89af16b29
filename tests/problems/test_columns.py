"""Column functions ``rho/2 b^2 + l1 |b|`` on an interval, against a fine grid."""

import itertools

import numpy as np
import pytest

from rectiline.problems._columns import Columns

INTERVALS = [(-np.inf, np.inf), (0, np.inf), (-np.inf, 0.5), (-1, 2), (0.5, 3), (1, 1), (-2, -1)]
KINDS = list(itertools.product([0.0, 0.7], [0.0, 0.4], INTERVALS))


def one_column(rho, l1, lower, upper):
    return Columns(*(np.array([float(v)]) for v in (rho, l1, lower, upper)))


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
            found = columns.fenchel_young(np.array([b]), np.array([q]))[0]
            assert found >= 0
            assert found == pytest.approx(value + conjugate - q * b, abs=1e-5)


@pytest.mark.parametrize(("rho", "l1", "bounds"), KINDS)
def test_the_minimiser_closes_the_gap(rho, l1, bounds):
    columns = one_column(rho, l1, *bounds)
    for q in slopes(columns):
        best = columns.minimiser(np.array([q]))
        assert bounds[0] <= best[0] <= bounds[1]
        assert columns.fenchel_young(best, np.array([q]))[0] == pytest.approx(0.0, abs=1e-15)


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
