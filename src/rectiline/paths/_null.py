"""The model without coefficients: its best intercept and the multipliers it leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.intercepts import ShiftedLosses

_SIGNS = np.array([1.0, -1.0])  # of the two classes


@dataclass(frozen=True, eq=False)
class NullModel:
    """A best constant prediction and the range of slopes of each sample's loss there.

    Any ``g`` with ``low <= g <= high`` (and ``sum(g) == 0`` with an intercept) is an optimal dual
    point of the problem without coefficients, and there are no others.
    """

    intercept: float
    low: Vector
    high: Vector


def null_model(problem: Problem) -> NullModel:
    """Return the best model with all coefficients zero."""
    intercept = _shifts(problem).middle_minimiser() if problem.fit_intercept else 0.0
    return NullModel(intercept, *problem.rows.slope_ranges(intercept))


def _has_two_classes(problem: Problem) -> bool:
    """Whether all samples of a class are alike as long as there are no coefficients."""
    return len(problem.losses) == 1 and problem.losses[0].of == "margin"


def _shifts(problem: Problem) -> ShiftedLosses:
    """Return the loss of a constant prediction."""
    p, t, weight = problem.direction, problem.offset, problem.weight
    if not _has_two_classes(problem):
        return ShiftedLosses(problem.losses, problem.loss_index, t, p, weight)
    totals = np.array([float(weight[p == sign].sum()) for sign in _SIGNS])
    return ShiftedLosses(problem.losses, None, np.zeros(2), _SIGNS, totals)


def null_start(problem: Problem) -> tuple[float, Vector]:
    """Return an intercept and multipliers to start from without coefficients.

    For a loss of the margin the best ones, which take two numbers to find. Otherwise the median of
    the targets, and zeros.
    """
    nothing = np.zeros(problem.n_samples)
    if not problem.fit_intercept:
        return 0.0, nothing
    if not _has_two_classes(problem):
        if problem.losses[0].of != "residual":
            return 0.0, nothing
        used = problem.offset[problem.weight > 0]
        return float(np.partition(used, used.size // 2)[used.size // 2]), nothing
    null = null_model(problem)
    low, high = float(null.low.sum()), float(null.high.sum())
    # All go by the same share of their range, so that they sum to zero.
    share = min(max(-low / (high - low), 0.0), 1.0) if high > low else 0.0
    return null.intercept, null.low + share * (null.high - null.low)
