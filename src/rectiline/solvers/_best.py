"""The best certified pair of a solve: the one place where pairs are compared, used by `Run`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rectiline import _core
from rectiline.problems import Certificate, DualPoint

_FEASIBLE_VIOLATION = 1e-9  # relative violation that counts as rounding
_REPAIRED_VIOLATION = 1e-2  # relative violations below this are repaired
# Two pairs are combined if their gap is below this share of the certified one.
_COMBINED_GAP_SHARE = 0.95
NOTHING = Certificate(math.inf, math.inf, math.inf, math.inf)


def _finite(part: Any) -> Any:
    """Return numbers or multipliers with zeros in place of what is not finite."""
    if isinstance(part, np.ndarray):
        return part if _core.all_finite(part) else np.where(np.isfinite(part), part, 0.0)
    if isinstance(part, DualPoint):
        return DualPoint(*map(_finite, (part.sample, part.inequality, part.equality)))
    if isinstance(part, list | tuple):
        return type(part)(_finite(one) for one in part)
    return part if part is None or math.isfinite(part) else 0.0


class Best:
    """The best certified pair so far, and the best point and the best bound on their own.

    Attributes
    ----------
    pair : tuple or None
        Coefficients, intercept and repaired dual point of the best pair.
    certificate : Certificate
        What is proved about `pair`.
    author : str
        The solver that found it.
    tol : float
        The relative gap that is asked for.
    start : tuple or None
        A pair that solvers may start from and its author; it has not been certified.
    """

    def __init__(self, problem: Any, tol: float) -> None:
        self._problem = problem
        self.tol = tol
        self.pair: tuple[Any, Any, Any] | None = None
        self.certificate = NOTHING
        self.author = ""
        self.start: tuple[Any, Any, Any, str] | None = None
        self._point: tuple[Any, Any, str] | None = None
        self._primal = math.inf
        self._dual: Any = None
        self._bound = -math.inf

    @property
    def gap(self) -> float:
        """Distance of the lowest feasible value from the best bound, both from any pair."""
        return min(self._primal - self._bound, self.certificate.gap)

    def offer(self, coef: Any, intercept: Any, dual: Any, author: str) -> Certificate:
        """Certify a pair, moved into the constraints where nearly there, and keep the best.

        Entries that overflowed in the solver count as zero.
        """
        problem = self._problem
        coef, intercept, dual = _finite(coef), _finite(intercept), _finite(dual)
        if problem.is_constrained:
            coef = problem.clip_to_bounds(coef)
            if 0.0 < problem.violation(coef, roughly=True)[1] < _REPAIRED_VIOLATION:
                coef = problem.move_into_constraints(coef)
        return self.keep(coef, intercept, dual, author)

    def keep(
        self,
        coef: Any,
        intercept: Any,
        dual: Any,
        author: str,
        prove: Callable[..., tuple[Certificate, Any]] | None = None,
    ) -> Certificate:
        """Certify a pair as it is and keep it if it is the best so far.

        `prove` has a proof of the pair already.
        """
        prove = prove or self._problem.prove
        certificate, repaired = prove(coef, intercept, dual, self.tol)
        if self.pair is None or _rank(certificate) < _rank(self.certificate):
            self.certificate, self.author = certificate, author
            self.pair = (coef, intercept, repaired)
        if (
            certificate.relative_violation <= _FEASIBLE_VIOLATION
            and certificate.primal < self._primal
        ):
            self._primal, self._point = certificate.primal, (coef, intercept, author)
        if certificate.dual > self._bound:
            self._bound, self._dual = certificate.dual, repaired
        return certificate

    def keep_start(self) -> None:
        """Certify the pair to start from, where nothing better may be found, if there is one."""
        if self.start is not None:
            start, self.start = self.start, None
            self.keep(*start)

    def replace(self, coef: Any, intercept: Any, dual: Any, allowed: float) -> None:
        """Take another pair of the same solver if its relative gap is at most `allowed`."""
        certificate, repaired = self._problem.prove(coef, intercept, dual, allowed)
        if (
            certificate.relative_gap <= allowed
            and certificate.relative_violation <= _FEASIBLE_VIOLATION
        ):
            self.certificate, self.pair = certificate, (coef, intercept, repaired)

    def can_meet(self, tol: float) -> bool:
        """Return whether the best point and the best bound together would meet `tol`."""
        size = max(abs(self._primal), abs(self._bound))
        return self._primal - self._bound <= tol * size < math.inf

    def combine(self) -> None:
        """Certify the best point with the multipliers of the best bound, if that can help."""
        if self._point is None or self._dual is None:
            return
        if self._primal - self._bound < _COMBINED_GAP_SHARE * self.certificate.gap:
            coef, intercept, author = self._point
            self.keep(coef, intercept, self._dual, author)

    def sharpen(self) -> bool:
        """Certify the best pair with the least bound on rounding that there is, if that helps.

        Returns whether rounding in plain doubles, in which solvers work, keeps `tol` out of reach.
        """
        if self.pair is None:
            return False
        coef, intercept, dual = self.pair
        plain, dual = self._problem.prove(coef, intercept, dual)
        sharp, dual = self._problem.prove(coef, intercept, dual, 0.0)
        if _rank(sharp) <= _rank(self.certificate):  # multipliers are repaired anew: it may fail
            self.certificate, self.pair = sharp, (coef, intercept, dual)
        return bool(plain.limited_by_rounding(self.tol))


def _rank(certificate: Certificate) -> tuple[bool, float, float]:
    """Feasible points first, then whichever of gap and violation is worse.

    Relative gaps above one say nothing: there the gap itself counts.
    """
    gap = min(certificate.relative_gap, 1.0)
    if certificate.relative_violation <= _FEASIBLE_VIOLATION:
        return False, gap, certificate.gap
    return True, max(gap, certificate.relative_violation), certificate.gap
