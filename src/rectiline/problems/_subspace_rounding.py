"""Rounding errors of the shared subspace's part of a certificate, for `MultiTaskProblem`.

Omega and its conjugate are squares of norms, ``Omega(U) <= (c / eta) |U|^2`` and
``Omega*(Q) <= (1 + eta) / 4c |Q|^2``, so that both are known up to what the triangle inequality
allows once ``U`` and ``Q`` are known up to some error in the Frobenius norm. Singular values and
vectors come from LAPACK: they are taken to be those of a matrix within ``gamma(8 (d + m))`` of the
given one, the usual a-priori bound on the backward error of a singular value decomposition
(Anderson et al., "LAPACK Users' Guide", section 4.9). Unlike the other bounds of certificates, that
one is not verified.
"""

from __future__ import annotations

import math

from rectiline._typing import Matrix
from rectiline.penalties import SharedSubspace
from rectiline.problems._rounding import UNDERFLOW, gamma, norm_of
from rectiline.problems._terms import PenaltyTerms

__all__ = ["subspace_terms"]


def subspace_terms(
    penalty: SharedSubspace,
    value: float,
    gap: float,
    coef: Matrix,
    q: Matrix,
    coef_error: float,
    q_error: float,
) -> PenaltyTerms:
    """Return a penalty's terms with bounds on their errors.

    Parameters
    ----------
    penalty : SharedSubspace
    value, gap : float
        ``Omega(U)`` and ``Omega(U) + Omega*(Q) - <Q, U>`` as computed.
    coef, q : ndarray of shape (n_features, n_tasks)
        U and Q as computed.
    coef_error, q_error : float
        How far the exact ones may be from them, in the Frobenius norm.
    """
    relative = gamma(8 * sum(coef.shape))
    lost = UNDERFLOW * coef.size if coef.any() or q.any() else 0.0  # by products
    c, eta = penalty.scale, penalty.eta
    size, slope = (norm_of(one.ravel("K")) if one.any() else 0.0 for one in (coef, q))
    moved, turned = coef_error + relative * size, q_error + relative * slope
    value_error = _growth(math.sqrt(value), math.sqrt(c / eta) * moved) + relative * value + lost
    steep = math.sqrt((1.0 + eta) / (4.0 * c))
    error = value_error + _growth(steep * slope, steep * turned)
    error += slope * moved + size * turned + moved * turned
    # The gap itself is a squared distance in the norm of Omega* and a sum of products of squares.
    away = relative * steep * (slope + 2.0 * c * size / eta)
    error += _growth(math.sqrt(max(gap, 0.0)), away) + relative * (steep * slope) ** 2 + lost
    return PenaltyTerms(value, value_error, gap, (gap + error) * (1.0 + relative))


def _growth(norm: float, by: float) -> float:
    """Return by how much the square of a norm grows."""
    return by * (2.0 * norm + by)
