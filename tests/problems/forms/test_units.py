"""Units of the losses of samples: their sum, their order, and samples without a weight."""

import numpy as np
import pytest

import rectiline as rl
from rectiline import losses as L
from rectiline.problems.forms import CompositeForm, shapes_of

RNG = np.random.default_rng(8)
STAIRS = L.PiecewiseLQ([-1, 0, 2], [(0, -3, -2), (0, -1, 0), (0, 1, 0), (0, 4, -6)])


@pytest.mark.parametrize(
    "loss", [L.Hinge(), L.Pinball(0.3), L.Huber(0.7), L.SquaredHinge(), L.SquaredError(), STAIRS]
)
def test_units_add_up_to_the_weighted_losses(loss):
    n = 12
    y = np.where(RNG.normal(size=n) > 0, 1.0, -1.0)
    weight = RNG.choice([0.0, 0.5, 2.0], size=n)
    problem = rl.Problem(np.ones((n, 1)), y, loss, "l2", sample_weight=weight)
    units = CompositeForm.apply(problem).units
    assert not np.isin(np.flatnonzero(weight == 0.0), units.sample).any()
    t = problem.direction * RNG.normal(scale=2.0, size=n) + problem.offset
    away = t[units.sample] - units.knot
    with np.errstate(divide="ignore"):
        best = np.where(units.soft > 0, away / units.soft, np.where(away > 0, np.inf, -np.inf))
    best = np.clip(best, units.low, units.high)
    each = np.bincount(units.sample, best * away - 0.5 * units.soft * best**2, n)
    np.testing.assert_allclose(each, weight * loss.units.value(t), rtol=1e-12, atol=1e-12)


def test_parts_come_outward_from_the_minimum():
    assert [part.knot for part in shapes_of(STAIRS.curve)] == [0.0, 2.0, -1.0]
