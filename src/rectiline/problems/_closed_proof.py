"""A pair whose products are known, moved into the penalty's dual range and closed; for `_prove`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import ZERO_LEVEL, Certificate, DualPoint
from rectiline.problems._close import Products, Term, close
from rectiline.problems._dual_range import moved_into_dual_range
from rectiline.problems._exact_balance import RADIUS, Balance, exact_balance, size_of_total
from rectiline.problems._repair import balance_free_columns
from rectiline.problems._rounding import UNIT, Bounded, Measured, gamma, norm_of

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

__all__ = [
    "Proof",
    "RowTerms",
    "balanced_on",
    "closed_proof",
    "constraint_terms",
    "row_terms",
    "size_of_terms",
    "small_proof",
]

_SIGN_ROUNDS = 4  # how often columns whose q has a forbidden sign are balanced
_LITTLE_SHRINKING = 1e-11  # of the multipliers: costs next to nothing
_ROUNDED = 2.0**-46  # of the size of the terms of q: what rounding of multipliers may change
_SMALL = 20_000  # entries of X up to which calls cost more than what they do


class Proof(NamedTuple):
    """A certificate and the repaired multipliers behind it."""

    certificate: Certificate
    dual: DualPoint


def closed_proof(
    problem: Problem,
    b: Vector,
    b0: float,
    point: DualPoint,
    measure: Callable[[DualPoint], Measured],
    tol: float | None,
) -> Proof:
    """Return the proof of a pair; `measure` computes what is needed of a dual point.

    Multipliers that are outside the penalty's dual range by rounding are shrunk where the
    certificate then holds to `tol`; else exact ones inside are shown to exist, which takes longer.
    """
    terms = problem.terms
    free = terms.free_columns
    measured = measure(point)
    # A bound on one side only asks for a sign of q_j; where it may be wrong, q_j is made zero.
    for _ in range(_SIGN_ROUNDS if terms.columns.has_bounds else 0):
        q, error = _without(measured, free)
        wrong = terms.wrong_signs(q, error)
        if not wrong.size:
            break
        free = np.union1d(free, wrong)
        point = balanced_on(problem, point, free)
        measured = measure(point)
    pair = _Pair(b, b0, point, measured, free)
    if problem.has_linear_term:
        return _proof_with_linear_term(problem, pair, measure, tol)
    if tol:
        found, share = _proof(problem, pair, little=1.0)
        if share > 1.0 - _LITTLE_SHRINKING or found.certificate.holds(tol, math.inf):
            return found
        q, error = _without(measured, free)
        if not _outside_by_rounding(problem, q, error, point.sample, _LITTLE_SHRINKING)[0].size:
            return found
    return _proof(problem, pair, _LITTLE_SHRINKING)[0]


def _proof_with_linear_term(
    problem: Problem, pair: _Pair, measure: Callable[[DualPoint], Measured], tol: float | None
) -> Proof:
    """Return the proof where a linear term keeps the multipliers from shrinking.

    Such a term has one slope, so that its multiplier cannot shrink with the others. Where q is not
    in the dual range the distance is charged, or rows on kinks move q there, whichever costs less.
    """
    found, share = _proof(problem, pair, _LITTLE_SHRINKING)
    if share == 1.0:
        return found
    _, error = _without(pair.measured, pair.free)
    point = moved_into_dual_range(problem, pair.point, error, pair.free)
    if point is None:
        return found
    pair = pair._replace(point=point, measured=measure(point))
    moved, _ = _proof(problem, pair, _LITTLE_SHRINKING)
    gaps = [
        one.certificate.gap - (one.certificate.rounding if tol else 0.0) for one in (found, moved)
    ]
    if gaps[0] < gaps[1] and not (tol and moved.certificate.holds(tol, math.inf)):
        return found  # twofold arithmetic takes what this leaves to rounding
    return moved


class _Pair(NamedTuple):
    """Coefficients and a dual point, what was measured of both, and the columns without q."""

    b: Vector
    b0: float
    point: DualPoint
    measured: Measured
    free: Indices


def _proof(problem: Problem, pair: _Pair, little: float) -> tuple[Proof, float]:
    """Return the proof, and the share of the multipliers that is in range: 1 - `little` or more.

    Less where no exact multipliers inside the dual range are found nearby.
    """
    closed = _closed_at_once(problem, pair, little)
    if closed is None:
        closed = _closed_by_parts(problem, pair, little)
    return _finished(problem, pair.b, pair.b0, closed), closed.in_range


def _finished(problem: Problem, b: Vector, b0: float, closed: _Closed) -> Proof:
    """Return the proof of a pair whose rows are closed."""
    rows = closed.rows
    products = Products(
        loss=rows.loss,
        loss_error=rows.loss_error,
        q=closed.q,
        q_error=closed.error,
        terms=rows.terms,
        at_zero=rows.at_zero,
        excess=max(rows.loss - problem.least_loss, 0.0),
        scale=lambda gap: size_of_terms(problem, b, b0, gap),
        radius=closed.radius,
    )
    certificate, by_zero_dual = close(problem, b, products)
    if by_zero_dual:
        return Proof(certificate, problem.terms.region.zero_dual(problem.n_samples))
    return Proof(certificate, closed.point.scaled(closed.share))


class _Closed(NamedTuple):
    """A dual point, the share of it that is used, q for that share, and the terms."""

    point: DualPoint
    in_range: float  # the share of it that is in the dual range
    share: float
    q: Vector
    error: Vector
    rows: RowTerms
    radius: float


def _closes_at_once(problem: Problem, free: Indices) -> bool:
    """Whether compiled code closes a certificate: one of few free columns, and no rows."""
    if not problem.is_separable or problem.has_constraint_rows or problem.has_linear_term:
        return False
    few = free.size + problem.fit_intercept <= _core.MOST_FREE and not problem.design.is_sparse
    return few or not free.size


def _closed_at_once(problem: Problem, pair: _Pair, little: float) -> _Closed | None:
    """Close by one compiled step where few columns are free; None if that is not so."""
    _, _, point, measured, free = pair
    if not _closes_at_once(problem, free):
        return None
    found = _core.close_rows(
        problem.design.view,
        problem.rows,
        problem.columns.core,
        free,
        problem.fit_intercept,
        *measured.arguments,
        point.sample,
        *problem.dual_boxes,
        size_of_total(measured),
        *measured.q,
        problem.design.norm_bounds.columns,
        1.0 - little,
    )
    return None if found is None else _of_arrays(problem, point, found, measured.arguments)


def _of_arrays(problem: Problem, point: DualPoint, found: Any, arguments: Bounded) -> _Closed:
    loss, loss_error, gap, upper, growth, share, q, error = found
    at_zero = partial(_term_at_zero, problem.rows, arguments)
    rows = RowTerms(loss, loss_error, [Term(gap, upper), Term(0.0, growth)], at_zero)
    return _Closed(point, share, share, q, error, rows, math.inf)


def small_proof(
    problem: Problem, b: Vector, b0: float, point: DualPoint, tol: float | None, twofold: bool
) -> Proof | None:
    """Return the proof of a pair of a small problem by one compiled step.

    None where that is not possible, or where multipliers shrink by more than rounding and the
    certificate does not hold to `tol`.
    """
    design, free = problem.design, problem.terms.free_columns
    if design.n_stored > _SMALL or problem.columns.has_bounds or not _closes_at_once(problem, free):
        return None
    norms = design.norm_bounds
    found = _core.close_pair(
        design.view,
        problem.rows,
        problem.columns.core,
        free,
        problem.fit_intercept,
        b,
        b0,
        point.sample,
        *problem.dual_boxes,
        norms.scale,
        norms.rows,
        norms.columns,
        twofold,
        0.0 if tol else 1.0 - _LITTLE_SHRINKING,
    )
    if found is None:
        return None
    closed, sample, at, radius = found
    made = _of_arrays(problem, DualPoint(sample), closed, Bounded(at, radius))
    proof = _finished(problem, b, b0, made)
    little = made.share > 1.0 - _LITTLE_SHRINKING
    return proof if little or (tol and proof.certificate.holds(tol, math.inf)) else None


def _closed_by_parts(problem: Problem, pair: _Pair, little: float) -> _Closed:
    """Close where columns are free, constraint rows take part or the penalty couples columns."""
    q, error, outside, balance, in_range = _placed(problem, pair, little)
    charge, radius, share = Term(0.0, 0.0), balance.radius, in_range
    if share != 1.0 and problem.has_linear_term:
        q, error, charge = _clipped(problem, pair.b, q, error, share)
        share, radius = 1.0, RADIUS
    shrunk = 0.0  # by how much more than without rounding errors
    if share != 1.0:
        exact = _share(problem, q, np.zeros(q.size), outside)
        shrunk = max(1.0 - share / exact, 0.0) if exact > 0 else 0.0
        q, error = share * q, share * error + 2 * UNIT * np.abs(q)
    rows = row_terms(problem, pair.point, pair.measured, balance, share, shrunk)
    rows.terms.append(charge)
    return _Closed(pair.point, in_range, share, q, error, rows, radius)


class _Placed(NamedTuple):
    """q with its error, and how it gets into the dual range: by moves, and by a share of it."""

    q: Vector
    error: Vector
    outside: Indices  # columns that moves bring inside
    balance: Balance
    share: float


def _placed(problem: Problem, pair: _Pair, little: float) -> _Placed:
    b, b0, point, measured, free = pair
    q, error = _without(measured, free)
    outside, excess = _outside_by_rounding(problem, q, error, point.sample, little)
    balance = exact_balance(problem, b, b0, point.sample, free, measured, outside, excess)
    if outside.size and balance.move is None:
        outside = outside[:0]
        balance = exact_balance(problem, b, b0, point.sample, free, measured)
    if outside.size:
        q = q.copy()
        q[outside] = np.clip(q, *problem.columns.dual_range)[outside]
    if balance.q_error is not None:
        error = error + balance.q_error
        error[free] = 0.0
    return _Placed(q, error, outside, balance, _share(problem, q, error, outside))


class RowTerms(NamedTuple):
    """What the samples and the constraint rows of a problem add to a certificate."""

    loss: float
    loss_error: float
    terms: list[Term]
    at_zero: Callable[[], Term]


def row_terms(
    problem: Problem,
    point: DualPoint,
    measured: Measured,
    balance: Balance,
    share: float = 1.0,
    shrunk: float = 0.0,
) -> RowTerms:
    """Return the terms for `share` of the multipliers; `shrunk` of them is due to rounding."""
    rows, at, radius = problem.rows, *measured.arguments
    sample = point.sample
    loss, loss_error, gap, upper = _core.row_bounds(rows, at, radius, sample, share, balance.move)
    # What the rows pay for that is rounding as well: at most about twice the losses' share of it.
    gap = max(gap - 2.0 * shrunk * abs(loss), 0.0)
    terms = [Term(gap, upper), *constraint_terms(measured, point, share)]
    if balance.row >= 0:
        k = balance.row
        moved = _core.row_growth(rows, k, at[k], radius[k], sample[k], balance.row_move, share)
        terms.append(Term(0.0, moved))
    if balance.charge > 0:
        terms.append(Term(0.0, balance.charge * share))

    return RowTerms(loss, loss_error, terms, partial(_term_at_zero, rows, measured.arguments))


def _term_at_zero(rows: _core.RowFunctions, at: Bounded) -> Term:
    """Return the samples' term where all multipliers are zero."""
    return Term(*_core.row_bounds(rows, *at, np.zeros(at.value.size))[2:])


