"""Proofs for `Problem.certify` and for solvers: repair a dual point, multiply with X, close.

A dual point is moved into the boxes of its samples and into the dual range of the penalty before it
is used, so that any numbers give a valid bound. All products are computed here from the user's
data; nothing that a solver worked out is taken over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems._certificate import ZERO_LEVEL, Certificate, DualPoint
from rectiline.problems._closed_proof import Proof, balanced_on, closed_proof, small_proof
from rectiline.problems._rounding import Measured, measure_plain, measure_twofold

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

__all__ = ["Candidate", "Proof", "is_undecided", "prove", "prove_many"]

_LEAST_PLAIN = 1e-12  # relative gap below which plain doubles seldom prove enough
_MARGIN = (
    10.0  # times the rounding: errors of q may have shrunk the dual point, which adds to the gap
)


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


@np.errstate(all="ignore")  # what overflows is not finite, and proves nothing
def prove(
    problem: Problem,
    coef: ArrayLike,
    intercept: float = 0.0,
    dual: DualPoint | ArrayLike | None = None,
    tol: float | None = None,
) -> Proof:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `Problem.certify`, and `tol`: products are computed again in twofold
    arithmetic where this can decide whether the certificate holds to `tol`. 0.0 asks for the best
    bound there is; by default plain doubles have to do.
    """
    b, b0 = problem.checked_point(coef, intercept)
    if dual is None:
        dual = DualPoint(problem.rows.slopes(problem.design.dot(b) + b0))
    point = _inside_boxes(problem, dual)
    best: Proof | None = None
    for twofold in (False, True):
        if twofold or tol is None or tol >= _LEAST_PLAIN:
            proof = small_proof(problem, b, b0, point, tol, twofold)
            if proof is None:
                break
            if best is None or not proof.certificate.gap > best.certificate.gap:
                best = proof
            if twofold or not is_undecided(best.certificate, tol):
                return best
    point = _balanced(problem, point)
    z, image = problem.design.both(b, point.sample)
    return _certified(problem, b, b0, point, z, image, tol)


@np.errstate(all="ignore")
def prove_many(
    problems: Sequence[Problem], candidates: Sequence[Candidate], tol: float | None = None
) -> list[Proof]:
    """Return `prove` of one candidate for each problem; all problems share their data.

    One product of X with many vectors costs far less than many products with one.
    """
    if not candidates:
        return []
    if len(problems) != len(candidates):
        raise ValueError(f"{len(problems)} problems but {len(candidates)} candidates were given.")
    data = problems[0].data
    if any(one.data is not data for one in problems):
        raise ValueError("prove_many needs problems that share their data.")
    design, rows = data.design, data.samples.rows
    pairs = [
        problem.checked_point(one.coef, one.intercept)
        for problem, one in zip(problems, candidates, strict=True)
    ]
    coefs = np.array([b for b, _ in pairs])
    Z = design.dot_many(coefs)
    points = []
    for problem, one, z, (_, b0) in zip(problems, candidates, Z, pairs, strict=True):
        dual = DualPoint(rows.slopes(z + b0)) if one.dual is None else one.dual
        points.append(_balanced(problem, _inside_boxes(problem, dual)))
    images = design.tdot_many(np.array([point.sample for point in points]))
    parts = zip(problems, pairs, points, Z, images, strict=True)
    return [
        _certified(problem, b, b0, point, np.ascontiguousarray(z), image, tol)
        for problem, (b, b0), point, z, image in parts
    ]


def _certified(
    problem: Problem,
    b: Vector,
    b0: float,
    point: DualPoint,
    z: Vector,
    image: Vector,
    tol: float | None,
) -> Proof:
    """Return the proof in the precision that `tol` asks for; ``z`` and ``image`` are products."""

    def plain(moved: DualPoint) -> Measured:
        known = image if moved is point else problem.design.tdot(moved.sample)
        return measure_plain(problem, b, b0, moved, z, known)

    proof = closed_proof(problem, b, b0, point, plain, tol)
    if is_undecided(proof.certificate, tol):
        better = closed_proof(
            problem, b, b0, point, lambda moved: measure_twofold(problem, b, b0, moved), tol
        )
        if not better.certificate.gap > proof.certificate.gap:
            return better
    return proof


def is_undecided(certificate: Certificate, tol: float | None) -> bool:
    """Whether a smaller bound on rounding can matter."""
    if tol is None:
        return False
    if not math.isfinite(certificate.rounding):
        return True
    if tol == 0.0:
        return certificate.rounding > 0.0
    if certificate.holds(tol, math.inf):
        return False
    primal, plain = certificate.primal, certificate.gap - certificate.rounding
    if plain <= ZERO_LEVEL * certificate.scale:
        return True
    target = tol * max(abs(primal), abs(primal - plain))
    return plain <= target + _MARGIN * certificate.rounding


def _inside_boxes(problem: Problem, dual: DualPoint | ArrayLike) -> DualPoint:
    """Return a private copy of the dual point with every multiplier in its own range."""
    rows = problem.constraint_rows
    if not isinstance(dual, DualPoint):
        dual = DualPoint(np.asarray(dual, dtype=np.float64))
    sample = np.array(dual.sample, dtype=np.float64)
    if sample.shape != (problem.n_samples,) or not _core.all_finite(sample):
        raise ValueError(
            f"dual: the sample part must hold {problem.n_samples} finite numbers; got shape "
            f"{sample.shape}."
        )
    problem.rows.clip(sample)
    if not (rows.c.size + rows.f.size + np.size(dual.inequality) + np.size(dual.equality)):
        return DualPoint(sample)
    parts = []
    for name, given, size in (
        ("inequality", dual.inequality, rows.c.size),
        ("equality", dual.equality, rows.f.size),
    ):
        part = np.array(given, dtype=np.float64) if np.size(given) else np.zeros(size)
        if part.shape != (size,) or not np.isfinite(part).all():
            raise ValueError(
                f"dual: the {name} part must hold {size} finite numbers; got shape {part.shape}."
            )
        parts.append(part)
    return DualPoint(sample, np.maximum(parts[0], 0.0), parts[1])


def _balanced(problem: Problem, point: DualPoint) -> DualPoint:
    """Return the point moved so that q is nearly zero on free columns and for an intercept."""
    free = problem.terms.free_columns
    if free.size:
        return balanced_on(problem, point, free)
    if problem.fit_intercept:
        problem.rows.balance(point.sample)
    return point
