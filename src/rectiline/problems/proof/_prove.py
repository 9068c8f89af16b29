"""Proofs for `Problem.certify` and for solvers: repair a dual point, multiply with X, close.

A dual point is moved into the boxes of its samples and into the dual range of the penalty before it
is used, so that any numbers give a valid bound. All products are computed here from the user's
data; nothing that a solver worked out is taken over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems._certificate import ZERO_LEVEL, Certificate, DualPoint
from rectiline.problems.proof._balance import balanced_on, moved_to_stationarity
from rectiline.problems.proof._close import Closed
from rectiline.problems.proof._gather import ClosedPair, best_closed, small_closed
from rectiline.problems.proof._measure import Pair

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

_RELATIVE_GAP_OF_PLAIN_DOUBLES = 1e-12  # below this they seldom prove enough
_MARGIN_OF_ROUNDING = 10.0  # errors of q may have shrunk the dual point, which adds to the gap

Dual = TypeVar("Dual")
AnyClosed = TypeVar("AnyClosed", ClosedPair, Closed)


class Proof(NamedTuple, Generic[Dual]):
    """A certificate and the repaired multipliers behind it."""

    certificate: Certificate
    dual: Dual


class Candidate(Protocol):
    """A pair to be certified: a `Solution`, say."""

    @property
    def coef(self) -> Vector:
        """Coefficients."""

    @property
    def intercept(self) -> float:
        """Intercept."""

    @property
    def dual(self) -> DualPoint | ArrayLike | None:
        """Multipliers, or None for slopes of the losses at the predictions."""


def unpacked(coef: Any, intercept: Any, dual: Any) -> tuple[Any, Any, Any]:
    """Return the arguments of `certify`, or those that a solution, given alone, holds."""
    if not hasattr(coef, "coef"):
        return coef, intercept, dual
    if dual is not None or np.ndim(intercept) or intercept:
        raise TypeError("certify takes a solution alone, without intercept and dual.")
    return coef.coef, coef.intercept, coef.dual


@np.errstate(all="ignore")  # what overflows is not finite, and proves nothing
def prove(
    problem: Problem,
    coef: ArrayLike,
    intercept: float = 0.0,
    dual: DualPoint | ArrayLike | None = None,
    tol: float | None = None,
) -> Proof[DualPoint]:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `Problem.certify`, and `tol`: products are computed again in twofold
    arithmetic where this can decide whether the certificate holds to `tol`. 0.0 asks for the best
    bound there is; by default plain doubles have to do.
    """
    b, b0 = problem.checked_point(coef, intercept)
    if dual is None:
        dual = DualPoint(problem.rows.slopes(problem.design.dot(b) + b0))
    point = inside_boxes(problem, dual)
    pair = Pair(problem, b, b0, point, problem.terms.free_columns)
    found = closed_near(pair, tol)
    return Proof(found.certificate, found.point.scaled(found.share))


def closed_near(pair: Pair, tol: float | None) -> ClosedPair:
    """Return a pair, or one whose multipliers have moved to where q is a slope at b, closed."""
    found = closed_pair(pair, tol)
    if tol and not found.certificate.holds(tol, math.inf):
        moved = moved_to_stationarity(pair, found.certificate.gap)
        if moved is not None:
            other = closed_pair(pair.with_point(moved), tol)
            found = other if other.certificate.gap < found.certificate.gap else found
    return found


def closed_pair(pair: Pair, tol: float | None) -> ClosedPair:
    """Return the certificate of a pair whose multipliers are in their boxes."""
    balanced: list[Pair] = []  # with products in plain doubles and in twofold arithmetic alike

    def closed(twofold: bool) -> ClosedPair:
        small = small_closed(pair, tol, twofold)
        if small is not None:
            return small
        if not balanced:
            point = balanced_on(pair.problem, pair.point, pair.free, pair.frozen)
            balanced.append(pair.with_point(point))
        return best_closed(replace(balanced[0], is_twofold=twofold), tol)

    return in_enough_digits(closed, tol)


def in_enough_digits(closed: Callable[[bool], AnyClosed], tol: float | None) -> AnyClosed:
    """Return a certificate by plain doubles, or by twofold arithmetic where that may decide."""
    if tol is not None and tol < _RELATIVE_GAP_OF_PLAIN_DOUBLES:
        return closed(True)
    found = closed(False)
    if not is_undecided(found.certificate, tol):
        return found
    better = closed(True)
    return found if better.certificate.gap > found.certificate.gap else better


def is_undecided(certificate: Certificate, tol: float | None) -> bool:
    """Whether a smaller bound on rounding can matter."""
    if tol is None:
        return False
    if not math.isfinite(certificate.rounding):
        return True
    if certificate.holds(tol, math.inf):
        return False
    primal, plain = certificate.primal, certificate.gap - certificate.rounding
    if plain <= ZERO_LEVEL * certificate.scale:
        return True
    target = tol * max(abs(primal), abs(primal - plain))
    return plain <= target + _MARGIN_OF_ROUNDING * certificate.rounding


def inside_boxes(problem: Problem, dual: DualPoint | ArrayLike) -> DualPoint:
    """Return a private copy of the dual point with every multiplier in its own range."""
    region, n = problem.terms.region, problem.n_samples
    if not isinstance(dual, DualPoint):
        dual = DualPoint(np.asarray(dual, dtype=np.float64))
    sample = np.array(dual.sample, dtype=np.float64)
    if sample.shape != (n,) or not _core.all_finite(sample):
        raise ValueError(
            f"dual: the sample part must hold {n} finite numbers; got shape {sample.shape}."
        )
    problem.rows.clip(sample)
    if not (region.has_rows or np.size(dual.inequality) or np.size(dual.equality)):
        return DualPoint(sample)
    parts = []
    for name, given, size in (
        ("inequality", dual.inequality, region.rows.c.size),
        ("equality", dual.equality, region.rows.f.size),
    ):
        part = np.array(given, dtype=np.float64) if np.size(given) else np.zeros(size)
        if part.shape != (size,) or not np.isfinite(part).all():
            raise ValueError(
                f"dual: the {name} part must hold {size} finite numbers; got shape {part.shape}."
            )
        parts.append(part)
    return DualPoint(sample, np.maximum(parts[0], 0.0), parts[1])