def balanced_on(problem: Problem, point: DualPoint, free: Indices) -> DualPoint:
    """Return the dual point moved so that q is nearly zero on the columns `free`."""
    low, high = problem.dual_boxes
    target, size = np.zeros((2, free.size + problem.fit_intercept))
    region = problem.terms.region
    if region.has_rows:
        target[: free.size] = np.asarray(region.combined(point))[free]
        size[: free.size] = region.combined_size(point)[free]
    if not (point.sample.any() or target.any()):
        return point  # nothing to move
    sample, _ = balance_free_columns(
        problem.design, free, problem.fit_intercept, point.sample, low, high, target, size
    )
    sample = np.array(sample)
    problem.rows.clip(sample)  # exactly into the boxes
    return replace(point, sample=sample)


def _without(measured: Measured, free: Indices) -> tuple[Vector, Vector]:
    """Return q and its error with zeros on the columns that are balanced exactly."""
    if not free.size:
        return measured.q
    q, error = measured.q.value.copy(), measured.q.error.copy()
    q[free] = error[free] = 0.0
    return q, error


def _clipped(
    problem: Problem, b: Vector, q: Vector, error: Vector, share: float
) -> tuple[Vector, Vector, Term]:
    """Return a point of the dual range near q, its error, and what is charged for the distance.

    Among coefficients up to the radius of the certificate that is at most distance times size.
    """
    if problem.is_separable:
        low, high = problem.columns.dual_range
        outside = (q + error > high) | (q - error < low)
        inside = np.where(outside, np.clip(q, low, high), q)
        plain = np.abs(q - inside)
        distance = np.where(outside, plain + error, 0.0)
        left = np.where(outside, 0.0, error)
    else:
        inside, left = share * q, share * error + 2 * UNIT * np.abs(q)
        distance = np.abs(q - inside) + (1.0 - share) * error
        plain = (1.0 - problem.terms.safe_share(q, np.zeros(q.size))) * np.abs(q)
    sizes = RADIUS * np.maximum(np.abs(b), problem.coef_unit)
    upper = float(distance @ sizes) * (1 + gamma(q.size))
    return inside, left, Term(min(float(plain @ sizes), upper), upper)


