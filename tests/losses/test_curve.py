"""Curves: checks at construction, exactness at kinks, ends and far from zero."""

from __future__ import annotations

import numpy as np
import pytest

from rectiline.losses import PLQCurve, decompose

HINGE = PLQCurve([1.0], [0.0], [-1.0], [0.0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"knots": [1.0, 0.0, 3.0]}, r"knots\[0\]=1.0 is followed by knots\[1\]=0.0"),
        ({"knots": [0.0, 1.0, np.nan]}, r"knots\[2\] is NaN"),
        ({"curvature": [0.0, -1.0, 0.0, 0.0]}, r"curvature\[1\]=-1.0 is negative"),
        ({"left": [-1.0, 0.5, 1.0]}, r"knots\[1\]=1.0: the slope falls from 0.5 to 0.0"),
        ({"curvature": [0.0, 0.0, 2.0, 0.0]}, r"from 0.0 to 1.0, which curvature\[2\]=2.0 contra"),
        ({"values": [1.0, 1.0, 2.0]}, "the value goes from 1.0 to 2.0, which the slopes 0.0 and"),
        ({"values": [1.0, 1.0]}, r"have \[3, 2, 3, 3\] entries"),
        ({"curvature": [0.0, 0.0, 0.0]}, "curvature has 3"),
    ],
)
def test_refuses_what_is_not_a_convex_curve(change, message):
    good = {
        "knots": [0.0, 1.0, 2.0],
        "values": [1.0, 1.0, 1.5],
        "left": [-1.0, 0.0, 1.0],
        "right": [0.0, 0.0, 2.0],
        "curvature": [0.0, 0.0, 1.0, 0.0],
    }
    PLQCurve(**good)
    with pytest.raises(ValueError, match=message):
        PLQCurve(**(good | change))


def test_needs_a_knot():
    with pytest.raises(ValueError, match="K >= 1"):
        PLQCurve([], [], [], [], [1.0])


def test_conjugate_is_exact_at_kinks_flats_and_ends():
    np.testing.assert_array_equal(HINGE.conjugate([-1.0, -0.25, 0.0]), [-1.0, -0.25, 0.0])
    flat = PLQCurve([-2.0, 3.0], [0.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(flat.conjugate([-1, -0.5, 0, 0.5, 1]), [2, 1, 0, 1.5, 3])
    assert flat.conjugate(1.0000001) == np.inf


def test_a_linear_curve_has_a_conjugate_but_no_minimum():
    line = PLQCurve([2.0], [5.0], [3.0], [3.0], [0.0, 0.0])
    assert line.conjugate(3.0) == 1.0
    assert line.prox(10.0, 0.5) == 8.5
    with pytest.raises(ValueError, match=r"left of knots\[0\]=2.0 .*slope 3.0 left"):
        line.minimum()
    with pytest.raises(ValueError, match="Unbounded below"):
        decompose(line)
    falling = PLQCurve([2.0, 3.0], [5.0, 4.0], [-3.0, -1.0], [-1.0, -0.5], [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"right of knots\[1\]=3.0 .* -1.0 left .* -0.5 right"):
        falling.minimum()


def test_prox_with_no_step_stays():
    w = np.array([-1.3, 1.0, 7.1])
    np.testing.assert_array_equal(HINGE.prox(w, 0.0), w)
    np.testing.assert_array_equal(HINGE.prox(w, [0.0, 1.0, 2.0]), w)
    for step in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="step must be finite and >= 0"):
            HINGE.prox(w, step)


def test_canonical_adds_the_minimiser_and_drops_idle_knots():
    # (t - 1)^2 / 2 with two knots where nothing happens
    curve = PLQCurve([3.0, 4.0], [2.0, 4.5], [2.0, 3.0], [2.0, 3.0], [1.0, 1.0, 1.0])
    assert curve.minimum() == (1.0, 0.0)
    canonical = curve.canonical()
    assert canonical == PLQCurve([1.0], [0.0], [0.0], [0.0], [1.0, 1.0])
    assert decompose(curve) == decompose(canonical)
    assert decompose(curve).n_rehu == 2
    for mirrored in (PLQCurve([-3.0], [2.0], [-2.0], [-2.0], [1.0, 1.0]),):
        assert mirrored.canonical().knots.tolist() == [-1.0]
    inside = PLQCurve([0.0, 4.0], [2.0, 2.0], [-2.0, 2.0], [-2.0, 2.0], [0.0, 1.0, 0.0])
    assert inside.canonical().knots.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("delta", [1e-8, 0.3, 1234567.89, 1e9])
def test_nothing_cancels_near_the_minimum_of_a_wide_huber(delta):
    curve = PLQCurve.from_pieces(
        [-delta, delta],
        [(0, -delta, -(delta**2) / 2), (0.5, 0, 0), (0, delta, -(delta**2) / 2)],
    )
    t = delta * np.array([-0.99, -1e-3, -1e-9, 1e-12, 1e-4, 0.5])
    np.testing.assert_allclose(curve.value(t), 0.5 * t**2, rtol=1e-14)
    np.testing.assert_allclose(curve.conjugate(t), 0.5 * t**2, rtol=1e-14)
    np.testing.assert_allclose(curve.prox(t, 1.0), t / 2, rtol=1e-14)


@pytest.mark.parametrize("shift", [1e6, -1e6, 1e9])
def test_far_from_zero_a_unit_curve_is_as_good_as_its_knots(shift):
    # A hinge and a parabola of width 1 at the far knot, exactly representable.
    curve = PLQCurve.from_pieces(
        [shift, shift + 1], [(0, -1, shift), (0, 0, 0), (0, 2, -2 * (shift + 1))]
    )
    e = np.array([-3.0, -0.5, 0.0, 0.25, 1.0, 2.5])
    expected = np.where(e < 0, -e, np.where(e > 1, 2 * (e - 1), 0.0))
    np.testing.assert_array_equal(curve.value(shift + e), expected)
    np.testing.assert_array_equal(curve.prox(shift + e, 0.25), shift + curve0().prox(e, 0.25))


def curve0():
    return PLQCurve.from_pieces([0, 1], [(0, -1, 0), (0, 0, 0), (0, 2, -2)])


def test_values_at_the_knots_are_the_values():
    rng = np.random.default_rng(0)
    knots = np.cumsum(rng.uniform(0.1, 1, 9)) + 1000.1
    curve = PLQCurve.from_pieces(knots, _random_convex(knots, rng))
    np.testing.assert_array_equal(curve.value(curve.knots), curve.values)
    low, high = curve.derivative(curve.knots)
    np.testing.assert_array_equal([low, high], [curve.left, curve.right])


def _random_convex(knots, rng):
    centre = knots.mean()
    rows = [np.array([0.0, 0.0, 0.0])]
    for knot in knots:
        u = rng.uniform(0.1, 1)
        rows.append(rows[-1] + np.array([0.0, u, -u * knot]))
    return np.array(rows) + np.array([0.5, -centre, 0.5 * centre**2])


def test_many_knots_are_fast_and_right():
    knots = np.arange(2001.0) - 1000
    curve = PLQCurve(
        knots, knots**2, 2 * knots - 1, 2 * knots + 1, np.zeros(2002)
    )  # the lines through the points of a parabola
    w = np.linspace(-900, 900, 5001)
    step = np.linspace(0.1, 2.0, 5001)
    t = curve.prox(w, step)
    low, high = curve.derivative(t)
    slope = (w - t) / step
    assert ((low - 1e-9 <= slope) & (slope <= high + 1e-9)).all()
    assert decompose(curve).n_relu == 2002  # the kink at the minimiser is two units
