"""ReLU and ReHU units: the two building blocks of every loss.

``relu(z) = max(z, 0)`` has a dual variable in [0, 1]. ``rehu_tau(z)`` is 0 for z <= 0, z^2/2 up to
tau and the line tau (z - tau/2) beyond; its dual variable lies in [0, tau]; tau may be infinite.
A convex piecewise linear-quadratic function that is bounded below is a constant plus such units::

    phi(t) = constant + sum_l relu(u_l t + v_l) + sum_h rehu_{tau_h}(s_h t + t_h)

A unit written by its dual variable is a supremum, ``relu(z) = max_{0<=a<=1} a z`` and
``rehu_tau(z) = max_{0<=a<=tau} a z - a^2/2``, so duals (relu, rehu) give a line below phi: its
slope is ``join(relu, rehu)`` and, but for the constant, its intercept is ``height(relu, rehu)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._immutable import Immutable
from rectiline._numbers import frozen_vector
from rectiline._typing import Vector

_EPS = float(np.finfo(np.float64).eps)


class Nodes(NamedTuple):
    """Slopes and unit duals of a sum of units on both sides of each of P knots."""

    knots: Vector  # (P,)
    left: Vector  # (P,) slope just left of the knot
    right: Vector  # (P,) slope just right of it
    relu_left: NDArray[np.float64]  # (P, L)
    relu_right: NDArray[np.float64]  # (P, L)
    rehu: NDArray[np.float64]  # (P, H), the same on both sides
    curvature: Vector  # (P + 1,) second derivative between the knots
    rounding: Vector  # (P,) size of the terms that were added to get the slopes


class PLQUnits(Immutable):
    """A constant plus ReLU and ReHU units of one variable.

    Parameters
    ----------
    relu_u, relu_v : array_like of shape (L,)
        The units ``relu(u t + v)``.
    rehu_s, rehu_t, rehu_tau : array_like of shape (H,)
        The units ``rehu_tau(s t + t0)``; ``tau > 0`` may be infinite.
    constant : float
        Added to the sum.

    Examples
    --------
    >>> units = PLQUnits(relu_u=[-1.0], relu_v=[1.0])  # the hinge loss
    >>> units.value([-1.0, 0.5, 3.0])
    array([2. , 0.5, 0. ])
    >>> relu, rehu = units.split(-0.25)
    >>> relu
    array([0.25])
    """

    relu_u: Vector
    relu_v: Vector
    rehu_s: Vector
    rehu_t: Vector
    rehu_tau: Vector
    constant: float

    def __init__(
        self,
        relu_u: ArrayLike = (),
        relu_v: ArrayLike = (),
        rehu_s: ArrayLike = (),
        rehu_t: ArrayLike = (),
        rehu_tau: ArrayLike = (),
        constant: float = 0.0,
    ) -> None:
        given = {"relu_u": relu_u, "relu_v": relu_v, "rehu_s": rehu_s, "rehu_t": rehu_t}
        for name, numbers in given.items():
            self._set(**{name: frozen_vector("PLQUnits", name, np.atleast_1d(numbers))})
        tau = frozen_vector("PLQUnits", "rehu_tau", np.atleast_1d(rehu_tau), infinite=True)
        self._set(rehu_tau=tau, constant=float(constant) + 0.0)
        self._check()

    def _check(self) -> None:
        if self.relu_u.size != self.relu_v.size:
            raise ValueError(
                f"PLQUnits: relu_u has {self.relu_u.size} entries and relu_v has "
                f"{self.relu_v.size}; give one u and one v for each ReLU."
            )
        if not self.rehu_s.size == self.rehu_t.size == self.rehu_tau.size:
            raise ValueError(
                f"PLQUnits: rehu_s, rehu_t, rehu_tau have {self.rehu_s.size}, {self.rehu_t.size}, "
                f"{self.rehu_tau.size} entries; give one of each for each ReHU."
            )
        if (self.rehu_tau <= 0).any():
            h = int(np.argmax(self.rehu_tau <= 0))
            raise ValueError(f"PLQUnits: rehu_tau[{h}] is {self.rehu_tau[h]}; tau must be > 0.")
        if not np.isfinite(self.constant):
            raise ValueError(f"PLQUnits: constant is {self.constant}; it must be finite.")

    @property
    def n_relu(self) -> int:
        """Number of ReLU units, L."""
        return self.relu_u.size

    @property
    def n_rehu(self) -> int:
        """Number of ReHU units, H."""
        return self.rehu_s.size

    def value(self, t: ArrayLike) -> NDArray[np.float64]:
        """Sum the units and the constant at every entry of ``t``."""
        t = np.asarray(t, dtype=np.float64)
        total = np.full(t.shape, self.constant)
        for u, v in zip(self.relu_u, self.relu_v):
            total += np.maximum(u * t + v, 0.0)
        for s, t0, tau in zip(self.rehu_s, self.rehu_t, self.rehu_tau):
            z = s * t + t0
            dual = np.clip(z, 0.0, tau)
            total += dual * (z - 0.5 * dual)
        return total[()]

    def scaled(self, c: float) -> PLQUnits:
        """Multiply the function by ``c >= 0`` (Prop. 1: the result is again a sum of units)."""
        if not (np.isfinite(c) and c >= 0):
            raise ValueError(f"PLQUnits.scaled: c is {c}; it must be a finite number >= 0.")
        if c == 0:
            return PLQUnits()
        root = float(np.sqrt(c))
        return PLQUnits(
            c * self.relu_u,
            c * self.relu_v,
            root * self.rehu_s,
            root * self.rehu_t,
            root * self.rehu_tau,
            c * self.constant,
        )

    def join(self, relu: ArrayLike, rehu: ArrayLike) -> NDArray[np.float64]:
        """Add unit duals (last axis) up to a slope: sum u relu + sum s rehu."""
        slope = np.asarray(relu) @ self.relu_u + np.asarray(rehu) @ self.rehu_s
        return np.asarray(slope, dtype=np.float64)[()]

    def height(self, relu: ArrayLike, rehu: ArrayLike) -> NDArray[np.float64]:
        """Sum ``relu v + rehu t - rehu^2/2``: minus the conjugate at the joined slope.

        The constant is left out: ``phi*(join) = -height - constant`` for the duals of ``split``.
        """
        rehu = np.asarray(rehu, dtype=np.float64)
        height = np.asarray(relu) @ self.relu_v + rehu @ self.rehu_t - 0.5 * (rehu**2).sum(axis=-1)
        return np.asarray(height, dtype=np.float64)[()]

    def split(self, slope: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Split slopes into unit duals of the greatest height: the inverse of ``join``.

        Parameters
        ----------
        slope : array_like
            Slopes in the domain of the conjugate; a ValueError is raised outside.

        Returns
        -------
        relu, rehu : ndarray of shape (..., L) and (..., H)
            Duals in [0, 1] and [0, tau], those of a point where phi has the slope.
        """
        slope = np.asarray(slope, dtype=np.float64)
        nodes = self.nodes()
        # Walking along t, slope and duals move together, linearly between the 2 P node sides:
        # so the duals of a slope are an interpolation, whichever units are on.
        at = np.maximum.accumulate(np.column_stack([nodes.left, nodes.right]).ravel())
        relu = np.stack([nodes.relu_left, nodes.relu_right], axis=1).reshape(at.size, -1)
        rehu = np.repeat(nodes.rehu, 2, axis=0)
        slope = self._within_domain(slope, at[0], at[-1], nodes)
        upper = np.searchsorted(at, slope)
        lower = np.clip(upper - 1, 0, at.size - 1)
        upper = np.minimum(upper, at.size - 1)
        width = at[upper] - at[lower]
        inside = np.clip(slope, at[0], at[-1])
        part = ((inside - at[lower]) / np.where(width > 0, width, 1.0))[..., None]
        relu = (1.0 - part) * relu[lower] + part * relu[upper]
        rehu = (1.0 - part) * rehu[lower] + part * rehu[upper]
        # Beyond the outer nodes only ReHUs with infinite tau still move, in proportion to s.
        beyond = slope - inside
        if beyond.any():
            curvature = np.where(beyond < 0, nodes.curvature[0], nodes.curvature[-1])
            share = np.divide(beyond, curvature, out=np.zeros_like(slope), where=beyond != 0)
            endless = np.where(np.isinf(self.rehu_tau), self.rehu_s, 0.0)
            rehu = rehu + np.maximum(share[..., None] * endless, 0.0)
        # Interpolating between two equal numbers may still round away from them.
        return np.clip(relu, 0.0, 1.0), np.clip(rehu, 0.0, self.rehu_tau)

    def _within_domain(
        self, slope: NDArray[np.float64], low: float, high: float, nodes: Nodes
    ) -> NDArray[np.float64]:
        low_end = -np.inf if nodes.curvature[0] > 0 else low
        high_end = np.inf if nodes.curvature[-1] > 0 else high
        # A slope computed as (c * slope) / c may miss the end of the domain by an ulp.
        slack = 1e-12 * max(abs(low), abs(high))
        wrong = ~((slope >= low_end - slack) & (slope <= high_end + slack))
        if wrong.any():
            bad = slope[wrong].flat[0] if slope.ndim else slope
            raise ValueError(
                f"PLQUnits.split: slope {bad} lies outside the slopes of the function, "
                f"[{low_end}, {high_end}]."
            )
        return np.clip(slope, low_end, high_end)

    def nodes(self) -> Nodes:
        """Describe the sum at its knots, which are the kinks of its units."""
        relu_at, start, stop = self._kinks()
        rows = np.concatenate([relu_at, start, stop])
        knots = np.unique(rows[np.isfinite(rows)])
        if knots.size == 0:  # a constant
            knots = np.zeros(1)
        x = knots[:, None]
        rises, flat = self.relu_u > 0, self.relu_u == 0
        relu_left = np.where(rises, x > relu_at, x <= relu_at).astype(np.float64)
        relu_right = np.where(rises, x >= relu_at, x < relu_at).astype(np.float64)
        relu_left[:, flat] = relu_right[:, flat] = self.relu_v[flat] > 0
        distance = (x - start) * np.sign(self.rehu_s)
        rehu = np.clip(np.abs(self.rehu_s) * distance, 0.0, self.rehu_tau)
        rehu = np.where(x == stop, self.rehu_tau, rehu)
        still = self.rehu_s == 0
        rehu[:, still] = np.clip(self.rehu_t[still], 0.0, self.rehu_tau[still])
        left = relu_left @ self.relu_u + rehu @ self.rehu_s
        right = left + np.abs(relu_right - relu_left) @ np.abs(self.relu_u)
        terms = np.maximum(relu_left, relu_right) @ np.abs(self.relu_u)
        reach = np.where(rehu > 0, np.abs(self.rehu_s) * np.abs(start), 0.0)
        terms += (rehu + reach) @ np.abs(self.rehu_s)
        edges = np.concatenate([[-np.inf], knots, [np.inf]])[:, None]
        curved = (np.fmin(start, stop) <= edges[:-1]) & (np.fmax(start, stop) >= edges[1:])
        curvature = (curved & ~still) @ self.rehu_s**2
        return Nodes(knots, left, right, relu_left, relu_right, rehu, curvature, terms)

    def _kinks(self) -> tuple[Vector, Vector, Vector]:
        """Return where each ReLU bends and where each ReHU starts and stops to be curved.

        A kink shared by two units comes out of two divisions that may differ in the last bits;
        those are made equal, so that no sliver of a piece appears between them. NaN: no kink.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            relu_at = np.where(self.relu_u != 0, -self.relu_v / self.relu_u, np.nan)
            start = np.where(self.rehu_s != 0, -self.rehu_t / self.rehu_s, np.nan)
            width = np.where(self.rehu_s != 0, self.rehu_tau / self.rehu_s, np.nan)
        stop = start + width
        rows = np.concatenate([relu_at, start, stop])
        error = 2 * _EPS * np.abs(np.concatenate([relu_at, start, np.abs(start) + np.abs(width)]))
        order = np.argsort(rows)  # NaN and infinity come last
        order = order[np.isfinite(rows[order])]
        close = np.diff(rows[order]) <= 2 * (error[order][1:] + error[order][:-1])
        group = np.concatenate([[0], np.cumsum(~close)]) if order.size else order
        for members in (order[group == g] for g in np.unique(group[:-1][close])):
            rows[members] = rows[members[np.argmin(error[members])]]
        relus, rehus = self.n_relu, self.n_rehu
        return rows[:relus], rows[relus : relus + rehus], rows[relus + rehus :]
