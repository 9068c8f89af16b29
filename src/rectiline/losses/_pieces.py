"""Turn quadratic pieces, or units, into the arrays of a ``PLQCurve``; losses use it.

Coefficients a t^2 + b t + c are what users write, but a poor way to compute: far from t = 0 the
three terms cancel. Here they are read once, at the knots: the slopes there are integrated outwards
from the minimiser, so that nothing cancels any more. A maximum of quadratics becomes pieces first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector

from ._shape import integrated, with_minimiser
from ._units import PLQUnits

_EPS = float(np.finfo(np.float64).eps)
# Relative to the terms added at a knot. A jump or a fall of the slope larger than ERROR is the
# user's mistake; up to ROUNDING a rising slope is a smooth joint, not a kink.
ERROR = 1e-12
ROUNDING = 64 * _EPS
# Relative to the terms added at the knots beside it, too: a user who computes the coefficients of a
# piece from its far end rounds as much.
INHERITED = 16 * _EPS


def shape_from_pieces(knots: ArrayLike, pieces: ArrayLike) -> tuple[Vector, ...]:
    """Check K knots and K + 1 rows (a, b, c) and compute the arrays of their function."""
    given, abc = _read(knots, pieces)
    if given.size == 0:  # one quadratic: any knot will do, the minimiser replaces it
        given, abc = np.zeros(1), np.vstack([abc, abc])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exact = -abc[:, 1] / (2.0 * abc[:, 0])
    slopes = _slopes(given, abc)
    t, left, right, curvature = with_minimiser(given, *slopes, 2.0 * abc[:, 0], exact)
    # A joint smoothed above must not leave the piece beside it with a slope it does not reach.
    rise = left[1:] - right[:-1]
    missed = np.abs(rise - curvature[1:-1] * np.diff(t))
    redo = missed > 8 * _EPS * np.maximum(np.abs(left[1:]), np.abs(right[:-1]))
    redo &= curvature[1:-1] > 0
    curvature[1:-1][redo] = np.maximum(rise[redo], 0.0) / np.diff(t)[redo]

    def value(at: float) -> Any:
        """Evaluate the piece at a point, of two that meet there the one with smaller terms."""
        first, last = np.searchsorted(given, at), np.searchsorted(given, at, side="right")
        return _at(min(abc[[first, last]], key=lambda piece: float(_terms(piece, at))), at)

    return integrated(t, left, right, curvature, value)


def shape_from_units(units: PLQUnits) -> tuple[Vector, ...]:
    """Compute the arrays of a sum of units."""
    nodes = units.nodes()
    slopes = _cleared(nodes.left, nodes.right, nodes.rounding)
    return integrated(*with_minimiser(nodes.knots, *slopes, nodes.curvature), units.value)


def _read(knots: ArrayLike, pieces: ArrayLike) -> tuple[Vector, NDArray[np.float64]]:
    t, abc = np.array(knots, dtype=np.float64), _rows("pieces", pieces)
    if t.ndim != 1:
        raise ValueError(f"knots must be one-dimensional, got shape {t.shape}.")
    if abc.shape[0] != t.size + 1:
        raise ValueError(
            f"{t.size} knots bound {t.size + 1} pieces, but pieces has {abc.shape[0]} rows."
        )
    if not np.isfinite(t).all():
        k = int(np.argmin(np.isfinite(t)))
        raise ValueError(f"knots[{k}] is {t[k]}; knots must be finite.")
    if not (np.diff(t) > 0).all():
        k = int(np.argmin(np.diff(t) > 0))
        raise ValueError(
            f"knots must increase strictly, but knots[{k}]={t[k]} is followed by "
            f"knots[{k + 1}]={t[k + 1]}."
        )
    a = abc[:, 0]
    falls = a < -ROUNDING * np.abs(a).max()
    if falls.any():
        k = int(np.argmax(falls))
        low = f"knots[{k - 1}]={t[k - 1]}" if k > 0 else "-infinity"
        high = f"knots[{k}]={t[k]}" if k < t.size else "infinity"
        raise ValueError(
            f"Not convex between {low} and {high}: pieces[{k}]={_text(abc[k])} has the negative "
            f"quadratic coefficient {a[k]}."
        )
    abc[:, 0] = np.maximum(a, 0.0)
    return t, abc


def _rows(name: str, given: ArrayLike) -> NDArray[np.float64]:
    """Return one or more rows (a, b, c) of finite numbers."""
    abc = np.array(given, dtype=np.float64)
    if abc.ndim != 2 or abc.shape[1] != 3 or not len(abc):
        raise ValueError(f"{name} must be one or more rows (a, b, c), got shape {abc.shape}.")
    if not np.isfinite(abc).all():
        k = int(np.argmin(np.isfinite(abc).all(axis=1)))
        raise ValueError(f"{name}[{k}] is {_text(abc[k])}; coefficients must be finite.")
    return abc


def _slopes(t: Vector, abc: NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Slopes on both sides of each knot, after checking that values meet and slopes rise."""
    before, after = abc[:-1], abc[1:]
    with np.errstate(over="ignore", invalid="ignore"):
        values = _at(before, t), _at(after, t)
        terms = np.maximum(_terms(before, t), _terms(after, t))
    if not np.isfinite(terms).all():
        k = int(np.argmin(np.isfinite(terms)))
        raise ValueError(f"knots[{k}]={t[k]}: the pieces beside it overflow there.")
    inherited = INHERITED * _beside(_terms, t, abc)
    broken = np.abs(values[1] - values[0]) > np.maximum(ERROR * terms, inherited)
    if broken.any():
        k = int(np.argmax(broken))
        raise ValueError(
            f"Not continuous at knots[{k}]={t[k]}: pieces[{k}]={_text(before[k])} gives "
            f"{values[0][k]} and pieces[{k + 1}]={_text(after[k])} gives {values[1][k]}."
        )
    left, right = (2.0 * p[:, 0] * t + p[:, 1] for p in (before, after))
    left_terms, right_terms = _slope_terms(before, t), _slope_terms(after, t)
    terms = np.maximum(left_terms, right_terms)
    inherited = INHERITED * _beside(_slope_terms, t, abc)
    falls = left - right > np.maximum(ERROR * terms, inherited)
    if falls.any():
        k = int(np.argmax(falls))
        raise ValueError(
            f"Not convex at knots[{k}]={t[k]}: the slope falls from {left[k]} on "
            f"pieces[{k}]={_text(before[k])} to {right[k]} on pieces[{k + 1}]={_text(after[k])}."
        )
    left, right = _cleared(left, right, np.stack([left_terms, right_terms]))
    smooth = right - left <= np.maximum(ROUNDING * terms, inherited)
    # At a smooth joint trust the side that added the smaller terms, above all a straight one.
    use_left = (before[:, 0] == 0) | ((after[:, 0] != 0) & (left_terms <= right_terms))
    shared = np.where(use_left, left, right)
    return np.where(smooth, shared, left), np.where(smooth, shared, right)


