"""The numbers of a certificate with bounds on their rounding errors.

There are two precisions. In plain doubles errors are bounded by norms of X that are computed once.
Where that bound is too large, the products are computed again in twofold arithmetic: they are then
off by little more than the rounding of the result.

A sum of k products is off by at most ``gamma(k)`` times the sum of their absolute values, for any
order of summation (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY
from rectiline._lazy import cached_property
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import DualPoint

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem
    from rectiline.problems._region import Region


_PLAIN_PASSES_PER_TWOFOLD_PASS = 8.0
_NOTHING = np.zeros(0)
UNIT = 2.0**-53  # largest relative error of one operation
UNDERFLOW = 2.0**-1000  # more than products that underflow can lose
_MINIMUM = 2.0**-1022  # products below this may lose all their digits


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


@dataclass(eq=False)
class Pair:
    """Coefficients and a dual point of a problem, to be measured in plain or twofold arithmetic.

    Attributes
    ----------
    problem : Problem
        Its rows are those that are listed.
    b, b0 : ndarray and float
    point : DualPoint
        Multipliers inside their boxes.
    free : ndarray of int
        The columns on which q has to be zero.
    frozen : FrozenRows or None
        What other rows add.
    is_twofold : bool
        Whether products are nearly exact; else they are plain doubles.
    """

    problem: Problem
    b: Vector
    b0: float
    point: DualPoint
    free: Indices
    frozen: FrozenRows | None = None
    is_twofold: bool = False

    def with_point(self, point: DualPoint, free: Indices | None = None) -> Pair:
        """Return the coefficients with another dual point, and with other free columns if given."""
        free = self.free if free is None else free
        return Pair(self.problem, self.b, self.b0, point, free, self.frozen, self.is_twofold)

    @cached_property
    def measured(self) -> PairProducts:
        """The products with X and the constraint rows, and their rounding errors."""
        problem, sample, frozen = self.problem, self.point.sample, self.frozen
        twofold = self.is_twofold
        design, region = problem.design, problem.terms.region
        if twofold:
            passes = 2.0 * _PLAIN_PASSES_PER_TWOFOLD_PASS
            checkpoint(seconds=passes * SECONDS_PER_ENTRY * design.n_stored)
        argument, radius, q, error = _core.measure(
            design.view,
            problem.rows,
            self.b,
            self.b0,
            sample,
            design.norm_bounds,
            _shift(region, self.point, twofold, frozen),
            None if twofold else design.both(self.b, sample),
        )
        total = 0.0, 0.0
        if problem.fit_intercept:
            hi, lo, lost, _ = _core.twofold_sum(sample)
            total = hi, lost + abs(lo)
            if frozen is not None:
                total = hi + frozen.total, total[1] + frozen.total_error
        residual = _residual(region, self.b, twofold)
        return PairProducts(Bounded(argument, radius), Bounded(q, error), residual, total)

    @property
    def q_on_penalised_columns(self) -> tuple[Vector, Vector]:
        """q and its error with zeros on the columns that are balanced exactly."""
        if not self.free.size:
            return self.measured.q
        q, error = self.measured.q.value.copy(), self.measured.q.error.copy()
        q[self.free] = error[self.free] = 0.0
        return q, error

    @property
    def lacks_room(self) -> bool:
        """Whether too few multipliers for the free columns are inside their boxes."""
        if self.frozen is not None or not self.free.size:
            return False
        (low, high), g = self.problem.dual_boxes, self.point.sample
        inside = ((low < g) & (g < high)).astype(np.float64)
        is_short = inside.sum() < self.free.size
        return is_short or not self.problem.design.column_squares(inside)[self.free].all()


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


class Bounded(NamedTuple):
    """Numbers, and how far the exact ones may be from them."""

    value: Vector
    error: Vector


def gamma(count: int) -> float:
    """Return the largest relative error of a sum of `count` products, with a small margin."""
    return 1.01 * (count + 4) * UNIT


def norm_of(values: Vector) -> float:
    """Return an upper bound on the Euclidean norm; infinite where squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(values, values)) + values.size * _MINIMUM
        return float(np.sqrt(total) * (1.0 + gamma(values.size))) if total < np.inf else np.inf


def or_infinite(errors: Vector) -> Vector:
    """Return the errors with undefined ones infinite."""
    return np.where(errors >= 0.0, errors, np.inf)
