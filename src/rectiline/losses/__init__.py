"""Losses measure the error of one prediction; all are convex and piecewise linear-quadratic.

Every loss is a curve phi(t) of one argument: the margin ``t = y z`` for two classes, the residual
``t = y - z`` for regression, or the prediction ``t = z`` itself. It has a value, derivative,
conjugate and prox, and it falls into ReLU and ReHU units, which is what solvers see.
"""

from ._base import Loss
from ._curve import PLQCurve, decompose
from ._margin import Hinge, ModifiedHuber, SmoothedHinge, SquaredHinge
from ._piecewise import LinearTerm as LinearTerm
from ._piecewise import PiecewiseLQ
from ._residual import (
    Absolute,
    Asymmetric,
    EpsilonInsensitive,
    Expectile,
    Huber,
    Pinball,
    SquaredEpsilonInsensitive,
    SquaredError,
)
from ._table import LOSSES, get
from ._units import PLQUnits

__all__ = [
    "LOSSES",
    "Absolute",
    "Asymmetric",
    "EpsilonInsensitive",
    "Expectile",
    "Hinge",
    "Huber",
    "Loss",
    "ModifiedHuber",
    "PLQCurve",
    "PLQUnits",
    "PiecewiseLQ",
    "Pinball",
    "SmoothedHinge",
    "SquaredEpsilonInsensitive",
    "SquaredError",
    "SquaredHinge",
    "decompose",
    "get",
]
