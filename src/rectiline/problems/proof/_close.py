"""The end of a certificate: what samples and constraint rows add, and the sum of all terms.

Every certificate of the library ends in `close`, whoever multiplied with X: one pair in memory,
many pairs at once, row blocks, several tasks. See `rectiline.problems._problem` for the terms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems._certificate import (
    ZERO_LEVEL,
    Certificate,
    DualPoint,
    distance_from_zero,
)
from rectiline.problems.proof._balance import Balance
from rectiline.problems.proof._measure import (
    Bounded,
    FrozenRows,
    Pair,
    PairProducts,
    gamma,
    norm_of,
)

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

# How far from a minimum rounding may leave an argument, as a share of the size of its terms: next
# to a kink, and where the loss is curved, so that the square of this share counts.
_KINK_LEVEL, _CURVED_LEVEL = 2.0**-50, 2.0**-40
_NEARLY_NOTHING = 2.0**-20  # of the loss at zero: optima above it are not asked if they are 0
_SUM_ROUNDING = 2.0**-51  # relative error of the few sums that are made here


def row_terms(pair: Pair, balance: Balance, share: float = 1.0, shrunk: float = 0.0) -> RowTerms:
    """Return the terms for `share` of the multipliers; `shrunk` of them is due to rounding."""
    problem, point, measured, frozen = pair.problem, pair.point, pair.measured, pair.frozen
    moves: Any = None if balance.moves is None else balance.moves[:2]
    loss, loss_error, gap, upper = _core.row_terms(
        problem.rows, *measured.arguments, point.sample, share, moves
    )
    # What that costs the rows is rounding as well: at most about twice the losses' share of it.
    gap = max(gap - 2.0 * shrunk * abs(loss), 0.0)
    terms = [Term(gap, upper), *_constraint_terms(measured, point, balance, share)]
    if balance.charge > 0:
        terms.append(Term(0.0, balance.charge * share))
    if frozen is not None:
        # Multipliers that are scaled down cost at most in proportion to what zero ones cost.
        far = share * frozen.gap + (1.0 - share) * _excess(frozen).upper
        terms.append(Term(far, far * (1.0 + frozen.rounding)))
    return with_frozen_rows(pair, loss, loss_error, terms, measured.arguments)


def with_frozen_rows(
    pair: Pair, loss: float, loss_error: float, terms: list[Term], at: Bounded
) -> RowTerms:
    """Return the terms of all rows, given those and the arguments of the listed ones."""
    least, frozen = pair.problem.least_loss, pair.frozen
    if frozen is not None:
        loss, loss_error = loss + frozen.loss, loss_error + frozen.loss_error
        least += frozen.least_loss
    return RowTerms(loss, loss_error, terms, least, [(pair, at)])


def _excess(frozen: FrozenRows) -> Term:
    """Return the term of frozen rows where all multipliers are zero."""
    excess = max(frozen.loss - frozen.least_loss, 0.0)
    return Term(excess, excess + frozen.loss_error)


def _term_at_zero(pair: Pair, at: Bounded) -> Term:
    """Return the samples' term where all multipliers are zero."""
    value, upper = _core.row_terms(pair.problem.rows, *at, np.zeros(at.value.size))[2:]
    far = Term(0.0, 0.0) if pair.frozen is None else _excess(pair.frozen)
    return Term(value + far.value, upper + far.upper)


def _constraint_terms(
    measured: PairProducts, point: DualPoint, balance: Balance, share: float
) -> list[Term]:
    """Return ``xi'(A b + c) + |nu|'|E b + f|``, violated inequalities counted as zero."""
    value, error = measured.residual
    if not value.size:
        return []
    dual = np.concatenate([point.inequality, np.abs(point.equality)])
    is_equality = np.arange(dual.size) >= point.inequality.size
    sizes = np.where(is_equality, np.abs(value), np.maximum(value, 0.0))
    largest = np.where(is_equality, np.abs(value) + error, np.maximum(value + error, 0.0))
    used = dual > 0  # an infinite error of an unused row does not matter
    margin = share * (1.0 + gamma(dual.size))
    gap = share * float(dual[used] @ sizes[used])
    dual = dual + (0.0 if balance.moves is None else balance.moves.constraints)
    return [Term(gap, margin * float(dual[used] @ largest[used]))]


