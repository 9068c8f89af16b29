"""``PLQCurve``: the convex piecewise linear-quadratic function behind every loss.

The function is kept as its knots with the value and both slopes at each, and the curvature of each
piece. A piece is evaluated from one of its knots, the one nearer to the minimiser::

    phi(t) = value + e (slope + curvature e / 2),      e = t - knot

All terms then have one sign and nothing cancels, wherever the knots lie. To the conjugate
``phi*(s) = sup_t s t - phi(t)`` a piece gives ``s knot - value + (s - slope)^2 / (2 curvature)``
and a knot gives ``s knot - value`` for every slope between its left and its right one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._immutable import Immutable
from rectiline._lazy import cached_property
from rectiline._numbers import frozen_vector
from rectiline._typing import Vector

from ._pieces import shape_from_pieces, shape_from_units, upper_envelope
from ._shape import check, integrated, lowest, vertex, with_minimiser
from ._units import PLQUnits


class _Anchors(NamedTuple):
    """For each of the K + 1 pieces: the knot it is evaluated from, its ends, and its slopes."""

    knot: Vector
    value: Vector
    slope: Vector
    ends: tuple[Vector, Vector]
    slopes: tuple[Vector, Vector]  # at these ends


class PLQCurve(Immutable):
    """A convex function made of K + 1 quadratic or linear pieces that meet in K >= 1 knots.

    Parameters
    ----------
    knots : array_like of shape (K,)
        Strictly increasing positions.
    values, left, right : array_like of shape (K,)
        The function, its left and its right derivative at the knots.
    curvature : array_like of shape (K + 1,)
        The second derivative on each piece: left of the first knot, between the knots, right of
        the last one.

    Examples
    --------
    The hinge loss, ``max(1 - t, 0)``:

    >>> hinge = PLQCurve(knots=[1.0], values=[0.0], left=[-1.0], right=[0.0], curvature=[0.0, 0.0])
    >>> hinge.value([0.0, 1.0, 2.0])
    array([1., 0., 0.])
    >>> hinge.derivative([1.0, 2.0])
    (array([-1.,  0.]), array([0., 0.]))
    >>> hinge.conjugate([-1.0, -0.5, 0.5])
    array([-1. , -0.5,  inf])
    >>> hinge.prox([-1.0, 0.5, 2.0], 1.0)
    array([0., 1., 2.])
    """

    knots: Vector
    values: Vector
    left: Vector
    right: Vector
    curvature: Vector

    def __init__(
        self,
        knots: ArrayLike,
        values: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        curvature: ArrayLike,
    ) -> None:
        given = {"knots": knots, "values": values, "left": left, "right": right}
        for name, numbers in (given | {"curvature": curvature}).items():
            self._set(**{name: frozen_vector("PLQCurve", name, np.atleast_1d(numbers))})
        sizes = [v.size for v in (self.knots, self.values, self.left, self.right)]
        if sizes[0] == 0 or len(set(sizes)) > 1 or self.curvature.size != sizes[0] + 1:
            raise ValueError(
                f"PLQCurve: knots, values, left, right have {sizes} entries and curvature has "
                f"{self.curvature.size}; K >= 1 knots need K of each and K + 1 curvatures."
            )
        check(self.knots, self.values, self.left, self.right, self.curvature)

    @classmethod
    def from_pieces(cls, knots: ArrayLike, pieces: ArrayLike) -> PLQCurve:
        """Build from K knots and K + 1 rows (a, b, c), each meaning ``a t^2 + b t + c``.

        Raises ValueError, naming the knot, if the function is not continuous or not convex.

        >>> PLQCurve.from_pieces([0.0], [(0, -1, 0), (0, 1, 0)]).value([-3.0, 2.0])
        array([3., 2.])
        """
        return cls(*shape_from_pieces(knots, pieces))

    @classmethod
    def maximum_of(cls, quadratics: ArrayLike) -> PLQCurve:
        """Build the pointwise maximum of rows (a, b, c), each meaning ``a t^2 + b t + c``.

        >>> PLQCurve.maximum_of([(0, -1, 0), (0, 1, 0), (0, 0, -5)]).knots
        array([0.])
        """
        return cls.from_pieces(*upper_envelope(quadratics))

    @classmethod
    def from_units(cls, units: PLQUnits) -> PLQCurve:
        """Build a sum of ReLU and ReHU units."""
        return cls(*shape_from_units(units))

    def canonical(self) -> PLQCurve:
        """Drop knots where nothing happens and add the minimiser if it lies inside a piece."""
        arrays = with_minimiser(self.knots, self.left, self.right, self.curvature)
        return PLQCurve(*integrated(*arrays, self.value))

    def pieces(self) -> Vector:
        """Return the K + 1 rows (a, b, c) of the pieces written as ``a t^2 + b t + c``."""
        at, slope, half = self.anchors.knot, self.anchors.slope, 0.5 * self.curvature
        b = slope - 2.0 * half * at
        c = self.anchors.value - at * (slope - half * at)
        return np.column_stack([half, b, c])

    def value(self, t: ArrayLike) -> Vector:
        """Evaluate the function at every entry of ``t``."""
        t = np.asarray(t, dtype=np.float64)
        k = np.searchsorted(self.knots, t, side="right")
        # Left of the minimiser pieces are anchored at their right end: there a knot belongs to
        # the piece it ends, so that its own value comes out.
        k = k - ((k <= self._lowest) & (t == self.knots[np.maximum(k - 1, 0)]))
        e = t - self.anchors.knot[k]
        step = e * (self.anchors.slope[k] + 0.5 * self.curvature[k] * e)
        return np.asarray(self.anchors.value[k] + step)[()]

    def derivative(self, t: ArrayLike) -> tuple[Vector, Vector]:
        """Return the left and the right derivative at every entry of ``t``."""
        t = np.asarray(t, dtype=np.float64)
        k = np.searchsorted(self.knots, t, side="right")
        slope = self.anchors.slope[k] + self.curvature[k] * (t - self.anchors.knot[k])
        slope = np.clip(slope, *(side[k] for side in self.anchors.slopes))
        knot = np.maximum(k - 1, 0)
        on_knot = t == self.knots[knot]
        low, high = (np.where(on_knot, side[knot], slope) for side in (self.left, self.right))
        return low[()], high[()]

    def conjugate(self, s: ArrayLike) -> Vector:
        """Evaluate ``sup_t s t - phi(t)``; infinite outside the domain."""
        given = np.asarray(s, dtype=np.float64)
        s = np.where(np.isinf(given), 0.0, given)
        j = np.searchsorted(self._slope_nodes, s)
        on_knot, knot, k = self._place(j, self._slope_nodes[np.minimum(j, 2 * self._n - 1)] == s)
        at_knot = s * self.knots[knot] - self.values[knot]
        curvature, excess = self.curvature[k], s - self.anchors.slope[k]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            beyond = np.where(curvature > 0, 0.5 * excess * (excess / curvature), 0.0)
        on_piece = s * self.anchors.knot[k] - self.anchors.value[k] + beyond
        # Off the knots only an end piece can be straight; the supremum there is infinite.
        outside = ~on_knot & (curvature == 0) & ((k == 0) | (k == self._n))
        result = np.where(on_knot, at_knot, np.where(outside, np.inf, on_piece))
        result = np.where(np.isinf(given), np.inf, result)
        return np.where(np.isnan(given), np.nan, result)[()]

    def prox(self, w: ArrayLike, step: ArrayLike = 1.0) -> Vector:
        """Return ``argmin_t phi(t) + (t - w)^2 / (2 step)`` for every ``w`` and ``step >= 0``."""
        w, step = np.broadcast_arrays(
            np.asarray(w, dtype=np.float64), np.asarray(step, dtype=np.float64)
        )
        if not ((step >= 0) & np.isfinite(step)).all():
            raise ValueError(f"PLQCurve.prox: step must be finite and >= 0, got {step.min()}.")
        # The result is on knot k while w lies between knot + step left and knot + step right.
        j = self.places(w, step)
        last = np.minimum(j, 2 * self._n - 1)
        hit = self.knots[last // 2] + step * self._slope_nodes[last] == w
        on_knot, knot, k = self._place(j, hit)
        at, slope, curvature = self.anchors.knot[k], self.anchors.slope[k], self.curvature[k]
        curved = at + ((w - at) - step * slope) / (1.0 + step * curvature)
        moved = np.where(curvature > 0, curved, w - step * slope)
        moved = np.clip(moved, *(side[k] for side in self.anchors.ends))
        return np.where(step == 0, w, np.where(on_knot, self.knots[knot], moved))[()]

    def places(self, w: Vector, step: Vector) -> NDArray[np.intp]:
        """Return where ``t + step * slope`` is w on the graph of the slopes of the function.

        That graph is a staircase: even places are the pieces, odd places the knots, where t stands
        still while the slope moves.
        """
        found = np.zeros(w.shape, dtype=np.intp)
        for knot, slope in zip(np.repeat(self.knots, 2), self._slope_nodes):
            found += w > knot + step * slope
        return found

    def domain(self) -> tuple[float, float]:
        """Return the smallest and the largest slope, the domain of the conjugate."""
        low = float(self.left[0]) if self.curvature[0] == 0 else -np.inf
        high = float(self.right[-1]) if self.curvature[-1] == 0 else np.inf
        return low, high

    def minimum(self) -> tuple[float, float]:
        """Return a minimiser and the least value; ValueError if unbounded below."""
        return self._minimum

    @cached_property
    def _minimum(self) -> tuple[float, float]:
        low, high = self.domain()
        if low > 0 or high < 0:
            k, side = (0, "left") if low > 0 else (self._n - 1, "right")
            raise ValueError(
                f"Unbounded below: {side} of knots[{k}]={self.knots[k]} the function falls without "
                f"end (slope {self.left[k]} left of the knot, {self.right[k]} right of it). "
                f"A loss needs a slope <= 0 on the far left and >= 0 on the far right."
            )
        bottom = vertex(self.knots, self.left, self.right, self.curvature)
        at = float(self.knots[self._lowest]) if bottom is None else bottom[1]
        return at, float(self.value(at))

    @property
    def _n(self) -> int:
        return self.knots.size

    @cached_property
    def has_kinks(self) -> bool:
        """Whether the slope jumps at some knot."""
        return bool((self.left != self.right).any())

    @cached_property
    def is_parabola(self) -> bool:
        """Whether the function is one parabola."""
        first = self.curvature[0]
        return bool(first > 0 and not self.has_kinks and (self.curvature == first).all())

    @cached_property
    def largest_curvature(self) -> float:
        """The largest second derivative of a piece."""
        return float(self.curvature.max())

    @cached_property
    def _lowest(self) -> int:
        return lowest(self.right)

    @cached_property
    def anchors(self) -> _Anchors:
        here = np.arange(self._n + 1)
        ends = here <= self._lowest  # a piece left of the minimiser starts from its right end
        here = np.where(ends, here, here - 1)
        slope = np.where(ends, self.left[here], self.right[here])
        low, high = [-np.inf], [np.inf]
        places = np.concatenate([low, self.knots]), np.concatenate([self.knots, high])
        slopes = np.concatenate([low, self.right]), np.concatenate([self.left, high])
        return _Anchors(self.knots[here], self.values[here], slope, places, slopes)

    @cached_property
    def _slope_nodes(self) -> Vector:
        return np.maximum.accumulate(np.column_stack([self.left, self.right]).ravel())

    def _place(
        self, j: NDArray[np.intp], hit: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp], NDArray[np.intp]]:
        """Read a position among the 2 K node sides: (on a knot?, which knot, which piece)."""
        on_knot = (j % 2 == 1) | (hit & (j < 2 * self._n))
        return on_knot, np.minimum(j // 2, self._n - 1), (j + 1) // 2


def decompose(curve: PLQCurve) -> PLQUnits:
    """Write ``curve`` as a constant plus ReLU and ReHU units, none of them redundant.

    Units are sorted outwards from the minimiser, those to its right first, so that no two curved
    stretches overlap. A function unbounded below raises ValueError.

    Parameters
    ----------
    curve : PLQCurve
        ``loss.curve`` of any loss.

    Returns
    -------
    PLQUnits

    Examples
    --------
    >>> from rectiline.losses import Huber, decompose
    >>> units = decompose(Huber(delta=2.0).curve)
    >>> units.rehu_s, units.rehu_t, units.rehu_tau
    (array([ 1., -1.]), array([0., 0.]), array([2., 2.]))
    """
    # Walk outwards from the minimiser t0, which is a knot of a canonical curve. To the right, at
    # each knot t_k the jump J of the slope (at t0 the whole right slope) is the unit
    # relu(J (t - t_k)), and a piece of curvature a that starts at t_k is
    # rehu_tau(sqrt(a) (t - t_k)) with tau = sqrt(a) times its length. To the left the same in a
    # mirror. What remains is the least value, the constant.
    curve = curve.canonical()
    at, constant = curve.minimum()
    m = int(np.searchsorted(curve.knots, at))
    relu: list[tuple[float, float]] = []
    rehu: list[tuple[float, float, float]] = []
    for sign in (1.0, -1.0):
        if sign > 0:
            knots, inner, outer = curve.knots[m:], curve.left[m:], curve.right[m:]
            curvature = curve.curvature[m + 1 :]
        else:
            knots, inner, outer = (v[m::-1] for v in (curve.knots, -curve.right, -curve.left))
            curvature = curve.curvature[m::-1]
        # Half of what the kink at the minimiser turns is ours: the slope outwards from level.
        jumps = outer - inner
        jumps[0] = max(outer[0], 0.0)
        lengths = np.append(np.abs(np.diff(knots)), np.inf)
        before = 0.0
        for knot, jump, bend, length in zip(knots, jumps, curvature, lengths):
            if jump > 0:
                relu.append((sign * jump, -sign * jump * knot))
            s = float(np.sqrt(bend))
            if bend > 0 and abs(bend - before) <= 1e-14 * bend:  # a kink in a curved stretch
                rehu[-1] = (*rehu[-1][:2], rehu[-1][2] + s * length)
            elif bend > 0:
                rehu.append((sign * s, -sign * s * knot, s * length))
            before = bend
    u, v = np.array(relu).reshape(-1, 2).T
    s_, t_, tau = np.array(rehu).reshape(-1, 3).T
    return PLQUnits(u, v, s_, t_, tau, constant)
