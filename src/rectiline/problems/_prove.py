"""Proofs for `Problem.certify` and for solvers: repair a dual point, multiply with X, close.

A dual point is moved into the boxes of its samples and into the dual range of the penalty before it
is used, so that any numbers give a valid bound. All products are computed here from the user's
data; nothing that a solver worked out is taken over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._close import Products, close
from rectiline.problems._repair import balance_free_columns

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

__all__ = ["Candidate", "Proof", "prove", "prove_many"]

_SIGN_ROUNDS = 4  # how often columns whose q has a forbidden sign are balanced


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


class Proof(NamedTuple):
    """A certificate and the repaired multipliers behind it."""

    certificate: Certificate
    dual: DualPoint


def prove(
    problem: Problem,
    coef: ArrayLike,
    intercept: float = 0.0,
    dual: DualPoint | ArrayLike | None = None,
) -> Proof:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `Problem.certify`.
    """
    b, b0 = problem.checked_point(coef, intercept)
    if dual is None:
        dual = DualPoint(problem.rows.slopes(problem.design.dot(b) + b0))
    point, left = _balanced(problem, _inside_boxes(problem, dual))
    z, image = problem.design.both(b, point.sample)
    return _finish(problem, b, b0, point, left, z, image)


def prove_many(problems: Sequence[Problem], candidates: Sequence[Candidate]) -> list[Proof]:
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
    Z = design.dot_many(coefs, np.zeros(len(pairs)))
    points, lefts = [], []
    for problem, one, z, (_, b0) in zip(problems, candidates, Z, pairs, strict=True):
        dual = DualPoint(rows.slopes(z + b0)) if one.dual is None else one.dual
        point, left = _balanced(problem, _inside_boxes(problem, dual))
        points.append(point)
        lefts.append(left)
    images = design.tdot_many(np.array([point.sample for point in points]))
    parts = zip(problems, pairs, points, lefts, Z, images, strict=True)
    return [
        _finish(problem, b, b0, point, left, z, image)
        for problem, (b, b0), point, left, z, image in parts
    ]


def _finish(
    problem: Problem, b: Vector, b0: float, point: DualPoint, left: float, z: Vector, image: Vector
) -> Proof:
    """Move q into the penalty's dual range and close; ``z = X b`` and ``image = X'g`` are known."""
    terms = problem.terms
    q = terms.region.combined(point) - image
    point, q, left = _in_dual_range(problem, point, q, left)
    z += b0
    loss, gap = problem.rows.sums(z, point.sample)
    total = float(point.sample.sum()) if problem.fit_intercept else 0.0
    products = Products(loss, gap, total, q, left)
    certificate, by_zero_dual = close(problem, b, b0, point, products)
    if by_zero_dual:
        point = terms.region.zero_dual(problem.n_samples)
    return Proof(certificate, point)


def _inside_boxes(problem: Problem, dual: DualPoint | ArrayLike) -> DualPoint:
    """Return a private copy of the dual point with every multiplier in its own range."""
    rows = problem.constraint_rows
    if not isinstance(dual, DualPoint):
        dual = DualPoint(np.asarray(dual, dtype=np.float64))
    sample = np.array(dual.sample, dtype=np.float64)
    if sample.shape != (problem.n_samples,) or not np.isfinite(sample).all():
        raise ValueError(
            f"dual: the sample part must hold {problem.n_samples} finite numbers; got shape "
            f"{sample.shape}."
        )
    problem.rows.clip(sample)
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


def _balanced(problem: Problem, point: DualPoint) -> tuple[DualPoint, float]:
    """Return the point moved so that q is zero on free columns and for a free intercept.

    The second number is what is left, relative to the size of its terms.
    """
    free = problem.terms.free_columns
    if free.size:
        return _balanced_on(problem, point, free)
    if not problem.fit_intercept:
        return point, 0.0
    total = abs(problem.rows.balance(point.sample))
    return point, total / max(float(np.abs(point.sample).sum()), 1e-300)


def _balanced_on(problem: Problem, point: DualPoint, free: Indices) -> tuple[DualPoint, float]:
    """Return the dual point moved so that q is zero on the columns `free`."""
    low, high = problem.dual_boxes
    target, size = np.zeros((2, free.size + problem.fit_intercept))
    region = problem.terms.region
    if region.has_rows:
        target[: free.size] = np.asarray(region.combined(point))[free]
        size[: free.size] = region.combined_size(point)[free]
    sample, left = balance_free_columns(
        problem.design, free, problem.fit_intercept, point.sample, low, high, target, size
    )
    return replace(point, sample=sample), left


def _in_dual_range(
    problem: Problem, point: DualPoint, q: Vector, left: float
) -> tuple[DualPoint, Vector, float]:
    """Return the point and its q, moved into the penalty's dual range, and what is left over."""
    terms = problem.terms
    free = terms.free_columns
    q[free] = 0.0
    # A bound on one side only asks for a sign of q_j; where it is wrong, q_j is brought to zero.
    for _ in range(_SIGN_ROUNDS):
        wrong = terms.wrong_signs(q)
        if not wrong.size:
            break
        free = np.union1d(free, wrong)
        point, left = _balanced_on(problem, point, free)
        q = terms.region.combined(point) - problem.design.tdot(point.sample)
        q[free] = 0.0
    shrink = terms.shrink_factor(q)
    return point.scaled(shrink), shrink * q, left
