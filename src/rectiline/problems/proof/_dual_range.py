"""Multipliers moved well into the range that the penalty allows, for proofs and the driver.

A certificate shrinks multipliers whose ``q = A'xi + E'nu - X'g`` may leave ``|q_j| <= l1_j`` once
rounding is counted. Where a column costs next to nothing (a tiny strength, or a column in large
units) a rounding error of q is a large share of l1_j, and shrinking all multipliers by that share
loses the proof of a right answer. Here the samples that sit on a kink, whose multipliers are free
to move, bring q inside by more than rounding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import DualPoint
from rectiline.problems.proof._balance import balanced_on

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

_ROUNDS = 4
_MOST_COLUMNS = 200  # the linear systems have the order of the columns that are moved
# Distance kept from the ends, relative to the terms of q_j.
_END_MARGIN = 32 * float(np.finfo(np.float64).eps)
_ERROR_MARGIN_FACTOR = 4.0  # distance kept besides, in known errors of q_j


def moved_into_dual_range(
    problem: Problem,
    dual: DualPoint,
    error: Vector | None = None,
    free: Indices | None = None,
) -> DualPoint | None:
    """Return multipliers near `dual` whose q is well in range, or None where nothing is to do.

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
    for _ in range(_ROUNDS):
        q = region.combined(point) - problem.design.tdot(point.sample)
        low, high = _inner_range(problem, point, q, error)
        outside = np.flatnonzero((q > high) | (q < low))
        if moved and not np.setdiff1d(outside, chosen).size:
            break
        chosen = np.union1d(chosen, outside)
        if not chosen.size or chosen.size > _MOST_COLUMNS:
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
    size = np.sqrt(problem.design.column_squares()) * float(np.linalg.norm(point.sample))
    if problem.terms.region.has_rows:
        size = size + problem.terms.region.combined_size(point)
    margin = _END_MARGIN * size + (0.0 if error is None else _ERROR_MARGIN_FACTOR * error)
    if not problem.is_separable:
        most = problem.terms.safe_share(q, margin) * np.abs(q)
        return -most, most
    low, high = problem.columns.dual_range
    return np.minimum(low + margin, 0.0), np.maximum(high - margin, 0.0)