def _size_of_terms(pair: Pair, gap: float, away: float) -> float:
    """Return ``2**52`` times what rounding of the arguments of the losses may cost.

    0.0 where `gap`, or how far the optimum is away from zero, is too large for that to matter.
    Arguments are rounded in proportion to their terms: the products of a row, the intercept, the
    target and the knots that they are compared with. Coefficients of a problem with a linear term
    may be without bound, so that their products prove nothing: there the terms are those of the
    data, and the linear term itself. With frozen rows it is the loss at zero.
    """
    problem, b, b0 = pair.problem, pair.b, pair.b0
    if pair.frozen is not None:
        return abs(pair.frozen.loss_at_zero)
    if away > _NEARLY_NOTHING * abs(problem.loss_at_zero):
        return 0.0
    costs = [_costs_of_rounding(one.curve) for one in problem.losses]
    slope, bend, knot = problem.data.samples.each(costs).T
    fixed = np.abs(problem.offset) + abs(b0) + knot
    if problem.has_linear_term:
        return _cost(problem, fixed, slope, bend) + float(np.abs(problem.data.linear) @ np.abs(b))
    norms = problem.design.norm_bounds
    reach = norms.rows * norm_of(norms.scale * b)
    with np.errstate(over="ignore", invalid="ignore"):
        if not max(gap, away) <= ZERO_LEVEL * _cost(problem, fixed + reach, slope, bend):
            return 0.0
        sizes = fixed + _core.twofold_dot(problem.design.view, b)[3]
        return _cost(problem, sizes, slope, bend)


def _cost(problem: Problem, size: Vector, slope: Vector, bend: Vector) -> float:
    cost = np.maximum(slope * _KINK_LEVEL * size, 0.5 * bend * np.square(_CURVED_LEVEL * size))
    total = float(problem.weight @ cost) / ZERO_LEVEL
    return total if math.isfinite(total) else 0.0


def _costs_of_rounding(curve: Any) -> tuple[float, float, float]:
    """Return slope and curvature just outside the minimisers of a loss, and the largest of them.

    Other knots do not matter: near an optimum of zero every argument is beside a minimiser.
    """
    slopes = np.concatenate([curve.left[:1], curve.right])
    if (slopes > 0).all() or (slopes < 0).all():  # a linear term has no minimum
        return 0.0, 0.0, 0.0
    flat = np.flatnonzero((slopes == 0) & (curve.curvature == 0))
    if flat.size:  # from one knot, or infinity, to the next
        knots = np.concatenate([[-np.inf], curve.knots, [np.inf]])
        low, high = knots[flat[0]], knots[flat[-1] + 1]
    else:
        low = high = curve.minimum()[0]
    slope = bend = largest = 0.0
    for end, side, turn in ((low, 0, -1.0), (high, 1, 1.0)):
        if math.isfinite(end):
            steep = turn * float(curve.derivative(end)[side])
            piece = int(np.searchsorted(curve.knots, end, side="right" if side else "left"))
            slope, largest = max(slope, steep), max(largest, abs(end))
            bend = max(bend, 0.0 if steep > 0 else float(curve.curvature[piece]))
    return slope, bend, largest


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
    least_loss : float
        Sum of the smallest values of the losses.
    parts : list of tuple of Pair and Bounded
        The pair of each task, or the only one, and the arguments of the losses of its listed rows.
    """

    loss: float
    loss_error: float
    terms: list[Term]
    least_loss: float
    parts: list[tuple[Pair, Bounded]]


class Closed(NamedTuple):
    """A certificate, and whether it is zero multipliers that prove it instead of those given."""

    certificate: Certificate
    by_zero_dual: bool


def close(
    problem: Any,
    coef: Any,
    q: Any,
    error: Any,
    rows: RowTerms,
    radius: float,
    shrunk: float = 0.0,
) -> Closed:
    """Return the certificate of a pair whose products with X are known.

    ``q = A'xi + E'nu - X'g``, and every point within `error` of it, is in the penalty's dual range.
    Rounding makes q smaller by the share `shrunk`, which costs that share of the penalty. The
    problem knows Omega(coef) and ``h(b) + h*(q) - q'b`` for the penalty with its bounds, and
    violations; shapes of coefficients are its own affair.

    The better of two dual bounds counts: that of the multipliers, and the one where all of them
    are zero. The latter says that no loss is below its minimum; where every sample reaches its
    minimum (separable classes, interpolation) it is the only bound there is.
    """
    penalty = problem.penalty_terms(coef, q, error)
    primal = rows.loss + penalty.value
    plain = max(penalty.gap - shrunk * penalty.value, 0.0)
    gap = _sum([Term(plain, penalty.upper), *rows.terms])
    by_zero_dual = False
    if max(rows.loss - rows.least_loss, 0.0) < gap.upper:
        nothing = np.zeros_like(q)
        at_zero = problem.penalty_terms(coef, nothing, nothing)
        far = [_term_at_zero(*part) for part in rows.parts]
        other = _sum([*far, Term(at_zero.gap, at_zero.upper)])
        by_zero_dual = other.upper < gap.upper
        gap = other if by_zero_dual else gap
    rounded = rows.loss_error + penalty.error + _SUM_ROUNDING * (abs(rows.loss) + penalty.value)
    upper = (gap.upper + rounded) * (1.0 + _SUM_ROUNDING)
    if math.isfinite(primal) and math.isfinite(upper):
        rounding = upper - gap.value
        away = distance_from_zero(primal - upper, primal + rounding)
        scale = sum(_size_of_terms(pair, gap.value, away) for pair, _ in rows.parts)
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
