"""The numbers of a certificate with bounds on their rounding errors.

There are two precisions. In plain doubles errors are bounded by norms of X that are computed once.
Where that bound is too large, the products are computed again in twofold arithmetic: they are then
off by little more than the rounding of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY
from rectiline._polling import checkpoint
from rectiline._typing import Vector
from rectiline.problems._certificate import DualPoint
from rectiline.problems.proof._numbers import UNIT, Bounded, gamma, or_infinite

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem
    from rectiline.problems._region import Region

_PLAIN_PASSES_PER_TWOFOLD_PASS = 8.0
_NOTHING = np.zeros(0)


class FrozenRows(NamedTuple):
    """Rows that were summed in a pass, beside those that a problem lists; see `blocks`.

    Attributes
    ----------
    gradient, gradient_rest, gradient_size, gradient_error : ndarray of shape (n_features,)
        ``X'g`` over these rows as a sum of two vectors, the size of its terms, and its rounding
        error.
    total, total_size, total_error : float
        The sum of their multipliers, the size of its terms, and its rounding error.
    rounding : float
        Bound on the relative error of other sums.
    loss, loss_error : float
        Sum of their losses, and its rounding error.
    gap : float
        Upper bound on the sum of their Fenchel-Young terms.
    least_loss : float
        Sum of the smallest values of their losses.
    loss_at_zero : float
        Sum of the losses of all rows, listed ones as well, at zero coefficients.
    coef_unit : ndarray of shape (n_features,)
        What a coefficient must be to move the predictions of all rows by their typical size.
    """

    gradient: Vector
    gradient_rest: Vector
    gradient_size: Vector
    gradient_error: Vector
    total: float
    total_size: float
    total_error: float
    rounding: float
    loss: float
    loss_error: float
    gap: float
    least_loss: float
    loss_at_zero: float
    coef_unit: Vector


class PairProducts(NamedTuple):
    """What a certificate needs of a pair before it moves into the penalty's dual range.

    Attributes
    ----------
    arguments : Bounded
        Where the losses are evaluated, one entry per sample.
    q : Bounded
        ``A'xi + E'nu - X'g``.
    residual : Bounded
        ``A b + c``, then ``E b + f``.
    total : tuple of float
        The sum of the sample multipliers, and its error; zero without an intercept.
    """

    arguments: Bounded
    q: Bounded
    residual: Bounded
    total: tuple[float, float]


def measure(
    problem: Problem,
    b: Vector,
    b0: float,
    point: DualPoint,
    products: tuple[Vector, Vector] | None = None,
    frozen: FrozenRows | None = None,
) -> PairProducts:
    """Return the numbers of a pair.

    Parameters
    ----------
    problem : Problem
    b, b0 : ndarray and float
        Coefficients and intercept.
    point : DualPoint
        Multipliers inside their boxes.
    products : tuple of ndarray, optional
        ``X b`` and ``X'g`` in plain doubles; without them twofold arithmetic is used.
    frozen : FrozenRows, optional
        Rows beside those of the problem.
    """
    design, region = problem.design, problem.terms.region
    twofold = products is None
    if twofold:
        passes = 2.0 * _PLAIN_PASSES_PER_TWOFOLD_PASS
        checkpoint(seconds=passes * SECONDS_PER_ENTRY * design.n_stored)
    argument, radius, q, error = _core.measure(
        design.view,
        problem.rows,
        b,
        b0,
        point.sample,
        design.norm_bounds,
        _shift(region, point, twofold, frozen),
        products,
    )
    total = 0.0, 0.0
    if problem.fit_intercept:
        hi, lo, lost, _ = _core.twofold_sum(point.sample)
        total = hi, lost + abs(lo)
        if frozen is not None:
            total = hi + frozen.total, total[1] + frozen.total_error
    residual = _residual(region, b, twofold)
    return PairProducts(Bounded(argument, radius), Bounded(q, error), residual, total)


def _shift(
    region: Region, point: DualPoint, twofold: bool, frozen: FrozenRows | None
) -> tuple[Vector, Vector, Vector] | None:
    """Return what is added to ``-X'g`` as a sum of two vectors, and how far it may be off."""
    if not region.has_rows and frozen is None:
        return None
    value, rest, error = np.zeros((3, region.rows.lower.size))
    if region.has_rows and twofold:
        value, rest, error, _ = _core.twofold_tdot(region.stacked.design.view, point.constraints)
    elif region.has_rows:
        value = np.asarray(region.combined(point))
        count = region.rows.c.size + region.rows.f.size
        error = gamma(count) * region.combined_size(point)
    if frozen is not None:
        value, lost = _two_sum(value, -frozen.gradient)
        rest = rest + (lost - frozen.gradient_rest)
        error = error + frozen.gradient_error + 4 * UNIT * np.abs(rest)
    return value, rest, or_infinite(error)


def _residual(region: Region, b: Vector, twofold: bool) -> Bounded:
    """Return ``A b + c``, then ``E b + f``."""
    if not region.has_rows:
        return Bounded(_NOTHING, _NOTHING)
    stacked = region.stacked
    X, constant = stacked.design, stacked.offset
    if not twofold:
        size = abs(X.X) @ np.abs(b) + np.abs(constant)
        return Bounded(X.dot(b) + constant, or_infinite(gamma(b.size + 2) * size))
    hi, lo, error, _ = _core.twofold_dot(X.view, b)
    value, lost = _two_sum(hi, constant)
    rests = lost + lo
    value, rest = _two_sum(value, rests)
    error = error + np.abs(rest) + gamma(4) * (np.abs(lost) + np.abs(lo))
    return Bounded(value, or_infinite(error))


def _two_sum(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return the rounded sums, and what rounding took from them (Knuth)."""
    value = a + b
    part = value - a
    return value, (a - (value - part)) + (b - part)
