"""Losses of the margin t = y z, for two classes."""

from __future__ import annotations

from dataclasses import dataclass

from rectiline._numbers import positive

from ._base import Loss
from ._curve import PLQCurve


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge loss of the support vector machine, ``max(1 - t, 0)``.

    Examples
    --------
    >>> from rectiline.losses import Hinge
    >>> Hinge().value([1, 1, -1], [0.5, 2.0, 0.0])
    array([0.5, 0. , 1. ])
    """

    of = "margin"
    name = "hinge"

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([1.0], [0.0], [-1.0], [0.0], [0.0, 0.0])


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The squared hinge loss, ``max(1 - t, 0)^2``.

    Examples
    --------
    >>> from rectiline.losses import SquaredHinge
    >>> SquaredHinge().value(1, [-1.0, 0.5, 2.0])
    array([4.  , 0.25, 0.  ])
    """

    of = "margin"
    name = "squared_hinge"

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([1.0], [0.0], [0.0], [0.0], [2.0, 0.0])


@dataclass(frozen=True)
class SmoothedHinge(Loss):
    """The hinge loss with its kink rounded off over a stretch of the given width.

    ``(1 - t)^2 / (2 width)`` where ``1 - width <= t <= 1``, zero right of it and the line
    ``1 - t - width/2`` left of it. With ``width=1`` this is ``rehu_1(1 - t)``.

    Parameters
    ----------
    width : float, default 1.0
        Length of the curved stretch, > 0.

    Examples
    --------
    >>> from rectiline.losses import SmoothedHinge
    >>> SmoothedHinge(width=0.5).value(1, [0.0, 0.75, 1.0])
    array([0.75  , 0.0625, 0.    ])
    """

    width: float = 1.0
    of = "margin"
    name = "smoothed_hinge"
    _rules = {"width": positive}

    def __post_init__(self) -> None:
        super().__post_init__()
        if 1.0 - self.width == 1.0:
            raise ValueError(
                f"SmoothedHinge(width={self.width}): width is below the rounding of the margin at "
                f"1; use Hinge."
            )

    def _make_curve(self) -> PLQCurve:
        low = 1.0 - self.width
        width = 1.0 - low  # the width that is left after rounding: slopes and values agree
        return PLQCurve(
            [low, 1.0], [0.5 * width, 0.0], [-1.0, 0.0], [-1.0, 0.0], [0.0, 1.0 / width, 0.0]
        )


@dataclass(frozen=True)
class ModifiedHuber(Loss):
    """The modified Huber loss: ``max(1 - t, 0)^2`` for ``t >= -1`` and ``-4 t`` below.

    Examples
    --------
    >>> from rectiline.losses import ModifiedHuber
    >>> ModifiedHuber().value(1, [-2.0, 0.0, 2.0])
    array([8., 1., 0.])
    """

    of = "margin"
    name = "modified_huber"

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([-1.0, 1.0], [4.0, 0.0], [-4.0, 0.0], [-4.0, 0.0], [0.0, 2.0, 0.0])
