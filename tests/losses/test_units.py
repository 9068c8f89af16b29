"""Units: values, the scaling rule, and duals of any sum of units, canonical or not."""

from __future__ import annotations

import numpy as np
import pytest

from rectiline.losses import Huber, PLQCurve, PLQUnits


def test_rehu_is_flat_then_curved_then_straight():
    units = PLQUnits(rehu_s=[1.0], rehu_t=[0.0], rehu_tau=[2.0])
    np.testing.assert_array_equal(units.value([-1.0, 1.0, 2.0, 5.0]), [0.0, 0.5, 2.0, 8.0])
    assert (units.n_relu, units.n_rehu) == (0, 1)


def test_the_scaling_rule_is_that_of_the_table():
    scaled = Huber(delta=2.0).units.scaled(9.0)
    np.testing.assert_allclose(scaled.rehu_s, [3.0, -3.0])
    np.testing.assert_allclose(scaled.rehu_tau, [6.0, 6.0])
    assert PLQUnits([2.0], [1.0], constant=3.0).scaled(4.0) == PLQUnits([8.0], [4.0], constant=12.0)
    assert PLQUnits([2.0], [1.0], constant=3.0).scaled(0) == PLQUnits()
    for c in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite number >= 0"):
            scaled.scaled(c)


OVERLAPPING = PLQUnits(
    relu_u=[1.0, -2.0, 0.5, 3.0, -1.0],
    relu_v=[0.0, 4.0, -1.0, -6.0, -1.0],
    rehu_s=[1.0, -2.0, 0.5, 1.0],
    rehu_t=[0.5, 1.0, 3.0, 0.0],
    rehu_tau=[2.0, np.inf, np.inf, 4.0],
    constant=-7.0,
)


def test_split_handles_overlapping_units():
    curve = PLQCurve.from_units(OVERLAPPING)
    t = np.linspace(-10, 12, 2001)
    np.testing.assert_allclose(curve.value(t), OVERLAPPING.value(t), rtol=1e-13, atol=1e-13)
    s = np.linspace(-30, 30, 301)
    relu, rehu = OVERLAPPING.split(s)
    assert ((relu >= 0) & (relu <= 1)).all()
    assert ((rehu >= 0) & (rehu <= OVERLAPPING.rehu_tau)).all()
    np.testing.assert_allclose(OVERLAPPING.join(relu, rehu), s, atol=1e-13)
    dual = -OVERLAPPING.height(relu, rehu) - OVERLAPPING.constant
    np.testing.assert_allclose(dual, curve.conjugate(s), rtol=1e-13, atol=1e-12)


def test_units_without_a_slope_are_constants():
    units = PLQUnits([0.0, 0.0], [2.0, -2.0], [0.0], [3.0], [1.0])
    assert units.value(17.0) == 2.0 + 2.5
    curve = PLQCurve.from_units(units)
    assert curve.domain() == (0.0, 0.0)
    assert curve.minimum()[1] == 4.5
    relu, rehu = units.split(0.0)
    assert units.height(relu, rehu) == 4.5
    with pytest.raises(ValueError, match=r"slope 1.0 lies outside.*\[0.0, 0.0\]"):
        units.split(1.0)


def test_nothing_at_all():
    units = PLQUnits(constant=2.0)
    assert units.value([1.0, 2.0]).tolist() == [2.0, 2.0]
    assert units.split([0.0, 0.0])[0].shape == (2, 0)
    assert PLQCurve.from_units(units).value(3.0) == 2.0


def test_kinks_that_agree_but_for_rounding_become_one_knot():
    position, rng = 0.1, np.random.default_rng(0)
    u = rng.uniform(0.1, 3.0, 40) * rng.choice([-1, 1], 40)
    curve = PLQCurve.from_units(PLQUnits(u, -u * position))
    assert curve.knots.size == 1
    np.testing.assert_allclose(curve.left[0], u[u < 0].sum())
    np.testing.assert_allclose(curve.right[0], u[u > 0].sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"relu_u": [1.0]}, "relu_u has 1 entries and relu_v has 0"),
        ({"rehu_s": [1.0], "rehu_t": [0.0]}, "have 1, 1, 0 entries"),
        ({"rehu_s": [1.0], "rehu_t": [0.0], "rehu_tau": [0.0]}, r"rehu_tau\[0\] is 0.0.*> 0"),
        ({"relu_u": [np.nan], "relu_v": [0.0]}, r"relu_u\[0\] is NaN"),
        ({"relu_u": [[1.0]], "relu_v": [0.0]}, r"one-dimensional, got shape \(1, 1\)"),
        ({"rehu_s": [1.0], "rehu_t": [0.0], "rehu_tau": [np.nan]}, r"rehu_tau\[0\] is NaN"),
        ({"constant": np.inf}, "constant is inf"),
    ],
)
def test_refuses_wrong_units(arguments, message):
    with pytest.raises(ValueError, match=message):
        PLQUnits(**arguments)


def test_units_compare_by_content():
    assert PLQUnits([1], [0]) == PLQUnits([1.0], [-0.0])
    assert PLQUnits([1], [0]) != PLQUnits([1], [1])
    assert PLQUnits() != "units"
    assert len({PLQUnits([1], [0]), PLQUnits([1.0], [0.0])}) == 1
