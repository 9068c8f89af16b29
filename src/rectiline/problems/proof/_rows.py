"""What samples and constraint rows add to a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems._certificate import ZERO_LEVEL, DualPoint
from rectiline.problems.proof._balance import Balance
from rectiline.problems.proof._close import Term
from rectiline.problems.proof._measure import FrozenRows, PairProducts
from rectiline.problems.proof._numbers import Bounded, gamma, norm_of

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

__all__ = ["RowTerms", "row_terms", "size_of_terms", "term_at_zero"]


class RowTerms(NamedTuple):
    """What the samples and the constraint rows of a problem add to a certificate."""

    loss: float
    loss_error: float
    terms: list[Term]
    at_zero: Callable[[], Term]


def row_terms(
    problem: Problem,
    point: DualPoint,
    measured: PairProducts,
    balance: Balance,
    share: float = 1.0,
    shrunk: float = 0.0,
    frozen: FrozenRows | None = None,
) -> RowTerms:
    """Return the terms for `share` of the multipliers; `shrunk` of them is due to rounding."""
    moves: Any = None if balance.moves is None else balance.moves[:2]
    loss, loss_error, gap, upper = _core.row_terms(
        problem.rows, *measured.arguments, point.sample, share, moves
    )
    # What the rows pay for that is rounding as well: at most about twice the losses' share of it.
    gap = max(gap - 2.0 * shrunk * abs(loss), 0.0)
    terms = [Term(gap, upper), *_constraint_terms(measured, point, share)]
    if balance.charge > 0:
        terms.append(Term(0.0, balance.charge * share))
    at_zero = partial(term_at_zero, problem.rows, measured.arguments, frozen)
    if frozen is not None:
        loss, loss_error = loss + frozen.loss, loss_error + frozen.loss_error
        # Multipliers that are scaled down cost at most in proportion to what zero ones cost.
        far = share * frozen.gap + (1.0 - share) * _excess(frozen).upper
        terms.append(Term(far, far * (1.0 + frozen.rounding)))
    return RowTerms(loss, loss_error, terms, at_zero)


def _excess(frozen: FrozenRows) -> Term:
    """Return the term of frozen rows where all multipliers are zero."""
    excess = max(frozen.loss - frozen.least_loss, 0.0)
    return Term(excess, excess + frozen.loss_error)


def term_at_zero(rows: _core.RowFunctions, at: Bounded, frozen: FrozenRows | None = None) -> Term:
    """Return the samples' term where all multipliers are zero."""
    value, upper = _core.row_terms(rows, *at, np.zeros(at.value.size))[2:]
    far = Term(0.0, 0.0) if frozen is None else _excess(frozen)
    return Term(value + far.value, upper + far.upper)


def _constraint_terms(measured: PairProducts, point: DualPoint, share: float) -> list[Term]:
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
    return [Term(gap, margin * float(dual[used] @ largest[used]))]


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
