"""What every loss promises, over the one list of losses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from losses.cases import CASES, IDS, LOSSES, points, slopes, target

import rectiline.losses
from rectiline.losses import Loss, PLQCurve, decompose

cases = pytest.mark.parametrize("case", CASES, ids=IDS)
losses = pytest.mark.parametrize("loss", LOSSES, ids=IDS)


def close(a, b, rtol=1e-12, atol=1e-12):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def argument(loss: Loss, z):
    """t = p z + o of the target used in these tests."""
    y = target(loss)
    return {"margin": y * z, "residual": y - z, "prediction": z}[loss.of]


@cases
def test_equals_its_formula(case):
    t = points(case.loss)
    close(case.loss.curve.value(t), case.phi(t))
    z = np.linspace(-5, 5, 101)
    close(case.loss.value(target(case.loss), z), case.phi(argument(case.loss, z)))
    close(case.loss.value(target(case.loss), z, 2.5), 2.5 * case.phi(argument(case.loss, z)))


@cases
def test_equals_the_sum_of_its_units_and_none_is_redundant(case):
    t, units = points(case.loss), case.loss.units
    close(units.value(t), case.phi(t))
    assert (units.n_relu, units.n_rehu) == (case.n_relu, case.n_rehu)
    close(units.constant, case.phi(t).min(), atol=1e-3)  # the grid misses a minimiser by little
    assert units.constant <= case.phi(t).min() + 1e-12


@losses
@pytest.mark.parametrize("c", [0.01, 1.0, 37.0])
def test_scaling_rule(loss, c):
    t = points(loss)
    close(loss.units.scaled(c).value(t), c * loss.units.value(t))
    assert loss.units.scaled(0.0).value(t).max() == 0.0


@losses
def test_units_give_the_curve_back(loss):
    curve = PLQCurve.from_units(loss.units)
    t = points(loss)
    close(curve.value(t), loss.curve.value(t))
    close(curve.knots, loss.curve.knots)
    close(curve.curvature, loss.curve.curvature)
    close([curve.left, curve.right], [loss.curve.left, loss.curve.right])
    assert decompose(curve).n_relu == loss.units.n_relu
    assert decompose(curve).n_rehu == loss.units.n_rehu


@losses
def test_pieces_give_the_curve_back(loss):
    curve = PLQCurve.from_pieces(loss.curve.knots, loss.curve.pieces())
    close(curve.value(points(loss)), loss.curve.value(points(loss)))
    close(curve.knots, loss.curve.knots)


@losses
def test_fenchel_young(loss):
    t, s = points(loss), slopes(loss)
    gap = loss.curve.value(t)[:, None] + loss.curve.conjugate(s) - t[:, None] * s
    assert gap.min() >= -1e-12 * np.abs(t).max() * np.abs(s).max()
    for slope in loss.curve.derivative(t):
        close(loss.curve.value(t) + loss.curve.conjugate(slope), t * slope, rtol=1e-11, atol=1e-11)


@losses
@pytest.mark.parametrize("weight", [0.0, 0.3, 7.0])
def test_fenchel_young_in_the_prediction(loss, weight):
    y, z = target(loss), np.linspace(-5, 5, 101)
    low, high = loss.derivative(y, z, weight)
    assert (low <= high).all()
    for g in (low, high, 0.5 * low + 0.5 * high):
        gap = loss.value(y, z, weight) + loss.conjugate(y, g, weight) - z * g
        close(gap, 0.0, atol=1e-11 * (1 + weight))


@losses
def test_derivative_matches_differences_away_from_kinks(loss):
    t, h = points(loss), 1e-6
    away = np.abs(t[:, None] - loss.curve.knots).min(axis=1) > 2 * h
    t = t[away]
    low, high = loss.curve.derivative(t)
    assert (low == high).all()
    numeric = (loss.curve.value(t + h) - loss.curve.value(t - h)) / (2 * h)
    close(low, numeric, rtol=1e-6, atol=1e-6)


@losses
def test_derivative_is_an_interval_that_moves_up(loss):
    low, high = loss.curve.derivative(points(loss))
    assert (low <= high).all()
    assert (high[:-1] <= low[1:] + 1e-12).all()
    knots_low, knots_high = loss.curve.derivative(loss.curve.knots)
    assert (knots_low == loss.curve.left).all()
    assert (knots_high == loss.curve.right).all()


@cases
def test_conjugate_is_the_supremum(case):
    s, curve = slopes(case.loss), case.loss.curve
    # For these slopes the maximiser lies within 3 / curvature of the outer knots.
    reach = 3.0 / min([c for c in (curve.curvature[0], curve.curvature[-1]) if c > 0] + [1.0]) + 1
    t = np.union1d(np.linspace(curve.knots[0] - reach, curve.knots[-1] + reach, 20001), curve.knots)
    brute = np.array([np.max(slope * t - case.phi(t)) for slope in s])
    exact = curve.conjugate(s)
    assert (exact >= brute - 1e-12).all()
    close(exact, brute, rtol=0, atol=1e-5)


@losses
def test_conjugate_is_infinite_outside_its_domain_only(loss):
    low, high = loss.curve.domain()
    if np.isfinite(low):
        assert np.isfinite(loss.curve.conjugate(low))
        assert loss.curve.conjugate(np.nextafter(low, -np.inf)) == np.inf
    if np.isfinite(high):
        assert np.isfinite(loss.curve.conjugate(high))
        assert loss.curve.conjugate(np.nextafter(high, np.inf)) == np.inf
    assert np.isfinite(loss.curve.conjugate(slopes(loss))).all()
    assert loss.curve.conjugate(np.inf) == loss.curve.conjugate(-np.inf) == np.inf
    assert np.isnan(loss.curve.conjugate(np.nan))


@losses
@pytest.mark.parametrize("weight", [1 / 3, 0.1, 1e-7, 123.4567])
def test_weighted_conjugate_is_finite_at_weighted_ends(loss, weight):
    y = target(loss)
    sign = 1.0 if loss.of == "prediction" else -1.0  # p of the target: y = -1 for a margin
    for end in loss.curve.domain():
        if np.isfinite(end):
            assert np.isfinite(loss.conjugate(y, sign * weight * end, weight))
            outward = -1e-9 if end == loss.curve.domain()[0] else 1e-9
            if outward * end >= 0:  # a domain of one slope has two ends in one place
                assert loss.conjugate(y, sign * weight * (end + outward), weight) == np.inf


@losses
@pytest.mark.parametrize("step", [1e-3, 0.5, 20.0])
def test_prox_is_optimal(loss, step):
    rng = np.random.default_rng(0)
    w = np.concatenate([points(loss, 80), loss.curve.knots + step * loss.curve.left])
    t = loss.curve.prox(w, step)
    low, high = loss.curve.derivative(t)
    slope = (w - t) / step
    slack = 1e-11 * (1 + np.abs(w)) / min(step, 1.0)
    inside = (low - slack <= slope) & (slope <= high + slack)
    near = np.abs(t[:, None] - loss.curve.knots).min(axis=1) < 1e-12
    assert (inside | near).all()
    best = loss.curve.value(t) + (t - w) ** 2 / (2 * step)
    for size in (1e-4, 1e-1, 10.0):
        other = t + size * rng.standard_normal((20, t.size))
        assert (loss.curve.value(other) + (other - w) ** 2 / (2 * step) >= best - 1e-10).all()


@losses
def test_prox_takes_a_step_and_a_weight_for_every_sample(loss):
    rng = np.random.default_rng(1)
    z, step, weight = rng.normal(size=50), rng.uniform(0.1, 3, 50), rng.uniform(0, 3, 50)
    weight[::7] = 0.0
    y = target(loss)
    x = loss.prox(y, z, step, weight)
    one = [float(loss.prox(y, z[i], step[i], weight[i])) for i in range(50)]
    close(x, one)
    close(x[::7], z[::7], rtol=0, atol=0)
    best = loss.value(y, x, weight) + (x - z) ** 2 / (2 * step)
    for size in (1e-4, 1e-1, 10.0):
        other = x + size * rng.standard_normal((20, 50))
        assert (loss.value(y, other, weight) + (other - z) ** 2 / (2 * step) >= best - 1e-11).all()


@losses
def test_prox_lands_exactly_on_kinks_and_stays_on_flat_pieces(loss):
    curve = loss.curve
    for knot, left, right in zip(curve.knots, curve.left, curve.right):
        if right - left > 1e-6:
            w = knot + 0.37 * (left + (right - left) * np.array([0.01, 0.5, 0.99]))
            assert (curve.prox(w, 0.37) == knot).all()
    t = points(loss)
    low, high = curve.derivative(t)
    flat = (low == 0) & (high == 0)
    assert (curve.prox(t[flat], 1.3) == t[flat]).all()


@losses
def test_split_and_height_reproduce_the_conjugate(loss):
    s, units = slopes(loss), loss.units
    relu, rehu = units.split(s)
    assert relu.shape == (s.size, units.n_relu) and rehu.shape == (s.size, units.n_rehu)
    assert ((relu >= 0) & (relu <= 1)).all()
    assert ((rehu >= 0) & (rehu <= units.rehu_tau)).all()
    close(units.join(relu, rehu), s)
    close(-units.height(relu, rehu) - units.constant, loss.curve.conjugate(s))


@losses
def test_random_duals_never_beat_the_split(loss):
    rng = np.random.default_rng(2)
    units = loss.units
    relu = rng.uniform(size=(300, units.n_relu))
    rehu = rng.uniform(size=(300, units.n_rehu)) * np.minimum(units.rehu_tau, 5.0)
    s = units.join(relu, rehu)
    split = units.split(s)
    assert (units.height(relu, rehu) <= units.height(*split) + 1e-12).all()


@losses
def test_split_refuses_slopes_outside_the_domain(loss):
    for end, outward in zip(loss.curve.domain(), (-0.1, 0.1)):
        if np.isfinite(end):
            with pytest.raises(ValueError, match="outside the slopes"):
                loss.units.split([end, end + outward])


@losses
def test_minimum(loss):
    at, least = loss.curve.minimum()
    assert loss.curve.value(points(loss)).min() >= least - 1e-13
    assert loss.curve.value(at) == least
    low, high = loss.curve.derivative(at)
    assert low <= 0 <= high
    assert at in loss.curve.knots


@losses
def test_pickle_copy_repr_and_equality(loss):
    loss.units  # noqa: B018  the cached parts travel too
    again = [
        pickle.loads(pickle.dumps(loss)),
        copy.copy(loss),
        copy.deepcopy(loss),
        eval(repr(loss), vars(rectiline.losses).copy()),
    ]
    for other in again:
        assert other == loss and hash(other) == hash(loss) and repr(other) == repr(loss)
        assert other.curve == loss.curve and hash(other.curve) == hash(loss.curve)
        assert other.units == loss.units and hash(other.units) == hash(loss.units)
        assert not other.curve.knots.flags.writeable
    assert sum(loss == other for other in LOSSES) == 1
    assert loss != 1


@losses
def test_is_immutable(loss):
    with pytest.raises(AttributeError):
        loss.of = "margin"
    with pytest.raises(AttributeError):
        loss.curve.knots = np.zeros(1)
    with pytest.raises(ValueError, match="read-only"):
        loss.curve.knots[0] = 3.0
    assert not (loss.units.relu_u.flags.writeable or loss.units.rehu_s.flags.writeable)


@losses
def test_scalars_in_scalar_out_and_shapes_broadcast(loss):
    y = target(loss)
    assert np.ndim(loss.value(y, 0.3)) == np.ndim(loss.prox(y, 0.3)) == 0
    assert np.ndim(loss.conjugate(y, 0.0)) == np.ndim(loss.derivative(y, 0.3)[0]) == 0
    assert loss.value(y, np.zeros((3, 4)), np.ones(4)).shape == (3, 4)
    assert loss.units.split(np.zeros((3, 4)))[0].shape == (3, 4, loss.units.n_relu)


@losses
def test_no_samples_is_fine_for_elementwise_methods(loss):
    empty = np.empty(0)
    assert loss.curve.value(empty).shape == (0,)
    assert loss.curve.prox(empty, 1.0).shape == (0,)
    assert loss.curve.conjugate(empty).shape == (0,)


@losses
def test_encode_matches_value(loss):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 30) if loss.of == "margin" else rng.normal(size=30)
    p, o = loss.encode(y)
    assert p.dtype == o.dtype == np.float64 and p.shape == o.shape == (30,)
    assert set(np.unique(p)) <= {-1.0, 1.0}
    z = rng.normal(size=30)
    close(loss.curve.value(p * z + o), loss.value(y, z))


@losses
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_refuses_bad_weights(loss, weight):
    with pytest.raises(ValueError, match="weight must be finite and >= 0"):
        loss.value(target(loss), 0.0, weight)


@losses
def test_plot(loss):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = loss.plot()
    title = " ".join(axes.get_title().split())  # long names are wrapped, and cut after three lines
    assert repr(loss).startswith(title.removesuffix(" ..."))
    assert loss.plot(axes) is axes
    plt.close(axes.figure)