def _cleared(left: Vector, right: Vector, terms: NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Set slopes that are nothing but rounding of ``terms`` to zero."""
    bounds = ROUNDING * np.broadcast_to(terms, (2, left.size))
    return (
        np.where(np.abs(left) <= bounds[0], 0.0, left),
        np.where(np.abs(right) <= bounds[1], 0.0, right),
    )


def _beside(terms: Callable[[Any, Any], Any], t: Vector, abc: NDArray[np.float64]) -> Vector:
    """Largest terms of the two pieces that meet in each knot, at their other ends."""
    before = terms(abc[:-1], np.append(t[:1], t[:-1]))
    after = terms(abc[1:], np.append(t[1:], t[-1:]))
    largest: Vector = np.maximum(before, after)
    return largest


def _slope_terms(abc: NDArray[np.float64], t: Any) -> Any:
    return 2.0 * np.abs(abc[..., 0] * t) + np.abs(abc[..., 1])


def _at(abc: NDArray[np.float64], t: Any) -> Any:
    return (abc[..., 0] * t + abc[..., 1]) * t + abc[..., 2]


def _terms(abc: NDArray[np.float64], t: Any) -> Any:
    return _at(np.abs(abc), np.abs(t))


def _text(row: NDArray[np.float64]) -> str:
    return "(" + ", ".join(repr(float(x)) for x in row) + ")"


def upper_envelope(quadratics: ArrayLike) -> tuple[Vector, NDArray[np.float64]]:
    """Return the knots and the rows (a, b, c) of the pieces of the maximum of ``quadratics``.

    A walk from left to right: the quadratic on top stays there until the first of the others
    overtakes it, where their difference goes from below zero to above. Each step looks at all of
    them, so that m quadratics take O(m^2) operations, on arrays.
    """
    abc = _rows("quadratics", quadratics)
    # Towards minus infinity the leading coefficients decide.
    who = [int(np.lexsort((abc[:, 2], -abc[:, 1], abc[:, 0]))[-1])]
    edges: list[float] = []
    at, met = -np.inf, np.zeros(len(abc), dtype=bool)  # the last edge, and who was on top there
    while True:
        cuts, errors = _overtaking(abc, abc[who[-1]])
        # Rounding may put another one on top over a tiny interval, which the next one replaces.
        is_here = cuts <= at + errors
        cuts[~(cuts >= at - errors) | (is_here & met)] = np.inf
        first = float(cuts.min())
        if first == np.inf:
            return np.array(edges), abc[who]
        # Of several at one place the steepest, and of equally steep ones the most curved.
        close = np.flatnonzero(cuts <= first + errors)
        a, b = 2.0 * abc[close, 0] * first, abc[close, 1]
        steep = a + b >= (a + b).max() - ROUNDING * (np.abs(a) + np.abs(b))
        best = int(close[np.argmax(np.where(steep, abc[close, 0], -np.inf))])
        if is_here[best]:
            who[-1] = best
        else:
            edges.append(first)
            who.append(best)
            at = first
            met[:] = False
        met[best] = True


def _overtaking(abc: NDArray[np.float64], top: Vector) -> tuple[Vector, Vector]:
    """Where each quadratic rises above the one on top, NaN for nowhere, and bounds on the errors.

    What is only rounding of the coefficients, or of a touch without crossing, counts as nothing.
    """
    difference, sizes = abc - top, np.maximum(np.abs(abc), np.abs(top))
    difference[np.abs(difference) <= 4 * _EPS * sizes] = 0.0
    scale = np.abs(difference).max(axis=1, keepdims=True)
    scale[scale == 0.0] = 1.0
    (a, b, c), (A, B, C) = (difference / scale).T, (sizes / scale).T
    with np.errstate(all="ignore"):
        square = b * b - 4.0 * a * c
        noise = np.abs(b) * B + A * np.abs(c) + np.abs(a) * C
        rise = np.sqrt(np.where(square > ROUNDING * noise, square, np.nan))  # the slope there
        # The sum of two numbers of one sign: nothing cancels.
        q = -0.5 * (b + np.where(b > 0, rise, -rise))
        cuts = np.where(b > 0, c / q, q / a)
        errors = ROUNDING * ((A * np.abs(cuts) + B) * np.abs(cuts) + C) / rise
    return np.where(np.isfinite(cuts), cuts, np.nan), errors
