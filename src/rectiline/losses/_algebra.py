"""Sums and multiples of losses: what ``2 * Pinball(0.8) + Absolute()`` means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ._curve import PLQCurve

if TYPE_CHECKING:
    from ._base import Loss
    from ._piecewise import PiecewiseLQ


@np.errstate(over="ignore", invalid="ignore")  # `PLQCurve` refuses what is not finite
def add_curves(curves: Sequence[PLQCurve], factors: Sequence[float]) -> PLQCurve:
    """Return the sum of factors times curves.

    >>> relu = PLQCurve([0.0], [0.0], [0.0], [1.0], [0.0, 0.0])
    >>> add_curves([relu, relu], [1.0, 2.0]).value([-1.0, 2.0])
    array([0., 6.])
    """
    knots = np.unique(np.concatenate([one.knots for one in curves]))
    values, left, right = np.zeros((3, knots.size))
    curvature = np.zeros(knots.size + 1)
    inside = np.concatenate([[-np.inf], 0.5 * knots[:-1] + 0.5 * knots[1:], [np.inf]])
    for one, factor in zip(curves, factors, strict=True):
        low, high = one.derivative(knots)
        values += factor * one.value(knots)
        left += factor * low
        right += factor * high
        curvature += factor * one.curvature[np.searchsorted(one.knots, inside)]
    return PLQCurve(knots, values, left, right, curvature)


def add_losses(first: Loss, second: Loss) -> PiecewiseLQ:
    """Return ``first + second``, two losses of the same argument."""
    from ._piecewise import PiecewiseLQ

    if first.of != second.of:
        raise ValueError(
            f"{first!r} is a loss of the {first.of} and {second!r} of the {second.of}; only losses "
            "of the same argument can be added."
        )
    curve = add_curves([first.curve, second.curve], [1.0, 1.0])
    return PiecewiseLQ.from_curve(curve, first.of, f"{first!r} + {second!r}")


def scale_loss(loss: Loss, factor: Any) -> PiecewiseLQ:
    """Return ``factor * loss``."""
    from ._piecewise import PiecewiseLQ

    number = float(factor)
    if not 0.0 < number < math.inf:
        raise ValueError(
            f"{number!r} * {loss!r}: the factor of a loss must be finite and > 0, so that it stays "
            "convex."
        )
    text = repr(loss)
    if " + " in text:
        text = f"({text})"
    return PiecewiseLQ.from_curve(add_curves([loss.curve], [number]), loss.of, f"{number} * {text}")


def is_number(value: object) -> bool:
    """Whether a loss can be multiplied by the value."""
    return isinstance(value, Real) and not isinstance(value, bool)
