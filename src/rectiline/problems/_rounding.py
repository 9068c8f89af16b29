"""The numbers of a certificate with bounds on their rounding errors; used by `_prove`.

There are two precisions. In plain doubles a sum of k products is off by at most ``gamma(k)`` times
the sum of their absolute values (Higham, "Accuracy and Stability of Numerical Algorithms", section
3.1), for any order of summation. That sum is bounded by norms of X that are computed once. Where
the bound is too large, the products are computed again in twofold arithmetic: they are then off
by little more than the rounding of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._polling import SECONDS_PER_ENTRY, checkpoint
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems._certificate import DualPoint

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem
    from rectiline.problems._region import Region

__all__ = [
    "UNDERFLOW",
    "UNIT",
    "Bounded",
    "Measured",
    "gamma",
    "measure_plain",
    "measure_twofold",
    "norm_of",
]

UNIT = 2.0**-53  # largest relative error of one operation
UNDERFLOW = 2.0**-1000  # more than products that underflow can lose
_TWOFOLD_COST = 8.0  # of a pass over X in twofold arithmetic, in plain passes
_MINIMUM = 2.0**-1022  # products below this may lose all their digits


def gamma(count: int) -> float:
    """Return the largest relative error of a sum of `count` products, with a small margin."""
    return 1.01 * (count + 4) * UNIT


def norm_of(values: Vector) -> float:
    """Return an upper bound on the Euclidean norm; infinite where squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(values, values)) + values.size * _MINIMUM
        return float(np.sqrt(total) * (1.0 + gamma(values.size))) if total < np.inf else np.inf


class Bounded(NamedTuple):
    """Numbers, and how far the exact ones may be from them."""

    value: Vector
    error: Vector


class Measured(NamedTuple):
    """What a certificate needs of a pair before it moves into the penalty's dual range.

    Attributes
    ----------
    arguments : Bounded
        Where the losses are evaluated, one entry per sample.
    q : Bounded
        ``A'xi + E'nu - X'g``.
    slack, miss : Bounded
        ``A b + c`` and ``E b + f``.
    total : tuple of float
        The sum of the sample multipliers, and its error.
    is_twofold : bool
    """

    arguments: Bounded
    q: Bounded
    slack: Bounded
    miss: Bounded
    total: tuple[float, float]
    is_twofold: bool


def measure_plain(
    problem: Problem,
    b: Vector,
    b0: float,
    point: DualPoint,
    z: Vector,
    image: Vector,
    region: Region | None = None,
) -> Measured:
    """Return the numbers in plain doubles; ``z = X b`` and ``image = X'g`` are known.

    `region` is where the constraint rows are, by default the problem's own.
    """
    design, region = problem.design, problem.terms.region if region is None else region
    norms = design.norm_bounds
    arguments = Bounded(*_core.plain_arguments(problem.rows, z, b0, b, norms.scale, norms.rows))
    q, q_error = _core.plain_slopes(point.sample, image, norms.columns)
    if region.has_rows:
        with np.errstate(over="ignore", invalid="ignore"):
            q = region.combined(point) + q
            count = region.rows.c.size + region.rows.f.size
            error = q_error + gamma(count) * region.combined_size(point)
            q_error = _or_infinite(error + 2 * UNIT * np.abs(q))
    slack = _plain_residual(region.rows.A, region.rows.c, b)
    miss = _plain_residual(region.rows.E, region.rows.f, b)
    total = _sum_of(point.sample) if problem.fit_intercept else (0.0, 0.0)
    return Measured(arguments, Bounded(q, q_error), slack, miss, total, False)


def measure_twofold(
    problem: Problem, b: Vector, b0: float, point: DualPoint, region: Region | None = None
) -> Measured:
    """Return the numbers in twofold arithmetic."""
    design, rows = problem.design, (problem.terms.region if region is None else region).rows
    checkpoint(seconds=_TWOFOLD_COST * SECONDS_PER_ENTRY * design.n_stored)
    z = _core.twofold_dot(design.view, b)
    arguments = Bounded(*_core.twofold_arguments(problem.rows, z, b0))
    checkpoint(seconds=_TWOFOLD_COST * SECONDS_PER_ENTRY * design.n_stored)
    parts = [_core.twofold_tdot(design.view, -point.sample)[:3]]
    residuals = []
    for matrix, constant, dual in (
        (rows.A, rows.c, point.inequality),
        (rows.E, rows.f, point.equality),
    ):
        if not constant.size:
            residuals.append(Bounded(constant, constant))
            continue
        view = Design(matrix).view
        parts.append(_core.twofold_tdot(view, dual)[:3])
        nothing = np.zeros(constant.size)
        residuals.append(_total([_core.twofold_dot(view, b)[:3], (constant, nothing, nothing)]))
    total = _sum_of(point.sample) if problem.fit_intercept else (0.0, 0.0)
    return Measured(arguments, _total(parts), residuals[0], residuals[1], total, True)


def _total(parts: list[tuple[Vector, Vector, Vector]]) -> Bounded:
    """Return the sum of twofold vectors (hi, lo, error), rounded once."""
    hi, lo, error = parts[0]
    size = np.abs(lo)
    with np.errstate(over="ignore", invalid="ignore"):
        for other, rest, more in parts[1:]:
            total = hi + other
            part = total - hi
            lost = (hi - (total - part)) + (other - part)
            hi, lo, error = total, lo + (lost + rest), error + more
            size = size + np.abs(lost) + np.abs(rest)
        value = hi + lo
        part = value - hi
        lost = (hi - (value - part)) + (lo - part)
        return Bounded(value, _or_infinite(np.abs(lost) + error + gamma(4 * len(parts)) * size))


def _plain_residual(matrix: object, constant: Vector, b: Vector) -> Bounded:
    """Return ``matrix @ b + constant``."""
    if not constant.size:
        return Bounded(constant, constant)
    value = matrix @ b + constant  # type: ignore[operator]
    size = abs(matrix) @ np.abs(b) + np.abs(constant)  # type: ignore[arg-type]
    return Bounded(value, _or_infinite(gamma(b.size + 2) * size))


def _sum_of(values: Vector) -> tuple[float, float]:
    hi, lo, error, _ = _core.twofold_sum(values)
    return hi, error + abs(lo)


def _or_infinite(errors: Vector) -> Vector:
    """Return the errors with undefined ones infinite."""
    return np.where(errors >= 0.0, errors, np.inf)
