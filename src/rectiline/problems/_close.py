"""The closing of a certificate: one function that adds up the terms of a duality gap.

Every certificate of the library ends here, whoever multiplied with X: one pair in memory, many
pairs at once, row blocks, several tasks. See `rectiline.problems._problem` for the terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from rectiline.problems._certificate import Certificate

__all__ = ["FREE_TOLERANCE", "Closed", "Products", "Program", "close"]

FREE_TOLERANCE = 1e-13  # what may be left of a sum that must be zero, relative to its terms


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """What a certificate needs of the samples and of X, for one pair.

    Attributes
    ----------
    loss : float
        Sum of the losses at the predictions.
    sample_gap : float
        Sum over the samples of ``f_i(z_i) + f_i*(g_i) - g_i z_i``.
    total : float, or ndarray with one entry per intercept
        Sum of the multipliers g.
    q : ndarray
        ``A'xi + E'nu - X'g``, in the dual range of the penalty.
    left : float
        Largest entry of q that must be zero and is not, or such a sum of g, relative to the size
        of its terms.
    """

    loss: float
    sample_gap: float
    total: Any
    q: Any
    left: float = 0.0


class Program(Protocol):
    """What `close` asks of a problem; shapes of coefficients and multipliers are its own affair."""

    @property
    def fit_intercept(self) -> bool:
        """Whether there are free intercepts."""

    @property
    def least_loss(self) -> float:
        """Sum of the smallest values of the losses."""

    @property
    def loss_at_zero(self) -> float:
        """Sum of the losses at zero coefficients and intercept."""

    def penalty_terms(self, coef: Any, q: Any) -> tuple[float, float]:
        """Return Omega(coef), and ``h(b) + h*(q) - q'b`` for the penalty with its bounds."""

    def constraint_gap(self, coef: Any, dual: Any) -> float:
        """Return ``xi'(A b + c) + |nu|'|E b + f|``."""

    def violation(self, coef: Any) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative."""


class Closed(NamedTuple):
    """A certificate, and whether it is zero multipliers that prove it instead of those given."""

    certificate: Certificate
    by_zero_dual: bool


def close(program: Program, coef: Any, intercept: Any, dual: Any, products: Products) -> Closed:
    """Return the certificate of a pair whose products with X are known.

    The better of two dual bounds counts: that of `dual`, and the one where all multipliers are
    zero. The latter says that no loss is below its minimum; where every sample reaches its minimum
    (separable classes, interpolation) it is the only bound there is.
    """
    penalty, gap = program.penalty_terms(coef, products.q)
    gap += products.sample_gap + program.constraint_gap(coef, dual)
    if program.fit_intercept:
        unbalanced = abs(intercept * products.total)
        gap += unbalanced if isinstance(unbalanced, float) else float(unbalanced.sum())
    if products.left > FREE_TOLERANCE or math.isnan(gap):
        gap = math.inf
    by_zero_dual = False
    excess = max(products.loss - program.least_loss, 0.0)
    if excess < gap:
        at_zero = excess + program.penalty_terms(coef, np.zeros_like(products.q))[1]
        by_zero_dual = at_zero < gap
        gap = min(gap, at_zero)
    violation = program.violation(coef)
    scale = abs(program.loss_at_zero)
    certificate = Certificate(products.loss + penalty, float(gap), *violation, scale=scale)
    return Closed(certificate, by_zero_dual)
