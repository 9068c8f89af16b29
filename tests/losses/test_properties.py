"""Random convex functions: from units to pieces, to a loss, to units again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from rectiline.losses import PiecewiseLQ, PLQCurve, PLQUnits, decompose

number = st.integers(-24, 24).map(lambda k: k / 4)
size = st.integers(1, 16).map(lambda k: k / 4)
sign = st.sampled_from([-1.0, 1.0])
rough = st.floats(-5, 5).map(lambda x: x + 0.1)  # positions that are not exact in binary
position = st.one_of(number, rough)


@st.composite
def sums_of_units(draw, positions=position):
    """Units given by position, direction and size: kinks are at sensible places."""
    relu = draw(st.lists(st.tuples(positions, sign, size), max_size=4))
    rehu = draw(
        st.lists(st.tuples(positions, sign, size, st.one_of(size, st.just(np.inf))), max_size=3)
    )
    u = [s * a for _, s, a in relu]
    v = [-s * a * at for at, s, a in relu]
    return PLQUnits(
        u,
        v,
        [s * a for _, s, a, _ in rehu],
        [-s * a * at for at, s, a, _ in rehu],
        [tau for *_, tau in rehu],
        draw(number),
    )


def grid(curve, reach=6.0):
    ends = curve.knots[0] - reach, curve.knots[-1] + reach
    return np.union1d(np.linspace(*ends, 301), curve.knots)


def close(a, b, atol=1e-10):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=atol)


@given(sums_of_units())
@settings(max_examples=200, deadline=None)
def test_units_to_curve_to_units(units):
    curve = PLQCurve.from_units(units)
    t = grid(curve)
    close(curve.value(t), units.value(t))
    again = decompose(curve)
    close(again.value(t), units.value(t))
    # never more than one unit for each kink and piece, and one more where the minimiser splits it
    assert again.n_relu <= (curve.left != curve.right).sum() + 1
    assert again.n_rehu <= (curve.curvature > 0).sum()
    assert again.constant == curve.minimum()[1]
    # the curved stretches of canonical units do not overlap
    nodes = again.nodes()
    assert (nodes.curvature <= (again.rehu_s**2).max(initial=0.0)).all()


@given(sums_of_units())
@settings(max_examples=200, deadline=None)
def test_pieces_to_loss_to_units(units):
    curve = PLQCurve.from_units(units)
    loss = PiecewiseLQ(curve.knots, curve.pieces())
    t = grid(curve)
    close(loss.curve.value(t), units.value(t))
    close(loss.units.value(t), units.value(t))
    assert eval(repr(loss)) == loss
    # reading pieces may merge knots that are a few ulps apart, but never adds any
    assert decompose(loss.curve).n_relu <= decompose(curve).n_relu
    assert decompose(loss.curve).n_rehu <= decompose(curve).n_rehu


@given(sums_of_units(), st.integers(-3, 3), st.integers(-6, 6))
@settings(max_examples=100, deadline=None)
def test_stretching_is_exact(units, along, up):
    """phi(t / a) * c has the knots times a, the values times c: also for the decomposition."""
    a, c = 10.0**along, 10.0**up
    curve = PLQCurve.from_units(units)
    stretched = PLQCurve(
        curve.knots * a,
        curve.values * c,
        curve.left * c / a,
        curve.right * c / a,
        curve.curvature * c / a**2,
    )
    from_pieces = PLQCurve.from_pieces(stretched.knots, stretched.pieces())
    t = grid(curve)
    scale = c * np.abs(units.value(t)).max()
    close(from_pieces.value(t * a), units.value(t) * c, atol=1e-12 * scale)
    assert decompose(from_pieces).n_relu <= decompose(curve).n_relu
    assert decompose(from_pieces).n_rehu <= decompose(curve).n_rehu


@given(sums_of_units(), st.floats(-8, 8))
@settings(max_examples=200, deadline=None)
def test_conjugate_and_split(units, slope):
    curve = PLQCurve.from_units(units)
    low, high = curve.domain()
    assert (curve.conjugate(slope) < np.inf) == (low <= slope <= high)
    slope = float(np.clip(slope, low, high))
    t = grid(curve, reach=200.0)
    assert curve.conjugate(slope) >= np.max(slope * t - curve.value(t)) - 1e-9
    # any units of the same function split the slope to the same height
    for parts in (units, decompose(curve)):
        relu, rehu = parts.split(slope)
        assert (relu >= 0).all() and (relu <= 1).all()
        assert (rehu >= 0).all() and (rehu <= parts.rehu_tau).all()
        close(parts.join(relu, rehu), slope)
        close(-parts.height(relu, rehu) - parts.constant, curve.conjugate(slope), atol=1e-9)


@given(sums_of_units(), st.floats(-20, 20), st.floats(0.01, 10))
@settings(max_examples=60, deadline=None)
def test_prox_against_a_general_minimiser(units, w, step):
    curve = PLQCurve.from_units(units)
    t = float(curve.prox(w, step))

    def objective(x):
        return float(units.value(x)) + (x - w) ** 2 / (2 * step)

    found = minimize_scalar(objective, bounds=(-400, 400), options={"xatol": 1e-9})
    assert objective(t) <= found.fun + 1e-9 * (1 + abs(found.fun))
    assert objective(t) <= min(objective(k) for k in curve.knots) + 1e-12 * (1 + abs(found.fun))
    low, high = curve.derivative(t)
    slack = 1e-9 * (1 + abs(w) / step)
    on_knot = np.abs(curve.knots - t).min() <= 1e-12 * (1 + abs(t))
    assert on_knot or low - slack <= (w - t) / step <= high + slack


@given(sums_of_units(), st.lists(position, min_size=2, max_size=2, unique=True))
@settings(max_examples=100, deadline=None)
def test_the_prox_does_not_stretch(units, pair):
    curve = PLQCurve.from_units(units)
    one, two = curve.prox(np.array(pair), 1.7)
    assert abs(one - two) <= abs(pair[0] - pair[1]) + 1e-12


@given(sums_of_units(number), st.integers(0, 10), st.floats(0.01, 2.0))
@settings(max_examples=100, deadline=None)
def test_a_slope_turned_down_is_refused(units, which, fall):
    """From some knot on a falling line is added: there the function has a concave kink."""
    curve = PLQCurve.from_units(units)
    k = which % curve.knots.size
    knot, kink = curve.knots[k], curve.right[k] - curve.left[k]
    down = kink + fall
    pieces = curve.pieces()
    pieces[k + 1 :] += np.array([0.0, -down, down * knot])
    with pytest.raises(ValueError, match=rf"Not convex at knots\[{k}\]"):
        PiecewiseLQ(curve.knots, pieces)
    broken = curve.pieces()
    broken[k + 1 :, 2] += fall
    with pytest.raises(ValueError, match=rf"Not continuous at knots\[{k}\]"):
        PiecewiseLQ(curve.knots, broken)


@given(st.lists(st.tuples(st.one_of(st.just(0.0), size), number, number), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_maximum_of_quadratics(rows):
    curve = PLQCurve.maximum_of(rows)
    t = grid(curve)
    expected = np.max(np.array(rows) @ np.stack([t * t, t, np.ones_like(t)]), axis=0)
    close(curve.value(t), expected)
    assert (np.diff(curve.knots) > 1e-7).all()  # no slivers
