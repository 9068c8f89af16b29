"""Losses of the residual t = y - z, for regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rectiline._numbers import fraction, nonnegative, positive

from ._base import Loss
from ._curve import PLQCurve


@dataclass(frozen=True)
class Absolute(Loss):
    """The absolute error, ``|t|``: its fit is a median.

    Examples
    --------
    >>> from rectiline.losses import Absolute
    >>> Absolute().value([1.0, 2.0], [3.0, 2.0])
    array([2., 0.])
    """

    of = "residual"
    name = "absolute"

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([0.0], [0.0], [-1.0], [1.0], [0.0, 0.0])


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """The loss of support vector regression, ``max(|t| - epsilon, 0)``.

    Parameters
    ----------
    epsilon : float, default 0.1
        Errors up to this size, >= 0, cost nothing.

    Examples
    --------
    >>> from rectiline.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(epsilon=0.5).value(0.0, [-2.0, 0.25, 1.0])
    array([1.5, 0. , 0.5])
    """

    epsilon: float = 0.1
    of = "residual"
    name = "epsilon_insensitive"
    _rules = {"epsilon": nonnegative}

    def _make_curve(self) -> PLQCurve:
        knots = np.unique([-self.epsilon, self.epsilon])  # one where epsilon is 0
        zero = np.zeros(knots.size)
        return PLQCurve(knots, zero, [-1.0, *zero[1:]], [*zero[1:], 1.0], [0.0, *zero])


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """The squared epsilon-insensitive loss, ``max(|t| - epsilon, 0)^2``.

    Parameters
    ----------
    epsilon : float, default 0.1
        Errors up to this size, >= 0, cost nothing.

    Examples
    --------
    >>> from rectiline.losses import SquaredEpsilonInsensitive
    >>> SquaredEpsilonInsensitive(epsilon=0.5).value(0.0, [-2.0, 0.25, 1.0])
    array([2.25, 0.  , 0.25])
    """

    epsilon: float = 0.1
    of = "residual"
    name = "squared_epsilon_insensitive"
    _rules = {"epsilon": nonnegative}

    def _make_curve(self) -> PLQCurve:
        knots = np.unique([-self.epsilon, self.epsilon])  # one where epsilon is 0
        zero = np.zeros(knots.size)
        return PLQCurve(knots, zero, zero, zero, [2.0, *zero[1:], 2.0])


@dataclass(frozen=True)
class Pinball(Loss):
    """The check loss of quantile regression, ``q max(t, 0) + (1 - q) max(-t, 0)``.

    Parameters
    ----------
    quantile : float, default 0.5
        The quantile q to fit, strictly between 0 and 1.

    Examples
    --------
    >>> from rectiline.losses import Pinball
    >>> Pinball(quantile=0.75).value([0.0, 0.0], [-2.0, 2.0])
    array([1.5, 0.5])
    """

    quantile: float = 0.5
    of = "residual"
    name = "pinball"
    _rules = {"quantile": fraction}

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([0.0], [0.0], [self.quantile - 1.0], [self.quantile], [0.0, 0.0])


@dataclass(frozen=True)
class Asymmetric(Loss):
    """An asymmetric absolute error, ``over max(z - y, 0) + under max(y - z, 0)``.

    A prediction z above the target costs `over` per unit, one below it `under`. The best constant
    is the quantile ``under / (over + under)``: `Pinball` with another name for its slopes.

    Parameters
    ----------
    over : float, default 1.0
        Cost per unit of predicting too much, > 0.
    under : float, default 1.0
        Cost per unit of predicting too little, > 0.

    Examples
    --------
    >>> from rectiline.losses import Asymmetric
    >>> Asymmetric(over=1, under=4).value(10.0, [12.0, 8.0])
    array([2., 8.])
    """

    over: float = 1.0
    under: float = 1.0
    of = "residual"
    name = "asymmetric"
    _rules = {"over": positive, "under": positive}

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([0.0], [0.0], [-self.over], [self.under], [0.0, 0.0])


@dataclass(frozen=True)
class Huber(Loss):
    """The Huber loss: ``t^2/2`` while ``|t| <= delta``, then ``delta (|t| - delta/2)``.

    Parameters
    ----------
    delta : float, default 1.0
        Where the loss becomes linear, > 0.

    Examples
    --------
    >>> from rectiline.losses import Huber
    >>> Huber(delta=2.0).value(0.0, [-1.0, 2.0, 5.0])
    array([0.5, 2. , 8. ])
    """

    delta: float = 1.0
    of = "residual"
    name = "huber"
    _rules = {"delta": positive}

    def _make_curve(self) -> PLQCurve:
        d, top = self.delta, 0.5 * self.delta * self.delta
        slopes = [-d, 0.0, d]
        return PLQCurve([-d, 0.0, d], [top, 0.0, top], slopes, slopes, [0.0, 1.0, 1.0, 0.0])


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error, ``t^2/2``.

    Examples
    --------
    >>> from rectiline.losses import SquaredError
    >>> SquaredError().value([1.0, 2.0], [3.0, 2.0])
    array([2., 0.])
    """

    of = "residual"
    name = "squared_error"

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([0.0], [0.0], [0.0], [0.0], [1.0, 1.0])


@dataclass(frozen=True)
class Expectile(Loss):
    """The asymmetric squared error, ``q max(t, 0)^2 / 2 + (1 - q) max(-t, 0)^2 / 2``.

    Parameters
    ----------
    quantile : float, default 0.5
        The level q of the expectile to fit, strictly between 0 and 1.

    Examples
    --------
    >>> from rectiline.losses import Expectile
    >>> Expectile(quantile=0.75).value([0.0, 0.0], [-2.0, 2.0])
    array([1.5, 0.5])
    """

    quantile: float = 0.5
    of = "residual"
    name = "expectile"
    _rules = {"quantile": fraction}

    def _make_curve(self) -> PLQCurve:
        return PLQCurve([0.0], [0.0], [0.0], [0.0], [1.0 - self.quantile, self.quantile])
