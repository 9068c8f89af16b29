"""Rounding errors of the shared subspace's part of a certificate, for `MultiTaskProblem`.

Omega and its conjugate depend on squared singular values alone, ``lambda``: with weights between 0
and 1, ``Omega`` changes by at most ``c / eta`` and ``Omega*`` by at most ``(1 + eta) / 4c`` times
the sum of their changes. They are the eigenvalues of the short ``G = A A'``, and what LAPACK finds
is verified (Rump, "Verified bounds for singular values", BIT 51, 2011): if ``|W'W - I| <= delta``,
there are exact eigenvectors W' with ``|W - W'| <= delta``, so that the distance of ``G`` from
``W' diag(lambda) W'^T`` follows from a residual, and the sum of the errors is at most the nuclear
norm of that distance (Mirsky). Nothing is assumed about how the eigenvalues were found.

Both functions are squares of norms, so that errors of U and Q follow by the triangle inequality.
"""

from __future__ import annotations

import math

import numpy as np

from rectiline._typing import Matrix, Vector
from rectiline.penalties import SharedSubspace
from rectiline.problems._terms import PenaltyTerms
from rectiline.problems.proof._measure import UNDERFLOW, gamma, norm_of


def subspace_terms(
    penalty: SharedSubspace,
    coef: Matrix,
    q: Matrix,
    coef_error: float,
    q_error: float,
) -> PenaltyTerms:
    """Return ``Omega(U)`` and ``Omega(U) + Omega*(Q) - <Q, U>`` with bounds on their errors.

    Parameters
    ----------
    penalty : SharedSubspace
    coef, q : ndarray of shape (n_features, n_tasks)
        U and Q as computed.
    coef_error, q_error : float
        How far the exact ones may be from them, in the Frobenius norm.
    """
    c, eta = penalty.scale, penalty.eta
    squares, missed = squared_sizes(coef)
    slopes, missed_slopes = squared_sizes(q)
    loose = gamma(8 * squares.size)  # of sums over singular values
    size, slope = (norm_of(one.ravel("K")) if one.any() else 0.0 for one in (coef, q))
    value, known = penalty.value(coef), penalty.value_of(np.sqrt(squares))
    value_error = abs(value - known) + c / eta * missed + 2.0 * loose * known
    value_error += _growth(math.sqrt(value), math.sqrt(c / eta) * coef_error)
    dual = penalty.conjugate_of(np.sqrt(slopes))
    steep = math.sqrt((1.0 + eta) / (4.0 * c))
    dual_error = steep**2 * missed_slopes + 2.0 * loose * dual
    dual_error += _growth(steep * slope, steep * q_error)
    inner = math.fsum(np.einsum("ij,ij->j", coef, q))
    lost = UNDERFLOW * coef.size if size and slope else 0.0  # by products
    inner_error = gamma(coef.shape[0]) * size * slope + lost
    inner_error += slope * coef_error + size * q_error + coef_error * q_error
    gap = max((value - inner) + dual, 0.0)
    upper = (value - inner) + dual + (value_error + dual_error + inner_error)
    rounded = 4.0 * gamma(1) * (value + dual + abs(inner))
    return PenaltyTerms(value, value_error, gap, max(gap, upper + rounded) * (1.0 + loose))


def squared_sizes(A: Matrix) -> tuple[Vector, float]:
    """Return squared singular values, the largest first, and a bound on the sum of their errors."""
    short = A if A.shape[0] <= A.shape[1] else A.T
    k = short.shape[0]
    if not A.any():
        return np.zeros(k), 0.0
    with np.errstate(all="ignore"):  # what overflows ends as an infinite error
        total = norm_of(A.ravel("K")) ** 2
        G = short @ short.T
        if not np.isfinite(G).all():
            return np.zeros(k), math.inf
        found, W = np.linalg.eigh(G)
        lengths = np.einsum("ij,ij->j", W, W)
        size = float(np.abs(found) @ lengths)
        left = norm_of((G - (W * found) @ W.T).ravel())
        left += gamma(short.shape[1]) * total + gamma(2 * k) * size + 4.0 * gamma(1) * total
        turned = norm_of((W.T @ W - np.eye(k)).ravel())
        turned += gamma(k) * float(lengths.sum()) + gamma(1) * math.sqrt(k)
        left += turned * (2.0 + turned) * norm_of(found) + UNDERFLOW * A.size
        error = math.sqrt(k) * left * (1.0 + gamma(8 * k))
    return np.maximum(found[::-1], 0.0), error if error < math.inf else math.inf


def _growth(norm: float, by: float) -> float:
    """Return by how much the square of a norm grows."""
    return by * (2.0 * norm + by)
