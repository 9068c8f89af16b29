"""From a point inside, where an interior method has come close, to the vertex next to it.

At a vertex the lines L that hold with equality and the variables I between their bounds belong
together: with ``B`` the signed coefficients of I in L (and a row of ones for the sum),

    B dg + u dt = what is missing,    B'y = 0,    u'y = 1,

where y are the prices of the lines and u is 1 for lines, 0 for the sum. One factorisation of B'
solves both: y is its null vector, and the step is the shortest that makes up for what is missing,
measured in the rooms of the variables. Where several vertices are best there are more variables
between their bounds than lines, and that is as good. Lines that depend on one another, as those of
equal columns, take singular values; then y is the null vector next to the prices so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from rectiline.paths._open_interior import OpenInterior

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["nearby_vertices", "vertex_system"]

_SINGULAR = 1e-11
_DEPENDENT = 1e-9
_OUTSIDE = 1e-11  # of the bounds, in widths: rounding
_PASSES = 2  # the second for what rounding has left


def nearby_vertices(program: OpenInterior) -> Iterator[tuple[Vector, Vector, float]]:
    """Yield all variables, the prices of the lines, and that of the sum, at vertices nearby.

    Lines and variables are taken in that are closer to being tight, or between their bounds, than
    not; if those variables are fewer than a vertex has, also the ones that moved most freely.
    Whether a vertex is the best one is for the bounds to say that it proves.
    """
    v = program.p - program.n
    down, up = program.rooms()
    width = program.high - program.low
    reduced = np.abs(program.c - program.part @ v)
    typical = max(float(np.median(reduced)), 1e-300)
    slack = program.t - np.abs(program.residual)
    sizes = np.sqrt(np.einsum("ij,ij->j", program.part, program.part) / program.g.size)
    lines = np.flatnonzero(np.abs(v) * sizes * program.t > slack * typical)
    inside = np.flatnonzero(np.minimum(down, up) * typical > reduced * width)
    least = lines.size + (program.left is not None) - 1
    choices = [inside]
    if inside.size < least <= program.g.size:
        choices.append(np.argpartition(-program.theta, least - 1)[:least])
    for chosen in choices:
        found = _vertex(program, lines, chosen)
        if found is not None:
            yield found


def _vertex(
    program: OpenInterior, lines: NDArray[np.intp], inside: NDArray[np.intp]
) -> tuple[Vector, Vector, float] | None:
    """Return the vertex with these lines tight and these variables between their bounds."""
    down, up = program.rooms()
    prices = (program.p - program.n)[lines]
    g = np.where(down < up, program.low, program.high)
    g[inside] = 0.0
    found = vertex_system(
        program.part[np.ix_(inside, lines)],
        program.right[lines] - (program.part.T @ g)[lines],
        prices if program.left is None else np.append(prices, program.c),
        program.g[inside],
        (down[inside], up[inside]),
        None if program.left is None else program.left - float(g.sum()),
    )
    if found is None:
        return None
    g[inside] = found[0]
    outside = np.maximum(program.low - g, g - program.high)
    if (outside > _OUTSIDE * (program.high - program.low)).any():
        return None
    value, v = program.value.copy(), np.zeros(program.b.size)
    value[program.works] = np.clip(g, program.low, program.high)
    v[lines] = found[1]
    return value, v, found[2]


def vertex_system(
    A: Matrix,
    b: Vector,
    prices: Vector,
    g: Vector,
    rooms: tuple[Vector, Vector],
    owed: float | None,
) -> tuple[Vector, Vector, float] | None:
    """Return the variables, the prices of the lines, and that of the sum; None without a vertex.

    Parameters
    ----------
    A : ndarray of shape (m, k)
        Coefficients of the variables between their bounds in the lines that are tight.
    b : ndarray of shape (k,)
        Constants of these lines with everything else in its place.
    prices : ndarray of shape (k,)
        Prices of the lines now; their signs are the sides on which the lines are tight. That of
        the sum comes last, if there is one.
    g : ndarray of shape (m,)
        The variables now.
    rooms : tuple of ndarray of shape (m,)
        How far each may move down and up.
    owed : float or None
        What the variables have to sum to.
    """
    k = b.size
    size = k + (owed is not None)
    if not (k and g.size):
        return None
    signs = np.sign(prices[:k])
    root = np.minimum(*rooms)
    B = np.empty((g.size, size))
    B[:, :k] = A * signs
    B[:, k:] = 1.0
    B *= root[:, None]
    scale = 1.0 / np.maximum(np.abs(B).max(axis=0), 1e-300)
    now = np.append(np.abs(prices[:k]), -prices[k:]) / scale
    solved = _by_pivots(B * scale) or _by_singular_values(B * scale, now)
    if solved is None:
        return None
    y, shortest = solved[0] * scale, solved[1]
    total = float(y[:k].sum())
    if not abs(total) > 0.0:
        return None
    y /= total
    moved = g.copy()
    for _ in range(_PASSES):
        missing = signs * (b - A.T @ moved)
        if owed is not None:
            missing = np.append(missing, owed - float(moved.sum()))
        missing[:k] -= float(y @ missing)  # the change of t
        moved = moved + root * shortest(missing * scale)
    if not np.isfinite(moved).all():
        return None
    return moved, signs * y[:k], -float(y[k]) if owed is not None else 0.0


_Solved = tuple[Vector, Callable[[Vector], Vector]]


def _by_pivots(B: Matrix) -> _Solved | None:
    """Return y with ``B y = 0``, and what gives the shortest x with ``B'x`` as wanted."""
    size = B.shape[1]
    if not 1 <= size - 1 <= B.shape[0]:
        return None
    Q, R = np.linalg.qr(B)
    Q, upper, last = Q[:, : size - 1], R[: size - 1, : size - 1], R[: size - 1, size - 1]
    pivots = np.abs(upper.diagonal())
    if not pivots.min() > _SINGULAR * pivots.max():
        return None
    y = np.append(-solve_triangular(upper, last), 1.0)
    return y, lambda wanted: Q @ solve_triangular(upper, wanted[: size - 1], trans="T")


def _by_singular_values(B: Matrix, now: Vector) -> _Solved | None:
    """Return the same for any rank, with the y next to the present one."""
    U, values, Vt = np.linalg.svd(B, full_matrices=False)
    rank = int(np.count_nonzero(values > _DEPENDENT * values[0]))
    U, values, Vt = U[:, :rank], values[:rank], Vt[:rank]
    return now - Vt.T @ (Vt @ now), lambda wanted: U @ ((Vt @ wanted) / values)
