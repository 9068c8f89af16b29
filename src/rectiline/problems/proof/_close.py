"""The closing of a certificate: one function that adds up the terms of a duality gap.

Every certificate of the library ends here, whoever multiplied with X: one pair in memory, many
pairs at once, row blocks, several tasks. See `rectiline.problems._problem` for the terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rectiline.problems._certificate import Certificate, distance_from_zero

if TYPE_CHECKING:
    from rectiline.problems._terms import PenaltyTerms

_SUM_ROUNDING = 2.0**-51  # relative error of the few sums that are made here


PenaltyOf = Callable[[Any, Any, Any], "PenaltyTerms"]


class Term(NamedTuple):
    """One part of a gap as computed, and an upper bound on the exact one."""

    value: float
    upper: float


class CertificateTerms(NamedTuple):
    """What a certificate needs of the samples, of X and of the constraint rows, for one pair.

    Attributes
    ----------
    loss, loss_error : float
        Sum of the losses at the predictions, and its rounding error.
    q, q_error : ndarray
        ``A'xi + E'nu - X'g``, in the dual range of the penalty with all points within `q_error`.
    terms : sequence of Term
        Sums of ``f_i(z_i) + f_i*(g_i) - g_i z_i`` over the samples and of ``xi'(A b + c)`` and
        ``nu'(E b + f)`` over the rows; what is charged for sums that have to be zero.
    at_zero : callable
        Returns the samples' `Term` for multipliers that are all zero.
    excess : float
        Its value up to rounding.
    violation : tuple of two float
        The worst constraint violation, absolute and relative.
    scale : callable
        Returns the size of the losses' terms for a gap that may be one of an optimum of zero.
    radius : float
        See `Certificate`.
    """

    loss: float
    loss_error: float
    q: Any
    q_error: Any
    terms: list[Term]
    at_zero: Callable[[], Term]
    excess: float
    violation: tuple[float, float]
    scale: Callable[[float, float], float]
    radius: float = math.inf


class Closed(NamedTuple):
    """A certificate, and whether it is zero multipliers that prove it instead of those given."""

    certificate: Certificate
    by_zero_dual: bool


def close(penalty_terms: PenaltyOf, coef: Any, terms: CertificateTerms) -> Closed:
    """Return the certificate of a pair whose products with X are known.

    `penalty_terms` returns Omega(coef) and ``h(b) + h*(q) - q'b`` for the penalty with its bounds,
    given coefficients, q and the error of q; shapes of coefficients are its own affair.

    The better of two dual bounds counts: that of the multipliers, and the one where all of them
    are zero. The latter says that no loss is below its minimum; where every sample reaches its
    minimum (separable classes, interpolation) it is the only bound there is.
    """
    penalty = penalty_terms(coef, terms.q, terms.q_error)
    primal = terms.loss + penalty.value
    gap = _sum([Term(penalty.gap, penalty.upper), *terms.terms])
    by_zero_dual = False
    if terms.excess < gap.upper:
        nothing = np.zeros_like(terms.q)
        at_zero = penalty_terms(coef, nothing, nothing)
        other = _sum([terms.at_zero(), Term(at_zero.gap, at_zero.upper)])
        by_zero_dual = other.upper < gap.upper
        gap = other if by_zero_dual else gap
    error = terms.loss_error + penalty.error + _SUM_ROUNDING * (abs(terms.loss) + penalty.value)
    upper = (gap.upper + error) * (1.0 + _SUM_ROUNDING)
    if math.isfinite(primal) and math.isfinite(upper):
        rounding = upper - gap.value
        scale = terms.scale(gap.value, distance_from_zero(primal - upper, primal + rounding))
    else:  # rounding is to blame unless the bound is infinite anyway
        upper, scale = math.inf, 0.0
        rounding = math.inf if gap.value < math.inf else 0.0
    radius = math.inf if by_zero_dual else terms.radius
    certificate = Certificate(
        primal, upper, *terms.violation, rounding=rounding, scale=scale, radius=radius
    )
    return Closed(certificate, by_zero_dual)


def _sum(terms: list[Term]) -> Term:
    """Return the sum of terms that are not negative; an undefined one makes it infinite."""
    value = upper = 0.0
    for term in terms:
        value, upper = value + term.value, upper + term.upper
    upper = upper if upper < math.inf else math.inf
    return Term(min(value, upper) if value < math.inf else math.inf, upper)