def _outside_by_rounding(
    problem: Problem, q: Vector, error: Vector, sample: Vector, little: float
) -> tuple[Indices, Vector]:
    """Return columns where q leaves the dual range by what rounding of the multipliers explains.

    Their penalty is so weak that multipliers would shrink by more than `little`. Also returns by
    how much: exact multipliers nearby have q inside.
    """
    nothing = np.zeros(0, dtype=np.intp)
    if not problem.is_separable or problem.columns.strongly_convex:
        return nothing, np.zeros(0)
    if problem.terms.safe_share(q, error) > 1.0 - little:
        return nothing, np.zeros(0)
    low, high = problem.columns.dual_range
    excess = np.maximum(q + error - high, low - q + error)
    outside = np.flatnonzero(excess > 0)
    level = max(_ROUNDED, 4 * gamma(sample.size)) * norm_of(sample)
    if (excess > level * problem.design.norm_bounds.columns).any():
        return nothing, np.zeros(0)
    return outside, excess[outside] * (1 + 4 * UNIT)


def _share(problem: Problem, q: Vector, error: Vector, outside: Indices) -> float:
    """Return by what the multipliers shrink; columns `outside` are in the dual range already."""
    if not outside.size:
        return problem.terms.safe_share(q, error)
    q, error = q.copy(), error.copy()
    q[outside] = error[outside] = 0.0
    return problem.terms.safe_share(q, error)


