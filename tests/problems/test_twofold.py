"""Twofold products and bounds on row sums, against exact rational arithmetic."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from exact import ExactCurve, rational
from scipy import sparse as sp

from rectiline import Problem, _core
from rectiline.backends import as_design
from rectiline.losses import (
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    ModifiedHuber,
    Pinball,
    SmoothedHinge,
    SquaredError,
    SquaredHinge,
)

STORAGES = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def spread(rng, shape):
    """Numbers of very different size, some of them zero."""
    values = rng.normal(size=shape) * 10.0 ** rng.uniform(-8, 8, size=shape)
    values[rng.random(shape) < 0.2] = 0.0
    return values


def exact_dot(x, y):
    return sum(
        (Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y, strict=True)), Fraction(0)
    )


def check(found, X, vector):
    hi, lo, error, size = found
    for k, row in enumerate(X):
        exact = exact_dot(row, vector)
        assert abs(Fraction(hi[k]) + Fraction(lo[k]) - exact) <= Fraction(error[k])
        assert error[k] <= 1e-28 * size[k]
        assert abs(lo[k]) <= 2.0**-53 * abs(hi[k])
        assert size[k] == pytest.approx(np.abs(np.float64(row)) @ np.abs(vector), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", STORAGES)
def test_products_are_exact_to_twice_the_precision(storage, dtype):
    rng = np.random.default_rng(3)
    X = spread(rng, (23, 19)).astype(dtype)
    view = as_design(STORAGES[storage](X)).view
    b, g = spread(rng, 19), spread(rng, 23)
    check(_core.twofold_dot(view, b), X, b)
    check(_core.twofold_tdot(view, g), X.T, g)


def test_exact_operations_have_no_error():
    X = np.arange(12.0).reshape(4, 3)
    hi, lo, error, _ = _core.twofold_dot(as_design(X).view, np.array([1.0, 2.0, -4.0]))
    assert hi.tolist() == (X @ [1.0, 2.0, -4.0]).tolist()
    assert not lo.any()
    assert error.max() < 1e-300
    assert _core.twofold_sum(np.array([1e100, 1.0, -1e100]))[0] == 1.0


def test_overflow_is_infinite_not_undefined():
    X = np.array([[1e300, -1e300]])
    _, _, error, _ = _core.twofold_dot(as_design(X).view, np.array([1e300, 1e300]))
    assert error[0] == np.inf


LOSSES = [
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(0.3),
    ModifiedHuber(),
    Absolute(),
    EpsilonInsensitive(0.3),
    Pinball(0.9),
    Huber(0.7),
    SquaredError(),
    Expectile(0.3),
]


def exact_term(curve, t, s):
    """``phi(t) + phi*(s) - s t`` as the integral of the slope minus s from where it is s to t."""
    stops = sorted({*curve.knots, t})
    touching = [k for k in curve.knots if curve.slope(k)[0] <= s <= curve.slope(k)[1]]
    if not touching:
        for k in range(len(curve.curvature)):
            if curve.curvature[k] > 0:
                base = curve.knots[max(k - 1, 0)]
                slope = curve.right[k - 1] if k else curve.left[0]
                place = base + (s - slope) / curve.curvature[k]
                inside = (k == 0 or place >= curve.knots[k - 1]) and (
                    k == len(curve.knots) or place <= curve.knots[k]
                )
                touching += [place] if inside else []
    assert touching
    start = touching[0]
    low, high = min(start, t), max(start, t)
    stops = [low, *(k for k in curve.knots if low < k < high), high]
    total = Fraction(0)
    for a, b in itertools.pairwise(stops):
        total += (b - a) * ((curve.slope(a)[1] + curve.slope(b)[0]) / 2 - s)
    return abs(total)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_upper_sums_hold_for_every_argument_within_its_radius(loss, weighted):
    rng = np.random.default_rng(11)
    n = 24
    margin = loss.of == "margin"
    y = rng.choice([-1.0, 1.0], n) if margin else rng.normal(size=n)
    weight = 10.0 ** rng.uniform(-3, 3, n) if weighted else np.ones(n)
    problem = Problem(np.ones((n, 1)), y, loss=loss, sample_weight=weight)
    rows, curve = problem.rows, ExactCurve(loss.curve)
    knots = np.asarray(loss.curve.knots)
    argument = rng.normal(size=n)
    argument[::3] = rng.choice(knots, argument[::3].size)  # kinks, where rounding matters
    radius = 10.0 ** rng.uniform(-17, -9, n)
    g = rng.normal(size=n) * weight
    rows.clip(g)
    move = 1e-12 * np.abs(g)
    for share, by in ((1.0, None), (0.75, None), (1.0, move)):
        moves = None if by is None else (np.arange(n), by)
        value, error, gap, upper = _core.row_terms(rows, argument, radius, g, share, moves)
        assert gap <= upper < np.inf
        for side in (-1.0, 0.0, 1.0):
            loss_sum, gap_sum = Fraction(0), Fraction(0)
            for i in range(n):
                t = rational(argument[i]) + rational(side) * rational(radius[i])
                w, turn = rational(weight[i]), rational(problem.direction[i])
                s = rational(share) * turn * rational(g[i]) / w
                low, high = curve.slope(t - 10**9)[0], curve.slope(t + 10**9)[1]
                assert low <= s <= high  # exactly inside its box
                if by is not None:
                    s = min(max(s + rational(side) * rational(by[i]) / w, low), high)
                loss_sum += w * curve(t)
                gap_sum += w * exact_term(curve, t, s)
            assert abs(loss_sum - rational(value)) <= rational(error)
            assert gap_sum <= rational(upper)
        if by is None:
            assert upper <= gap + 1e-6 * np.sum(weight)


def test_a_row_inside_its_box_takes_what_an_intercept_leaves():
    X, g, one = as_design(np.diag([1.0, 2.0, 3.0, -4.0])).view, [1.0, -1.0, 0.99, 0.2], np.ones(4)
    for left, row in ((0.001, 2), (0.1, 3)):
        rows, by, q = _core.exact_moves(X, None, True, np.array(g), -one, one, np.array([left]))
        assert rows.tolist() == [row] and by.tolist() == [left]
        np.testing.assert_allclose(q, left * (row + 1.0) * (np.arange(4) == row))
    assert _core.exact_moves(X, None, True, np.array(g), -one, one, np.array([0.3])) is None
