"""Directions along which an objective with a linear term falls without end; asked by `solve`.

Losses and penalties are bounded below, so only a linear term (``Problem(..., linear=...)``) can
make an objective unbounded. Its row is flat below a floor (`_linear_term`); an answer on the floor
points where the objective falls, and the slope at infinity along it is a sum that proves it.
"""

from __future__ import annotations

import numpy as np

from rectiline._typing import Vector
from rectiline.problems._problem import Problem

__all__ = ["falling_direction"]

_ON_FLOOR = 1.0 - 1e-6
_SURE = 1e-9  # of the terms of the slope: more than rounding can make of them


def falling_direction(problem: Problem, coef: Vector) -> Vector | None:
    """Return a direction along which the objective provably falls without end, or None."""
    floored = [k for k, one in enumerate(problem.losses) if one.name == "floored_linear"]
    if not floored or not coef.any():
        return None
    index = problem.loss_index
    rows = np.arange(problem.n_samples) if index is None else np.flatnonzero(index == floored[0])
    floor = abs(float(problem.losses[floored[0]].curve.knots[0]))
    if (problem.design.dot(coef)[rows] > -_ON_FLOOR * floor).any():
        return None
    direction = coef / float(np.abs(coef).max())
    if not _stays_feasible(problem, direction):
        return None
    z = problem.design.dot(direction)
    terms = [*_slopes_at_infinity(problem, z, floored[0]), _penalty_slope(problem, direction)]
    slope, size = float(np.sum(terms)), float(np.sum(np.abs(terms)))
    return direction if np.isfinite(size) and slope < -_SURE * size else None


def _stays_feasible(problem: Problem, d: Vector) -> bool:
    rows = problem.constraint_rows
    if (d[np.isfinite(rows.lower)] < 0).any() or (d[np.isfinite(rows.upper)] > 0).any():
        return False
    return bool((rows.A @ d >= 0).all() and (rows.E @ d == 0).all())


def _slopes_at_infinity(problem: Problem, z: Vector, linear: int) -> Vector:
    """Return the slope of each sample's loss far along the direction with predictions z."""
    t = problem.direction * z
    found = np.zeros(t.size)
    for k, one in enumerate(problem.losses):
        mine = slice(None) if problem.loss_index is None else problem.loss_index == k
        if k == linear:
            found[mine] = z[mine]
            continue
        low, high = one.curve.domain()
        with np.errstate(invalid="ignore"):  # an infinite slope times zero
            slopes = np.where(t[mine] > 0, high * t[mine], low * t[mine])
        found[mine] = np.where(t[mine] == 0, 0.0, slopes)
    return problem.weight * found


def _penalty_slope(problem: Problem, d: Vector) -> float:
    if problem.penalty is None:
        return 0.0
    if problem.is_separable:
        columns = problem.columns
        bent = bool(np.any((columns.rho > 0) & (d != 0)))
        return np.inf if bent else float(np.sum(columns.l1 * np.abs(d)))
    return problem.penalty.value(d)  # a norm