def constraint_terms(measured: Measured, point: DualPoint, share: float) -> list[Term]:
    """Return ``xi'(A b + c)`` and ``|nu|'|E b + f|``, violated inequalities counted as zero."""
    found: list[Term] = []
    if not (measured.slack.value.size or measured.miss.value.size):
        return found
    for dual, (value, error), sizes in (
        (point.inequality, measured.slack, lambda values: np.maximum(values, 0.0)),
        (np.abs(point.equality), measured.miss, np.abs),
    ):
        if value.size:
            largest = sizes(value) + error if sizes is np.abs else sizes(value + error)
            used = dual > 0  # an infinite error of an unused row does not matter
            margin = share * (1.0 + gamma(dual.size))
            gap = share * float(dual[used] @ sizes(value[used]))
            found.append(Term(gap, margin * float(dual[used] @ largest[used])))
    return found


def size_of_terms(problem: Problem, b: Vector, b0: float, gap: float) -> float:
    """Return what the losses would cost if the terms of their arguments did not cancel.

    0.0 where `gap` is too large for that to matter. Of a problem with a linear term that is the
    size of this term: coefficients may be without bound, and a loss of their sizes proves nothing.
    """
    if problem.has_linear_term:
        return float(np.abs(problem.data.linear) @ np.abs(b))
    # Arguments are compared with knots, so that these are terms as well.
    knots = np.array([float(np.max(np.abs(one.curve.knots))) for one in problem.losses])
    norms = problem.design.norm_bounds
    reach = norms.rows * norm_of(norms.scale * b)
    # No argument is beyond `most`: losses there tell quickly whether the gap is far too large.
    most = 2.0 * float(np.max(np.abs(problem.offset), initial=0.0)) + abs(b0) + float(knots.max())
    most += float(np.max(reach, initial=0.0))
    ends = np.array([most, -most])
    dearest = max(float(np.max(one.curve.value(ends))) for one in problem.losses)
    if gap > ZERO_LEVEL * (dearest * float(problem.weight.sum()) - problem.least_loss):
        return 0.0
    knot = knots[0 if problem.loss_index is None else problem.loss_index]
    rows, fixed = problem.rows, np.abs(problem.offset) + abs(b0) + knot

    def cost(size: Vector) -> float:
        ends = (problem.direction * (sign * size - problem.offset) for sign in (1.0, -1.0))
        most = max(rows.loss(z) for z in ends) - problem.least_loss
        return most if math.isfinite(most) else 0.0

    with np.errstate(over="ignore", invalid="ignore"):
        if not gap <= ZERO_LEVEL * cost(fixed + reach):
            return 0.0
        return cost(fixed + _core.twofold_dot(problem.design.view, b)[3])
