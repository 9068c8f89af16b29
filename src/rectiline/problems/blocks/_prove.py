"""Proofs for problems on blocks: frozen rows are summed in a pass, listed rows are in memory.

The dual point is repaired on the listed rows alone: they sit near kinks, where moving a multiplier
costs little. Frozen rows only set the target of the repair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._close import Products, Term, close
from rectiline.problems._closed_proof import constraint_terms
from rectiline.problems._exact_balance import exact_balance
from rectiline.problems._problem import Problem
from rectiline.problems._repair import balance_free_columns
from rectiline.problems._rounding import UNIT, Bounded, Measured, measure_plain
from rectiline.problems._terms import PenaltyTerms, Terms
from rectiline.problems.blocks._dual import SplitDual
from rectiline.problems.blocks._facts import RowFacts
from rectiline.problems.blocks._pass import NearRows, PassState, Query, Totals, run_pass

__all__ = ["BlockProof", "judge", "prove_blocks"]

_SIGN_ROUNDS = 4  # how often columns whose q has a forbidden sign are balanced
_SUMMED_TERMS = 192  # units of roundoff that a sum over rows of the core may lose, see pass.cpp


@dataclass(frozen=True, slots=True, eq=False)
class BlockProof:
    """A certificate and the repaired multipliers behind it."""

    certificate: Certificate
    dual: SplitDual


@dataclass(frozen=True, slots=True, eq=False)
class _Frozen:
    """What frozen rows add: their gradient, its size, their sum."""

    gradient: Vector
    size: Vector
    total: float
    total_size: float
    rounding: float  # bound on the relative error of these sums


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """What `close` asks of a problem: its terms, and the unit of its coefficients."""

    terms: Terms
    coef_unit: Vector

    def penalty_terms(self, coef: Vector, q: Vector, error: Vector) -> PenaltyTerms:
        return self.terms.penalty_terms(coef, q, error)

    def violation(self, coef: Vector) -> tuple[float, float]:
        if not self.terms.is_constrained:
            return 0.0, 0.0
        return self.terms.region.violation(coef, self.coef_unit)


def prove_blocks(problem: Problem, coef: ArrayLike, intercept: float, dual: Any) -> Certificate:
    """Return the certificate of a pair with one pass over the rows of a problem."""
    b, b0 = problem.checked_point(coef, intercept)
    if dual is None:
        dual = SplitDual(b, b0, np.zeros(0, dtype=np.int64), np.zeros(0))
    if not isinstance(dual, SplitDual):
        raise TypeError(
            "dual must be the SplitDual of a solution on rows in blocks; got "
            f"{type(dual).__name__}."
        )
    _checked_dual(problem, dual)
    query = Query(
        problem.samples,
        b,
        b0,
        split=(dual.split_coef, dual.split_intercept),
        listed=dual.rows,
        collect=True,
        measure=True,
    )
    totals = run_pass(problem.blocks, PassState((query,), problem.fit_intercept))
    assert totals is not None
    facts = RowFacts.measured(problem, totals[0])
    return judge(problem, facts, b, b0, dual, totals[0], totals[0].near()).certificate


def _checked_dual(problem: Problem, dual: SplitDual) -> None:
    rows = dual.rows
    if rows.size and (rows[0] < 0 or rows[-1] >= problem.n_samples or (np.diff(rows) <= 0).any()):
        raise ValueError(f"dual: listed rows must grow and lie in [0, {problem.n_samples}).")
    if dual.values.shape != rows.shape or not np.isfinite(dual.values).all():
        raise ValueError(f"dual: there must be {rows.size} finite multipliers of listed rows.")
    region = problem.terms.region.rows
    for name, part, size in (
        ("inequality", dual.inequality, region.c.size),
        ("equality", dual.equality, region.f.size),
    ):
        if part.size not in (0, size):
            raise ValueError(f"dual: the {name} part must hold {size} numbers; got {part.size}.")


def judge(
    problem: Problem,
    facts: RowFacts,
    coef: Vector,
    intercept: float,
    dual: SplitDual,
    totals: Totals,
    listed: NearRows,
) -> BlockProof:
    """Return the certificate of a pair from the sums of a pass and the listed rows."""
    near = listed.problem(problem.terms)
    summed = (_SUMMED_TERMS + totals.depth) * UNIT
    far = _Frozen(
        np.asarray(totals["gradient"]),
        totals.steepest * facts.sizes,
        float(totals["total"]),
        float(totals["total_size"]),
        summed,
    )
    region = problem.terms.region
    point = DualPoint(
        _clipped(near, dual.values),
        np.maximum(dual.inequality, 0.0) if dual.inequality.size else np.zeros(region.rows.c.size),
        dual.equality if dual.equality.size else np.zeros(region.rows.f.size),
    )
    point, measured, free = _repaired(problem, near, coef, intercept, point, far)
    q, error = measured.q.value.copy(), measured.q.error.copy()
    q[free] = error[free] = 0.0
    balance = exact_balance(near, coef, intercept, point.sample, free, measured)
    if balance.q_error is not None:
        error = error + balance.q_error
        error[free] = 0.0
    share = problem.terms.safe_share(q, error)
    if share != 1.0:
        q, error = share * q, share * error + 2 * UNIT * np.abs(q)
    at, radius = measured.arguments
    near_loss, near_error, near_gap, near_upper = _core.row_bounds(
        near.rows, at, radius, point.sample, share, balance.move
    )
    far_loss, far_gap = float(totals["loss"]), float(totals["gap"])
    loss = far_loss + near_loss
    excess = max(loss - facts.least_loss, 0.0)
    far_error = totals.steepest * float(totals["error"]) + summed * abs(far_loss)
    if share < 1.0:
        # Multipliers that are scaled down cost at most in proportion to what zero ones cost.
        least = facts.least_loss - near.least_loss
        far_gap = share * far_gap + (1.0 - share) * (max(far_loss - least, 0.0) + far_error)
    far_gap *= 1.0 + summed
    terms = [Term(near_gap + far_gap, near_upper + far_gap)]
    terms += constraint_terms(measured, point, share)
    if balance.row >= 0:
        k = balance.row
        moved = _core.row_growth(
            near.rows, k, at[k], radius[k], point.sample[k], balance.row_move, share
        )
        terms.append(Term(0.0, moved))
    if balance.charge > 0:
        terms.append(Term(0.0, balance.charge * share))
    loss_error = near_error + far_error
    products = Products(
        loss=loss,
        loss_error=loss_error,
        q=q,
        q_error=error,
        terms=terms,
        at_zero=lambda: Term(excess, excess + loss_error),
        excess=excess,
        scale=lambda _: abs(facts.loss_at_zero),
        radius=balance.radius,
    )
    certificate, by_zero = close(_Program(problem.terms, facts.coef_unit), coef, products)
    made = replace(
        dual,
        values=np.zeros_like(point.sample) if by_zero else point.sample,
        inequality=point.inequality,
        equality=point.equality,
        share=0.0 if by_zero else share,
    )
    return BlockProof(certificate, made)


def _clipped(near: Problem, values: Vector) -> Vector:
    sample = np.array(values, dtype=np.float64)
    if sample.size:
        near.rows.clip(sample)
    return sample


def _repaired(
    problem: Problem,
    near: Problem,
    coef: Vector,
    intercept: float,
    point: DualPoint,
    far: _Frozen,
) -> tuple[DualPoint, Measured, Indices]:
    """Return the point moved so that q may be what it is, its numbers, and columns without q."""
    terms = problem.terms
    free = terms.free_columns
    z = near.design.dot(coef)
    if free.size or problem.fit_intercept:
        point = _balanced(problem, near, point, far, free)
    for _ in range(_SIGN_ROUNDS):
        measured = _measured(near, coef, intercept, point, z, far)
        q, error = measured.q.value.copy(), measured.q.error.copy()
        q[free] = error[free] = 0.0
        wrong = terms.wrong_signs(q, error)
        if not wrong.size:
            break
        free = np.union1d(free, wrong)
        point = _balanced(problem, near, point, far, free)
    return point, measured, free


def _measured(
    near: Problem,
    coef: Vector,
    intercept: float,
    point: DualPoint,
    z: Vector,
    far: _Frozen,
) -> Measured:
    """Return the numbers of the listed rows, with q and the sum of multipliers of all rows."""
    gradient = near.design.tdot(point.sample)
    some = measure_plain(near, coef, intercept, point, z.copy(), gradient)
    q = some.q.value - far.gradient
    error = some.q.error + far.rounding * far.size + 2 * UNIT * np.abs(q)
    value, lost = some.total
    total = value + far.total, lost + far.rounding * far.total_size
    return some._replace(q=Bounded(q, error), total=total)


def _balanced(
    problem: Problem, near: Problem, point: DualPoint, far: _Frozen, free: Indices
) -> DualPoint:
    """Return the point with listed multipliers moved so that q is zero on the columns `free`."""
    if not point.sample.size:
        return point
    region = problem.terms.region
    target, size = np.zeros((2, free.size + problem.fit_intercept))
    target[: free.size], size[: free.size] = -far.gradient[free], far.size[free]
    if region.has_rows:
        target[: free.size] += np.asarray(region.combined(point))[free]
        size[: free.size] += region.combined_size(point)[free]
    if problem.fit_intercept:
        target[-1], size[-1] = -far.total, far.total_size
    low, high = near.dual_boxes
    sample, _ = balance_free_columns(
        near.design, free, problem.fit_intercept, point.sample, low, high, target, size
    )
    sample = np.array(sample)
    near.rows.clip(sample)
    return replace(point, sample=sample)
