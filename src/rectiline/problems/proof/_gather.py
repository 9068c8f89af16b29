"""From the products of a pair to its certificate: q in the penalty's dual range, and all terms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems.proof._balance import (
    MOST_COLUMNS_MOVED,
    RADIUS,
    Balance,
    balanced_on,
    exact_balance,
    free_part,
)
from rectiline.problems.proof._close import Term, close, row_terms, with_frozen_rows
from rectiline.problems.proof._measure import UNIT, Bounded, Pair, gamma, norm_of

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

_ROUNDS_OF_EXACT_MOVES = 4  # each may push q of other columns outside
_ROUNDS_OF_SIGNS = 4  # how often columns whose q has a forbidden sign are balanced
_ALLOWED_SHRINKAGE = 1e-11  # of the multipliers; the gap hardly grows
_ROOM_AT_ENDS = 2.0**-36  # by this share multipliers shrink where too few can move
_SHARE_OF_TOL_FOR_ROOM = 2.0**-4  # shrinking adds about as much to the relative gap
_ROUNDED_SHARE = 2.0**-46  # relative to the terms of q: change by rounding of multipliers
_WORK_FOR_ONE_CALL = 2_000_000  # entries times columns; from there on there may be no time for it
_ROUNDS_INTO_RANGE = 4
# Distance kept from the ends, relative to the terms of q_j.
_END_MARGIN = 32 * float(np.finfo(np.float64).eps)
_ERROR_MARGIN_FACTOR = 4.0  # distance kept besides, in known errors of q_j


class ClosedPair(NamedTuple):
    """A certificate, the dual point behind it, and the share of that which is used.

    Attributes
    ----------
    certificate : Certificate
    point : DualPoint
    share : float
        0.0 where zero multipliers prove more.
    in_range : float
        The share that is in the penalty's dual range.
    """

    certificate: Certificate
    point: DualPoint
    share: float
    in_range: float


def best_closed(pair: Pair, tol: float | None) -> ClosedPair:
    """Return the closed pair.

    Multipliers that are outside the penalty's dual range by rounding are shrunk where the
    certificate then holds to `tol`; else exact ones inside are shown to exist, which takes longer.
    Where too many are at the ends of their boxes to balance free columns exactly, all shrink a bit.
    """
    problem, terms = pair.problem, pair.problem.terms
    # A bound on one side only asks for a sign of q_j; where it may be wrong, q_j is made zero.
    for _ in range(_ROUNDS_OF_SIGNS if terms.columns.has_bounds else 0):
        wrong = terms.wrong_signs(*pair.q_on_penalised_columns)
        if not wrong.size:
            break
        free = np.union1d(pair.free, wrong)
        pair = pair.with_point(balanced_on(problem, pair.point, free, pair.frozen), free)
    if problem.has_linear_term:
        return _closed_with_linear_term(pair, tol)
    found = _closed_without_linear_term(pair, tol)
    if found.certificate.radius < math.inf and pair.lacks_room:
        room = max(_ROOM_AT_ENDS, _SHARE_OF_TOL_FOR_ROOM * (tol or 0.0))
        other = _closed_without_linear_term(pair.with_point(pair.point.scaled(1.0 - room)), tol)
        holds = not tol or other.certificate.holds(tol, math.inf)
        if other.certificate.radius == math.inf and holds:
            return other
    return found


def _closed_without_linear_term(pair: Pair, tol: float | None) -> ClosedPair:
    if tol:
        found = _closed(pair, allowed_shrinkage=1.0)
        if found.in_range > 1.0 - _ALLOWED_SHRINKAGE or found.certificate.holds(tol, math.inf):
            return found
        if not _outside_by_rounding(pair, *pair.q_on_penalised_columns).size:
            return found
    return _closed(pair, _ALLOWED_SHRINKAGE)


def _closed_with_linear_term(pair: Pair, tol: float | None) -> ClosedPair:
    """Return the closed pair where a linear term keeps the multipliers from shrinking.

    Such a term has one slope, so that its multiplier cannot shrink with the others. Where q is not
    in the dual range the distance is charged, or rows on kinks move q there, whichever costs less.
    """
    found = _closed(pair, _ALLOWED_SHRINKAGE)
    if found.in_range == 1.0:
        return found
    _, error = pair.q_on_penalised_columns
    point = moved_into_dual_range(pair.problem, pair.point, error, pair.free)
    if point is None:
        return found
    moved = _closed(pair.with_point(point), _ALLOWED_SHRINKAGE)
    gaps = [
        one.certificate.gap - (one.certificate.rounding if tol else 0.0) for one in (found, moved)
    ]
    if gaps[0] < gaps[1] and not (tol and moved.certificate.holds(tol, math.inf)):
        return found  # twofold arithmetic takes what this leaves to rounding
    return moved


def _closed(pair: Pair, allowed_shrinkage: float) -> ClosedPair:
    """Return the closed pair; `in_range` is 1 - `allowed_shrinkage` or more.

    Less where no exact multipliers inside the dual range are found nearby.
    """
    q, error, balance, in_range, shrunk = _q_in_dual_range(pair, allowed_shrinkage)
    share, radius, charges = in_range, balance.radius, []
    if share != 1.0 and pair.problem.has_linear_term:
        q, error, charge = _clipped(pair, q, error, share)
        charges, share, radius, shrunk = [charge], 1.0, RADIUS, 0.0
    elif share != 1.0:
        q, error = share * q, share * error + 2 * UNIT * np.abs(q)
    rows = row_terms(pair, balance, share, shrunk)
    rows.terms.extend(charges)
    certificate, by_zero_dual = close(pair.problem, pair.b, q, error, rows, radius, shrunk)
    return ClosedPair(certificate, pair.point, 0.0 if by_zero_dual else share, in_range)


def small_closed(pair: Pair, tol: float | None, twofold: bool) -> ClosedPair | None:
    """Return the closed pair of a small problem by one compiled step, which balances it as well.

    None where that is not possible, or where exact multipliers nearby may have q inside.
    """
    problem, free, terms = pair.problem, pair.free, pair.problem.terms
    design, samples = problem.design, problem.data.samples
    if not terms.is_separable or terms.is_constrained or samples.linear_rows.size:
        return None
    if pair.frozen is not None:
        return None
    if design.n_stored * (1 + free.size) > _WORK_FOR_ONE_CALL:
        return None
    part = free_part(design, free)
    if part is not None and part.is_sparse:
        return None
    found = _core.close_pair(
        design.view,
        design.norm_bounds,
        None if part is None else part.view,
        free,
        samples.fit_intercept,
        samples.rows,
        terms.columns.core,
        pair.b,
        pair.b0,
        pair.point.sample,
        twofold,
    )
    if found is None:
        return None
    (loss, loss_error, *term), share, sample, (at, radius, q, error) = found
    pair = pair.with_point(DualPoint(sample))
    rows = with_frozen_rows(pair, loss, loss_error, [Term(*term)], Bounded(at, radius))
    certificate, by_zero_dual = close(problem, pair.b, q, error, rows, math.inf)
    is_enough = share > 1.0 - _ALLOWED_SHRINKAGE or (tol and certificate.holds(tol, math.inf))
    if is_enough or not _outside_by_rounding(pair, q / share, error / share).size:
        return ClosedPair(certificate, pair.point, 0.0 if by_zero_dual else share, share)
    return None


def _q_in_dual_range(
    pair: Pair, allowed_shrinkage: float
) -> tuple[Vector, Vector, Balance, float, float]:
    """Return q with its error, and how it gets into the dual range: by moves, and by a share of it.

    The last number says by how much more it shrinks than without rounding errors.
    """
    problem = pair.problem
    q, error = pair.q_on_penalised_columns
    outside, balance = np.zeros(0, dtype=np.intp), exact_balance(pair)
    for rounds_left in reversed(range(_ROUNDS_OF_EXACT_MOVES + 1)):
        known, off = q.copy(), error.copy()
        if balance.moves is not None:
            off += balance.moves.q_error
            off[pair.free] = 0.0
        known[outside] = off[outside] = 0.0  # moves bring them inside
        more = _outside_by_rounding(pair, known, off, allowed_shrinkage)
        if not (more.size and rounds_left):
            break
        wider = np.union1d(outside, more)
        found = exact_balance(pair, wider)
        if found.moves is None:
            break
        balance, outside = found, wider
    share = problem.terms.safe_share(known, off)
    shrunk = 0.0
    if share != 1.0:
        exact = problem.terms.safe_share(known, np.zeros(q.size))
        shrunk = max(1.0 - share / exact, 0.0) if exact > 0 else 0.0
    if balance.moves is not None:
        error = error + balance.moves.q_error
        error[pair.free] = 0.0
    if outside.size:
        q = q.copy()
        q[outside] = np.clip(q, *problem.columns.dual_range)[outside]
    return q, error, balance, share, shrunk


def _outside_by_rounding(
    pair: Pair, q: Vector, error: Vector, allowed_shrinkage: float = _ALLOWED_SHRINKAGE
) -> Indices:
    """Return columns where q may leave the dual range by what rounding explains.

    Their penalty is so weak that multipliers would shrink by more than `allowed_shrinkage`; but
    exact multipliers nearby have q inside. `error` may contain what the balance of other columns
    changes.
    """
    problem, sample, nothing = pair.problem, pair.point.sample, np.zeros(0, dtype=np.intp)
    if not problem.is_separable or problem.columns.strongly_convex:
        return nothing
    if problem.terms.safe_share(q, error) > 1.0 - allowed_shrinkage:
        return nothing
    low, high = problem.columns.dual_range
    excess = np.maximum(q - high, low - q)
    level = max(_ROUNDED_SHARE, 4 * gamma(sample.size)) * norm_of(sample)
    if (excess > level * problem.design.norm_bounds.columns).any():
        return nothing
    return np.flatnonzero(excess + error > 0)


def _clipped(pair: Pair, q: Vector, error: Vector, share: float) -> tuple[Vector, Vector, Term]:
    """Return a point of the dual range near q, its error, and what is charged for the distance.

    Among coefficients up to the radius of the certificate that is at most distance times size.
    """
    problem = pair.problem
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
    sizes = RADIUS * np.maximum(np.abs(pair.b), problem.coef_unit)
    upper = float(distance @ sizes) * (1 + gamma(q.size))
    return inside, left, Term(min(float(plain @ sizes), upper), upper)


def moved_into_dual_range(
    problem: Problem,
    dual: DualPoint,
    error: Vector | None = None,
    free: Indices | None = None,
) -> DualPoint | None:
    """Return multipliers near `dual` whose q is well in range, or None where nothing is to do.

    A certificate shrinks multipliers whose q may leave ``|q_j| <= l1_j`` once rounding is counted.
    Where a column costs next to nothing (a tiny strength, or a column in large units) a rounding
    error of q is a large share of l1_j, and shrinking all multipliers by that share loses the proof
    of a right answer. Here the samples that sit on a kink, whose multipliers are free to move,
    bring q inside by more than rounding.

    `error` says how far each q_j may be from its computed value, where that is known, and `free`
    which columns stay as they are even where they are in range; by default those without cost.

    The answer is a proposal like any other: the certificate says whether it proves more.
    """
    if problem.is_separable and not problem.columns.has_l1:
        return None
    region = problem.terms.region
    chosen = problem.terms.free_columns if free is None else free
    point, moved = dual, False
    if problem.fit_intercept:  # as the proof does: q is looked at where the multipliers balance
        point = replace(dual, sample=dual.sample.copy())
        problem.rows.balance(point.sample)
    for _ in range(_ROUNDS_INTO_RANGE):
        q = region.combined(point) - problem.design.tdot(point.sample)
        low, high = _inner_range(problem, point, q, error)
        outside = np.flatnonzero((q > high) | (q < low))
        if moved and not np.setdiff1d(outside, chosen).size:
            break
        chosen = np.union1d(chosen, outside)
        if not chosen.size or chosen.size > MOST_COLUMNS_MOVED:
            return None
        wanted = np.clip(q, low, high)[chosen]
        point, moved = balanced_on(problem, point, chosen.astype(np.intp), wanted=wanted), True
    return point if moved else None


def _inner_range(
    problem: Problem, point: DualPoint, q: Vector, error: Vector | None
) -> tuple[Vector, Vector]:
    """Return the range of q, narrowed by more than rounding but never past zero.

    A penalty that couples columns has no range for each: there it is the share of q that is inside.
    """
    margin = _END_MARGIN * problem.terms_of_q(point)
    if error is not None:
        margin = margin + _ERROR_MARGIN_FACTOR * error
    if not problem.is_separable:
        most = problem.terms.safe_share(q, margin) * np.abs(q)
        return -most, most
    low, high = problem.columns.dual_range
    return np.minimum(low + margin, 0.0), np.maximum(high - margin, 0.0)
