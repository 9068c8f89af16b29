"""The closing of a certificate: one function that adds up the terms of a duality gap.

Every certificate of the library ends here, whoever multiplied with X: one pair in memory, many
pairs at once, row blocks, several tasks. See `rectiline.problems._problem` for the terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rectiline.problems._certificate import Certificate, distance_from_zero

_SUM_ROUNDING = 2.0**-51  # relative error of the few sums that are made here


class Term(NamedTuple):
    """One part of a gap as computed, and an upper bound on the exact one."""

    value: float
    upper: float


class RowTerms(NamedTuple):
    """What samples and constraint rows add to a certificate, of one problem or of several tasks.

    Attributes
    ----------
    loss, loss_error : float
        Sum of the losses at the predictions, and its rounding error.
    terms : list of Term
        Sums of ``f_i(z_i) + f_i*(g_i) - g_i z_i`` over the samples and of ``xi'(A b + c)`` and
        ``nu'(E b + f)`` over the rows; what is charged for sums that have to be zero.
    at_zero : callable
        Returns the samples' `Term` for multipliers that are all zero.
    least_loss : float
        Sum of the smallest values of the losses.
    scale : callable
        Returns the size of the losses' terms for a gap that may be one of an optimum of zero.
    """

    loss: float
    loss_error: float
    terms: list[Term]
    at_zero: Callable[[], Term]
    least_loss: float
    scale: Callable[[float, float], float]


class Closed(NamedTuple):
    """A certificate, and whether it is zero multipliers that prove it instead of those given."""

    certificate: Certificate
    by_zero_dual: bool


def close(problem: Any, coef: Any, q: Any, error: Any, rows: RowTerms, radius: float) -> Closed:
    """Return the certificate of a pair whose products with X are known.

    ``q = A'xi + E'nu - X'g``, and every point within `error` of it, is in the penalty's dual range.
    The problem knows Omega(coef) and ``h(b) + h*(q) - q'b`` for the penalty with its bounds, and
    violations; shapes of coefficients are its own affair.

    The better of two dual bounds counts: that of the multipliers, and the one where all of them
    are zero. The latter says that no loss is below its minimum; where every sample reaches its
    minimum (separable classes, interpolation) it is the only bound there is.
    """
    penalty = problem.penalty_terms(coef, q, error)
    primal = rows.loss + penalty.value
    gap = _sum([Term(penalty.gap, penalty.upper), *rows.terms])
    by_zero_dual = False
    if max(rows.loss - rows.least_loss, 0.0) < gap.upper:
        nothing = np.zeros_like(q)
        at_zero = problem.penalty_terms(coef, nothing, nothing)
        other = _sum([rows.at_zero(), Term(at_zero.gap, at_zero.upper)])
        by_zero_dual = other.upper < gap.upper
        gap = other if by_zero_dual else gap
    rounded = rows.loss_error + penalty.error + _SUM_ROUNDING * (abs(rows.loss) + penalty.value)
    upper = (gap.upper + rounded) * (1.0 + _SUM_ROUNDING)
    if math.isfinite(primal) and math.isfinite(upper):
        rounding = upper - gap.value
        scale = rows.scale(gap.value, distance_from_zero(primal - upper, primal + rounding))
    else:  # rounding is to blame unless the bound is infinite anyway
        upper, scale = math.inf, 0.0
        rounding = math.inf if gap.value < math.inf else 0.0
    radius = math.inf if by_zero_dual else radius
    violation, relative = problem.violation(coef)
    certificate = Certificate(primal, upper, violation, relative, rounding, scale, radius)
    return Closed(certificate, by_zero_dual)


def _sum(terms: list[Term]) -> Term:
    """Return the sum of terms that are not negative; an undefined one makes it infinite."""
    value = upper = 0.0
    for term in terms:
        value, upper = value + term.value, upper + term.upper
    upper = upper if upper < math.inf else math.inf
    return Term(min(value, upper) if value < math.inf else math.inf, upper)
