"""PiecewiseLQ: three ways to write one, and errors that name the knot."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rectiline.losses import Absolute, Hinge, Huber, PiecewiseLQ, SquaredError, get

T = np.linspace(-6, 6, 601)


def value(loss, t=T):
    return loss.curve.value(t)


def units(loss):
    return loss.units.n_relu, loss.units.n_rehu


# --- the three constructors agree with the named losses ---------------------------------------


def test_knots_and_pieces():
    huber = PiecewiseLQ([-2, 2], [(0, -2, -2), (0.5, 0, 0), (0, 2, -2)])
    assert huber.curve == Huber(2.0).curve and huber.units == Huber(2.0).units
    assert huber != Huber(2.0) and huber == pickle.loads(pickle.dumps(huber))
    assert PiecewiseLQ([0], [(0.5, 0, 0), (0.5, 0, 0)]).curve == SquaredError().curve
    assert PiecewiseLQ([], [(0.5, 0, 0)]).curve == SquaredError().curve
    assert PiecewiseLQ([1], [(0, -1, 1), (0, 0, 0)], of="margin").units == Hinge().units


def test_maximum():
    assert PiecewiseLQ.maximum([(0, 1, 0), (0, -1, 0)]).curve == Absolute().curve
    # crossing twice: the parabola wins outside
    loss = PiecewiseLQ.maximum([(0, 0, 2), (0.5, 0, 0)])
    np.testing.assert_array_equal(loss.knots, [-2.0, 2.0])
    np.testing.assert_allclose(value(loss), np.maximum(2, 0.5 * T**2), rtol=1e-14)
    assert units(loss) == (2, 2)


def test_maximum_with_quadratics_that_never_win():
    loss = PiecewiseLQ.maximum(
        [(0, 1, 0), (0, 1, -1), (0, -1, 0), (0, -1, -0.5), (0, 0, -3), (0, 1, 0), (-1, 0, -1)]
    )
    assert loss.curve == Absolute().curve  # parallel, below, equal and concave ones are gone


def test_maximum_of_parallel_parabolas_and_of_one():
    assert PiecewiseLQ.maximum([(1, 2, 0), (1, 2, 3), (1, 2, -1)]).curve.knots.tolist() == [-1.0]
    shifted = PiecewiseLQ.maximum([(1, 2, 0), (1, -2, 0)])
    np.testing.assert_allclose(value(shifted), T**2 + 2 * np.abs(T), rtol=1e-14, atol=1e-15)
    assert units(shifted) == (2, 2)
    assert PiecewiseLQ.maximum([(0.5, 0, 0)]).curve == SquaredError().curve


def test_a_touching_line_adds_no_unit():
    for at in (1.0, 0.1, -3.3, 7e5):
        loss = PiecewiseLQ.maximum([(1, 0, 0), (0, 2 * at, -(at**2))])
        assert units(loss) == (0, 2)


def test_three_lines_through_one_point_make_one_knot():
    point, height = 0.3, 0.7
    lines = [(0.0, s, height - s * point) for s in (-1.1, -0.4, 0.0, 0.9, 1.3)]
    loss = PiecewiseLQ.maximum(lines)
    assert loss.knots.size == 1 and units(loss) == (2, 0)


def test_a_winning_concave_quadratic_is_refused():
    with pytest.raises(ValueError, match="Not convex between knots"):
        PiecewiseLQ.maximum([(0, 1, 0), (0, -1, 0), (-1, 0, 1)])


def test_many_quadratics():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    rows[:, 0] = rng.uniform(0, 1, 400) * (rng.uniform(size=400) < 0.5)
    expected = np.max(rows @ np.stack([T**2, T, np.ones_like(T)]), axis=0)
    np.testing.assert_allclose(value(PiecewiseLQ.maximum(rows)), expected, rtol=1e-12)


def test_from_units():
    loss = PiecewiseLQ.from_units(relu=[(1, 0), (-1, 0)])
    assert loss.curve == Absolute().curve
    loss = PiecewiseLQ.from_units(rehu=[(1, 0, 2), (-1, 0, 2)])
    assert loss.curve == Huber(2.0).curve
    loss = PiecewiseLQ.from_units(rehu=[(1, 0, np.inf), (-1, 0, np.inf)], constant=3)
    np.testing.assert_allclose(value(loss), 0.5 * T**2 + 3)
    assert eval(repr(loss)) == loss


def test_knots_and_pieces_can_be_read_back():
    loss = PiecewiseLQ([0, 1], [(0, -1, 0), (0, 1, 0), (0, 2, -1)])
    np.testing.assert_array_equal(loss.knots, [0, 1])
    np.testing.assert_array_equal(loss.pieces, [(0, -1, 0), (0, 1, 0), (0, 2, -1)])


def test_idle_knots_are_merged():
    loss = PiecewiseLQ([-1, 0, 3], [(0, -1, 0), (0, -1, 0), (0, 1, 0), (0, 1, 0)])
    assert loss.curve == Absolute().curve
    loss = PiecewiseLQ([-1, 2], [(0.5, 0, 0)] * 3)
    assert loss.curve == SquaredError().curve


def test_equality_and_use():
    one = PiecewiseLQ([0], [(0, -1, 0), (0, 1, 0)])
    assert one == PiecewiseLQ.maximum([(0, 1, 0), (0, -1, 0)])  # the same function
    assert one != PiecewiseLQ([0], [(0, -1, 0), (0, 1, 0)], of="prediction")
    assert get(one) is one
    assert one.value([1.0], [3.0]) == 2.0
    assert one.encode([1.0, 2.0])[1].tolist() == [1.0, 2.0]


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knots", "pieces", "message"),
    [
        # slope falls at a knot
        (
            [0.0, 2.0],
            [(0, -1, 0), (0, 3, 0), (0, 1, 4)],
            r"Not convex at knots\[1\]=2.0: the slope falls from 3.0 on pieces\[1\]=\(0.0, 3.0, "
            r"0.0\) to 1.0 on pieces\[2\]=\(0.0, 1.0, 4.0\)",
        ),
        # negative curvature
        (
            [-1, 1],
            [(0, -1, 0), (-1, 0, 2), (0, 1, 0)],
            r"Not convex between knots\[0\]=-1.0 and knots\[1\]=1.0: pieces\[1\]=\(-1.0, 0.0, 2.0\)"
            r" has the negative quadratic coefficient -1.0",
        ),
        ([0], [(-1, 0, 0), (0, 1, 0)], r"between -infinity and knots\[0\]=0.0"),
        ([0], [(0, -1, 0), (-1, 0, 0)], r"between knots\[0\]=0.0 and infinity"),
        # a jump
        (
            [0.5],
            [(0, -1, 0), (0, 1, 0)],
            r"Not continuous at knots\[0\]=0.5: pieces\[0\]=\(0.0, -1.0, 0.0\) gives -0.5 and "
            r"pieces\[1\]=\(0.0, 1.0, 0.0\) gives 0.5",
        ),
        # unbounded below
        ([0], [(0, 1, 0), (0, 2, 0)], r"Unbounded below: left of knots\[0\]=0.0.*slope 1.0 left"),
        ([0], [(0, -2, 0), (0, -1, 0)], r"Unbounded below: right of .*-2.0 left.*-1.0 right"),
        ([], [(0, 1, 0)], "Unbounded below"),
        ([0], [(1, 0, 0), (0, 0, 0)], None),
        ([0], [(1, -1, 0), (0, -1, 0)], "Unbounded below: right of"),
        # shapes and numbers
        ([0, 0], [(0, 0, 0)] * 3, r"knots\[0\]=0.0 is followed by knots\[1\]=0.0"),
        ([1, 0], [(0, 0, 0)] * 3, "must increase strictly"),
        ([0], [(0, 0, 0)], "1 knots bound 2 pieces, but pieces has 1 rows"),
        ([0], [(0, 0), (0, 0)], r"rows \(a, b, c\), got shape \(2, 2\)"),
        ([[0]], [(0, 0, 0)] * 2, r"knots must be one-dimensional, got shape \(1, 1\)"),
        ([np.nan], [(0, 0, 0)] * 2, r"knots\[0\] is nan"),
        ([0], [(0, 0, 0), (0, np.inf, 0)], r"pieces\[1\] is \(0.0, inf, 0.0\)"),
        ([1e200], [(1e200, 0, 0), (1e200, 0, 0)], "overflow"),
    ],
)
def test_errors_name_the_knot_and_both_sides(knots, pieces, message):
    if message is None:
        PiecewiseLQ(knots, pieces)
        return
    with pytest.raises(ValueError, match=message):
        PiecewiseLQ(knots, pieces)


def test_other_errors():
    with pytest.raises(ValueError, match="of='target' must be one of 'margin', 'residual'"):
        PiecewiseLQ([0], [(0, -1, 0), (0, 1, 0)], of="target")
    with pytest.raises(ValueError, match=r"rows \(u, v\), got shape \(1, 3\)"):
        PiecewiseLQ.from_units(relu=[(1, 2, 3)])
    with pytest.raises(ValueError, match=r"rehu_tau\[0\] is -1.0"):
        PiecewiseLQ.from_units(rehu=[(1, 0, -1)])
    with pytest.raises(ValueError, match=r"quadratics must be one or more rows.*got shape \(0,\)"):
        PiecewiseLQ.maximum([])
    with pytest.raises(ValueError, match=r"quadratics\[1\] is \(0.0, nan, 0.0\)"):
        PiecewiseLQ.maximum([(0, 1, 0), (0, np.nan, 0)])
    with pytest.raises(ValueError, match="Unbounded below"):
        PiecewiseLQ.maximum([(0, 1, 0), (0, 2, 0)])


# --- any scale ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e6, -1e6, 1e-6])
@pytest.mark.parametrize("width", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("size", [1.0, 1e-9, 1e9])
def test_any_scale(shift, width, size):
    """A Huber loss of delta = width, moved by shift and multiplied by size, from its pieces."""
    low, high = shift - width, shift + width
    pieces = size * np.array(
        [
            (0, -width, width * shift - 0.5 * width**2),
            (0.5, -shift, 0.5 * shift**2),
            (0, width, -width * shift - 0.5 * width**2),
        ]
    )
    loss = PiecewiseLQ([low, high], pieces)
    assert units(loss) == (0, 2)
    t = shift + width * np.array([-3.0, -1, -0.5, 0.0, 0.25, 1, 2])
    rounding = 1e-12 * size * (abs(shift) + width) * (abs(shift) + width)
    expected = size * Huber(width).curve.value(t - shift)
    np.testing.assert_allclose(value(loss, t), expected, rtol=1e-9, atol=rounding)
    # a kink or a jump of a millionth of the slope or of the value is seen at every scale
    if abs(shift) <= width:
        kinked = pieces.copy()
        kinked[2, 1:] += 1e-6 * size * width * np.array([-1.0, high])
        with pytest.raises(ValueError, match=r"Not convex at knots\[1\]"):
            PiecewiseLQ([low, high], kinked)
        broken = pieces.copy()
        broken[2, 2] += 1e-6 * size * width**2
        with pytest.raises(ValueError, match=r"Not continuous at knots\[1\]"):
            PiecewiseLQ([low, high], broken)


def test_a_steep_narrow_bend_keeps_its_lines_exact():
    width = 1e-9
    loss = PiecewiseLQ(
        [1 - width, 1],
        [(0, -1, 1 - width / 2), (0.5 / width, -1 / width, 0.5 / width), (0, 0, 0)],
        of="margin",
    )
    assert loss.curve.domain() == (-1.0, 0.0)
    assert units(loss) == (0, 1)
    np.testing.assert_allclose(value(loss), np.maximum(1 - T, 0), atol=1e-6)
