"""The slopes of losses behind the multipliers of rows, and which of them a file has to list."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.losses import LinearTerm
from rectiline.problems._problem import Problem
from rectiline.problems._samples import Samples
from rectiline.rows import pick

_NEAR_KNOT = 1e-7  # relative distance from a knot below which a row's slope is written down
_SAME_SLOPE = 1e-10  # relative difference up to which a slope is that of the place on the loss


def slopes_in_blocks(problem: Problem, dual: Any) -> Vector:
    """Return the slopes of the losses behind the multipliers of listed rows, with one pass."""
    found = []
    for block in problem.blocks:
        mine = slice(*np.searchsorted(dual.rows, (block.start, block.start + block.n_rows)))
        if mine.start < mine.stop:
            samples = problem.samples.of_block(pick(block, dual.rows), dual.rows[mine])
            found.append(slopes_of(samples, dual.values[mine]))
    return np.concatenate([np.zeros(0), *found])


def slopes_of(samples: Samples, multipliers: Vector) -> Vector:
    """Return the slopes of the losses themselves behind multipliers of weighted losses."""
    used = samples.weight > 0
    slope = samples.direction * multipliers / np.where(used, samples.weight, 1.0)
    ends = np.array([one.curve.domain() for one in samples.losses])
    low, high = ends[0 if samples.index is None else samples.index].T
    return np.clip(np.where(used, slope, 0.0), low, high)


def undecided_rows(problem: Problem, coef: Vector, slopes: Vector) -> Indices:
    """Return the rows whose slope does not follow from their place on the loss."""
    z = problem.design.dot(coef[: problem.n_features])
    t = problem.direction * (z + (coef[-1] if problem.fit_intercept else 0.0)) + problem.offset
    listed = np.zeros(t.size, dtype=bool)
    # A linear term cannot shrink with the other multipliers, so that they have to be exact.
    exact = any(isinstance(loss, LinearTerm) for loss in problem.losses)
    near = 0.0 if exact else _SAME_SLOPE
    for k, loss in enumerate(problem.losses):
        mine = slice(None) if problem.loss_index is None else problem.loss_index == k
        curve, at, slope = loss.curve, t[mine], slopes[mine]
        here = curve.derivative(at)[1]
        size = np.abs(at) + np.abs(problem.offset[mine])
        listed[mine] = np.abs(here - slope) > near * (np.abs(here) + np.abs(slope))
        for knot in curve.knots[curve.right > curve.left]:
            listed[mine] |= np.abs(at - knot) <= _NEAR_KNOT * (size + abs(knot))
    return np.flatnonzero(listed & (problem.weight > 0))
