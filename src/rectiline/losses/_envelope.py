"""The upper envelope of quadratics, for losses that are given as a maximum.

Two envelopes are merged into one: on each interval between their edges only two quadratics compete,
and they cross at most twice. Halving the list makes this O(m log m) for m quadratics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector

_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 64 * _EPS


class _Envelope(NamedTuple):
    edges: Vector  # (E,) where the largest quadratic changes
    who: NDArray[np.intp]  # (E + 1,) its index between the edges


def upper_envelope(quadratics: ArrayLike) -> tuple[Vector, NDArray[np.float64]]:
    """Return the knots and the rows (a, b, c) of the pieces of the maximum of ``quadratics``."""
    abc = np.array(quadratics, dtype=np.float64)
    if abc.ndim != 2 or abc.shape[1] != 3 or abc.shape[0] == 0:
        raise ValueError(
            f"quadratics must be one or more rows (a, b, c), got an array of shape {abc.shape}."
        )
    if not np.isfinite(abc).all():
        k = int(np.argmin(np.isfinite(abc).all(axis=1)))
        raise ValueError(f"quadratics[{k}] is {abc[k].tolist()}; coefficients must be finite.")
    envelope = _without_slivers(abc, _envelope(abc, 0, len(abc)))
    return envelope.edges, abc[envelope.who]


def _envelope(abc: NDArray[np.float64], low: int, high: int) -> _Envelope:
    if high - low == 1:
        return _Envelope(np.empty(0), np.array([low]))
    middle = (low + high) // 2
    return _merge(abc, _envelope(abc, low, middle), _envelope(abc, middle, high))


def _merge(abc: NDArray[np.float64], one: _Envelope, two: _Envelope) -> _Envelope:
    edges = np.union1d(one.edges, two.edges)
    first, second = _who(one, edges), _who(two, edges)
    bounds = np.concatenate([[-np.inf], edges, [np.inf]])
    cuts = roots(_difference(abc[first], abc[second]))
    inside = (cuts > bounds[:-1, None]) & (cuts < bounds[1:, None])
    edges = np.union1d(edges, cuts[inside])
    first, second = _who(one, edges), _who(two, edges)
    gap = _signs(_difference(abc[first], abc[second]), edges)
    return _joined(edges, np.where(gap >= 0, first, second))


def _who(envelope: _Envelope, edges: Vector) -> NDArray[np.intp]:
    """Index of the largest quadratic of ``envelope`` on each interval between ``edges``."""
    starts = np.concatenate([[-np.inf], edges])
    return envelope.who[np.searchsorted(envelope.edges, starts, side="right")]


def _difference(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients of p - q; what is only rounding of the two is zero: they run parallel."""
    difference = p - q
    noise = 4 * _EPS * np.maximum(np.abs(p), np.abs(q))
    return np.where(np.abs(difference) <= noise, 0.0, difference)


def roots(abc: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both real roots of each row (a, b, c), NaN where there is none."""
    size = np.abs(abc).max(axis=1, keepdims=True)
    a, b, c = (abc / np.where(size > 0, size, 1.0)).T
    with np.errstate(all="ignore"):
        root = np.sqrt(b * b - 4.0 * a * c)  # NaN if they do not cross
        # The sum of two numbers of one sign: nothing cancels, and c / q is the other root.
        q = -0.5 * (b + np.where(b >= 0, root, -root))
        both = np.stack([q / a, c / q], axis=1)
    return np.where(np.isfinite(both), both, np.nan)


def _signs(abc: NDArray[np.float64], edges: Vector) -> Vector:
    """Sign of each row's quadratic on its interval between ``edges``, on which it has no root."""
    a, b, c = abc.T
    if edges.size == 0:
        ends = a[0] or c[0] or b[0]
        return np.array([np.sign(ends)])
    t = np.concatenate([edges[:1], 0.5 * edges[:-1] + 0.5 * edges[1:], edges[-1:]])
    signs: Vector = np.sign((a * t + b) * t + c)
    # Towards infinity the leading coefficient decides.
    signs[0] = np.sign(a[0] or -b[0] or c[0])
    signs[-1] = np.sign(a[-1] or b[-1] or c[-1])
    return signs


def _joined(edges: Vector, who: NDArray[np.intp]) -> _Envelope:
    change = who[1:] != who[:-1]
    return _Envelope(edges[change], np.concatenate([who[:1], who[1:][change]]))


def _without_slivers(abc: NDArray[np.float64], envelope: _Envelope) -> _Envelope:
    """Drop inner pieces that rise above both neighbours by rounding only.

    Where a line touches a parabola, or three quadratics meet in one point, rounding decides who is
    on top over a tiny interval. Such a piece would become a needless unit.
    """
    edges, who = list(envelope.edges), list(envelope.who)
    k = 1
    while k < len(who) - 1:
        low, high = edges[k - 1], edges[k]
        cut = _cut_without(abc[who[k - 1]], abc[who[k]], abc[who[k + 1]], low, high)
        if cut is None:
            k += 1
            continue
        edges[k - 1 : k + 1] = [cut]
        del who[k]
        if who[k - 1] == who[k]:
            del who[k], edges[k - 1]
        k = max(k - 1, 1)
    return _Envelope(np.array(edges), np.array(who))


def _cut_without(
    before: NDArray[np.float64],
    mine: NDArray[np.float64],
    after: NDArray[np.float64],
    low: float,
    high: float,
) -> float | None:
    """Where ``before`` may hand over to ``after`` if ``mine``, between low and high, is left out.

    None if nowhere: then the piece is no sliver.
    """
    cuts = roots(_difference(before, after)[None, :])[0]
    for cut in (low, high, *cuts[(cuts > low) & (cuts < high)]):
        # What is lost, on both sides of the cut: at their middle, and next to the cut.
        t = np.array([0.5 * low + 0.5 * cut, cut, cut, 0.5 * cut + 0.5 * high])
        powers = np.stack([t * t, t, np.ones(4)])
        heir = np.stack([before, before, after, after])
        lost = ((mine - heir) * powers.T).sum(axis=1)
        if (lost <= _ROUNDING * (np.abs(heir) * np.abs(powers.T)).sum(axis=1)).all():
            return float(cut)
    return None
