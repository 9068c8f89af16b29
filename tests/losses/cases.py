"""Every loss, once: a loss is tested by being listed here.

The formula beside each loss is written independently of its curve, straight from its definition in
the loss's own argument t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rectiline.losses import (
    Absolute,
    Asymmetric,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Loss,
    ModifiedHuber,
    PiecewiseLQ,
    Pinball,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)


@dataclass(frozen=True)
class Case:
    loss: Loss
    phi: Callable[[np.ndarray], np.ndarray]
    n_relu: int
    n_rehu: int


def plus(t):
    return np.maximum(t, 0.0)


def rehu(z, tau):
    return np.where(z <= 0, 0.0, np.where(z <= tau, 0.5 * z**2, tau * (z - 0.5 * tau)))


def huber(t, delta):
    return np.where(np.abs(t) <= delta, 0.5 * t**2, delta * (np.abs(t) - 0.5 * delta))


CASES = [
    Case(Hinge(), lambda t: plus(1 - t), 1, 0),
    Case(SquaredHinge(), lambda t: plus(1 - t) ** 2, 0, 1),
    Case(SmoothedHinge(), lambda t: rehu(1 - t, 1.0), 0, 1),
    Case(SmoothedHinge(width=0.3), lambda t: rehu(1 - t, 0.3) / 0.3, 0, 1),
    Case(SmoothedHinge(width=2.5), lambda t: rehu(1 - t, 2.5) / 2.5, 0, 1),
    Case(ModifiedHuber(), lambda t: np.where(t >= -1, plus(1 - t) ** 2, -4 * t), 0, 1),
    Case(Absolute(), np.abs, 2, 0),
    Case(Asymmetric(over=1, under=4), lambda t: plus(-t) + 4 * plus(t), 2, 0),
    Case(2 * Pinball(0.8) + Absolute(), lambda t: 2.6 * plus(t) + 1.4 * plus(-t), 2, 0),
    Case(SquaredHinge() + 0.5 * Hinge(), lambda t: plus(1 - t) ** 2 + 0.5 * plus(1 - t), 1, 1),
    Case(
        (Huber(2.0) + EpsilonInsensitive(1.0)) / 4,
        lambda t: 0.25 * (huber(t, 2.0) + plus(np.abs(t) - 1.0)),
        2,
        2,
    ),
    Case(EpsilonInsensitive(epsilon=0.4), lambda t: plus(np.abs(t) - 0.4), 2, 0),
    Case(EpsilonInsensitive(epsilon=0.0), np.abs, 2, 0),
    Case(SquaredEpsilonInsensitive(epsilon=0.4), lambda t: plus(np.abs(t) - 0.4) ** 2, 0, 2),
    Case(SquaredEpsilonInsensitive(epsilon=0), lambda t: t**2, 0, 2),
    Case(Pinball(), lambda t: 0.5 * np.abs(t), 2, 0),
    Case(Pinball(quantile=0.9), lambda t: np.maximum(0.9 * t, -0.1 * t), 2, 0),
    Case(Huber(), lambda t: huber(t, 1.0), 0, 2),
    Case(Huber(delta=0.7), lambda t: huber(t, 0.7), 0, 2),
    Case(SquaredError(), lambda t: 0.5 * t**2, 0, 2),
    Case(Expectile(), lambda t: 0.25 * t**2, 0, 2),
    Case(Expectile(quantile=0.8), lambda t: np.where(t > 0, 0.4, 0.1) * t**2, 0, 2),
    # kinks and curvature together, the minimiser inside a piece, a constant
    Case(
        PiecewiseLQ([-1, 2], [(0, -3, 0), (0.5, 0, 2.5), (1, 0, 0.5)]),
        lambda t: np.where(t < -1, -3 * t, np.where(t < 2, 0.5 * t**2 + 2.5, t**2 + 0.5)),
        2,
        3,
    ),
    Case(
        PiecewiseLQ.maximum([(0, -1, 1), (0, 0, 0), (0.5, 0, -3), (0, 1, -50)], of="margin"),
        lambda t: np.max([1 - t, 0 * t, 0.5 * t**2 - 3], axis=0),
        3,
        2,
    ),
    Case(
        PiecewiseLQ.from_units(relu=[(2, 1), (-1, 3)], rehu=[(1, 0, 2)], of="prediction"),
        lambda t: plus(2 * t + 1) + plus(3 - t) + rehu(t, 2.0),
        3,  # the kink of the first unit is the minimiser: it turns left and right of it
        1,
    ),
    # flat at the bottom, and curved on one side only
    Case(
        PiecewiseLQ([0, 1, 4], [(0, -2, 1), (0, 0, 1), (0.25, -0.5, 1.25), (0, 1.5, -2.75)]),
        lambda t: 1 + 2 * plus(-t) + 0.5 * rehu(t - 1, 3.0),
        1,
        1,
    ),
    # one parabola without knots, not centred
    Case(PiecewiseLQ([], [(2, -4, 3)]), lambda t: 2 * (t - 1) ** 2 + 1, 0, 2),
    Case(PiecewiseLQ([0], [(0, 0, 5), (0, 0, 5)]), lambda t: 5 + 0 * t, 0, 0),
]
LOSSES = [case.loss for case in CASES]
IDS = [repr(loss)[:40] for loss in LOSSES]


def points(loss: Loss, n: int = 400) -> np.ndarray:
    """Arguments t on a grid around the knots, and the knots themselves."""
    knots = loss.curve.knots
    width = max(4.0, 2 * (knots[-1] - knots[0]))
    return np.union1d(np.linspace(knots[0] - width, knots[-1] + width, n), knots)


def slopes(loss: Loss, n: int = 201) -> np.ndarray:
    """Slopes in the domain of the conjugate, with its ends and all slopes at the knots."""
    curve = loss.curve
    low, high = curve.domain()
    low = max(low, curve.left[0] - 3.0)
    high = min(high, curve.right[-1] + 3.0)
    return np.unique(np.concatenate([np.linspace(low, high, n), curve.left, curve.right]))


def target(loss: Loss) -> float:
    """A target for which t = p z + o is not just z."""
    return {"margin": -1.0, "residual": 0.75, "prediction": 0.0}[loss.of]
