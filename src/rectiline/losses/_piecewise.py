"""``PiecewiseLQ``, any convex piecewise linear-quadratic loss, and the linear term of a problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector

from ._base import Loss, Of
from ._curve import PLQCurve
from ._units import PLQUnits


@dataclass(frozen=True, init=False, repr=False)
class PiecewiseLQ(Loss):
    """A convex piecewise linear-quadratic loss given by its knots and pieces.

    Parameters
    ----------
    knots : array_like of shape (K,)
        Strictly increasing; there may be none.
    pieces : array_like of shape (K + 1, 3)
        Rows (a, b, c), each meaning ``a t^2 + b t + c``: left of the first knot, between the knots,
        right of the last one. The function must be continuous, convex and bounded below; if it is
        not, a ValueError names the knot and what is found on both sides of it.
    of : {"residual", "margin", "prediction"}
        Whether t is ``y - z``, ``y z`` or the prediction ``z`` itself.

    See Also
    --------
    PiecewiseLQ.maximum : the largest of some quadratics.
    PiecewiseLQ.from_units : a sum of ReLU and ReHU units.

    Examples
    --------
    An absolute error that is twice as steep for residuals above 1:

    >>> from rectiline.losses import PiecewiseLQ
    >>> loss = PiecewiseLQ([0, 1], [(0, -1, 0), (0, 1, 0), (0, 2, -1)])
    >>> loss.value([-1.0, 0.5, 3.0], 0.0)
    array([1. , 0.5, 5. ])
    >>> loss.units.relu_u
    array([ 1.,  1., -1.])

    A slope that falls is refused:

    >>> PiecewiseLQ([0], [(0, 1, 0), (0, -1, 0)])
    Traceback (most recent call last):
        ...
    ValueError: Not convex at knots[0]=0.0: the slope falls from 1.0 on pieces[0]=(0.0, 1.0, 0.0) to -1.0 on pieces[1]=(0.0, -1.0, 0.0).
    """  # noqa: E501

    of: Of
    _curve: PLQCurve
    _text: str = field(compare=False)
    name = "piecewise_lq"

    def __init__(self, knots: ArrayLike, pieces: ArrayLike, of: Of = "residual") -> None:
        curve = PLQCurve.from_pieces(knots, pieces)
        text = f"PiecewiseLQ(knots={_plain(knots)}, pieces={_plain(pieces)}, of={of!r})"
        self._fill(curve, text, of)

    @classmethod
    def maximum(cls, quadratics: ArrayLike, of: Of = "residual") -> PiecewiseLQ:
        """Build the pointwise maximum of quadratics or lines.

        Parameters
        ----------
        quadratics : array_like of shape (m, 3)
            Rows (a, b, c), each meaning ``a t^2 + b t + c``, in any order. Some may never be the
            largest.
        of : {"residual", "margin", "prediction"}
            What t is.

        Examples
        --------
        >>> from rectiline.losses import PiecewiseLQ
        >>> loss = PiecewiseLQ.maximum([(0, 0, 0), (0, -1, 1)], of="margin")  # the hinge loss
        >>> loss.value(1, [0.0, 3.0])
        array([1., 0.])
        """
        curve = PLQCurve.maximum_of(quadratics)
        text = f"PiecewiseLQ.maximum({_plain(quadratics)}, of={of!r})"
        return cls.__new__(cls)._fill(curve, text, of)

    @classmethod
    def from_units(
        cls,
        relu: Iterable[Sequence[float]] = (),
        rehu: Iterable[Sequence[float]] = (),
        of: Of = "residual",
        constant: float = 0.0,
    ) -> PiecewiseLQ:
        """Build the sum of ReLU and ReHU units.

        Parameters
        ----------
        relu : iterable of (u, v)
            Units ``relu(u t + v)``.
        rehu : iterable of (s, t0, tau)
            Units ``rehu_tau(s t + t0)``; tau > 0 may be infinite.
        of : {"residual", "margin", "prediction"}
            What t is.
        constant : float
            Added to the sum.

        Examples
        --------
        >>> from rectiline.losses import PiecewiseLQ
        >>> loss = PiecewiseLQ.from_units(relu=[(1, 0), (-1, 0)], rehu=[(1, 0, 2)])
        >>> loss.value([-1.0, 1.0], 0.0)
        array([1. , 1.5])
        """
        u, v = _columns("relu", "(u, v)", relu, 2)
        s, t0, tau = _columns("rehu", "(s, t0, tau)", rehu, 3)
        units = PLQUnits(u, v, s, t0, tau, constant)
        rows = [list(zip(u.tolist(), v.tolist())), list(zip(s.tolist(), t0.tolist(), tau.tolist()))]
        # eval knows no "inf", but it reads 1e999 as infinity: the repr stays an expression.
        shown = [str(r).replace("inf", "1e999") for r in rows]
        text = f"PiecewiseLQ.from_units(relu={shown[0]}, rehu={shown[1]}, of={of!r}"
        text += f", constant={units.constant})" if units.constant else ")"
        return cls.__new__(cls)._fill(PLQCurve.from_units(units), text, of)

    @classmethod
    def from_curve(cls, curve: PLQCurve, of: Of = "residual", text: str | None = None) -> Self:
        """Build from a curve; `text` is an expression that makes the loss again.

        Examples
        --------
        >>> from rectiline.losses import Hinge, PiecewiseLQ
        >>> PiecewiseLQ.from_curve(Hinge().curve, of="margin").value(1, [0.0, 3.0])
        array([1., 0.])
        """
        merged = curve.canonical()
        if text is None:
            knots, pieces = _plain(merged.knots), _plain(merged.pieces())
            text = f"PiecewiseLQ(knots={knots}, pieces={pieces}, of={of!r})"
        return cls.__new__(cls)._fill(merged, text, of)

    def _fill(self, curve: PLQCurve, text: str, of: Of) -> Self:
        if of not in get_args(Of):
            allowed = ", ".join(repr(word) for word in get_args(Of))
            raise ValueError(f"PiecewiseLQ: of={of!r} must be one of {allowed}.")
        curve.minimum()  # raises if there is none
        for name, value in (("of", of), ("_curve", curve), ("_text", text)):
            object.__setattr__(self, name, value)
        return self

    @property
    def knots(self) -> Vector:
        """Where the pieces meet, after merging those that are one; the minimiser is a knot."""
        return self.curve.knots

    @property
    def pieces(self) -> Vector:
        """Rows (a, b, c) of the pieces between ``knots``."""
        return self.curve.pieces()

    def _make_curve(self) -> PLQCurve:
        return self._curve

    def __repr__(self) -> str:
        return self._text


@dataclass(frozen=True)
class LinearTerm(Loss):
    """The prediction itself: a loss with one slope and, unlike all others, no minimum.

    Parameters
    ----------
    of : {"prediction", "residual", "margin"}
        What the argument is; the target that goes with it is zero, or the positive label.

    Examples
    --------
    >>> LinearTerm("residual").value(0.0, [-20.0, 3.0])
    array([-20.,   3.])
    """

    of: Of = "prediction"
    name = "linear_term"

    def _make_curve(self) -> PLQCurve:
        slope = [-1.0 if self.of == "residual" else 1.0]
        return PLQCurve([0.0], [0.0], slope, slope, [0.0, 0.0])


def _plain(values: ArrayLike) -> str:
    return str(np.asarray(values, dtype=np.float64).tolist())


def _columns(name: str, meaning: str, rows: Iterable[Sequence[float]], width: int) -> Any:
    table = np.array([tuple(row) for row in rows], dtype=np.float64)
    if table.size == 0:
        table = table.reshape(0, width)
    if table.ndim != 2 or table.shape[1] != width:
        raise ValueError(f"PiecewiseLQ: {name} must be rows {meaning}, got shape {table.shape}.")
    return table.T
