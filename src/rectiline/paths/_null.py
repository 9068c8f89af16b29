"""The model without coefficients: its best intercept and the multipliers it leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.intercepts import ShiftedLosses

__all__ = [
    "NullModel",
    "has_two_classes",
    "null_model",
    "null_start",
]

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


def has_two_classes(problem: Problem) -> bool:
    """Whether all samples of a class are alike as long as there are no coefficients."""
    return len(problem.losses) == 1 and problem.losses[0].of == "margin"


def _shifts(problem: Problem) -> ShiftedLosses:
    """Return the loss of a constant prediction."""
    if not has_two_classes(problem):
        p, t = problem.direction, problem.offset
        return ShiftedLosses(problem.losses, problem.loss_index, t, p, problem.weight)
    return ShiftedLosses(problem.losses, None, np.zeros(2), _SIGNS, _class_totals(problem))


def _class_totals(problem: Problem) -> Vector:
    return np.array(
        [float((problem.weight * (problem.direction == sign)).sum()) for sign in _SIGNS]
    )


def null_start(problem: Problem) -> tuple[float, Vector]:
    """Return an intercept and multipliers to start from without coefficients.

    For a loss of the margin all samples of a class are alike: the best intercept, and multipliers
    that sum to zero. Otherwise the median of the targets, and zeros.
    """
    nothing = np.zeros(problem.n_samples)
    if not problem.fit_intercept:
        return 0.0, nothing
    if not has_two_classes(problem):
        if problem.losses[0].of != "residual":
            return 0.0, nothing
        used = problem.offset[problem.weight > 0]
        return float(np.partition(used, used.size // 2)[used.size // 2]), nothing
    up, down = _class_totals(problem)
    intercept = _shifts(problem).middle_minimiser()
    low, high = problem.losses[0].curve.derivative(_SIGNS * intercept)
    # Between these ends all multipliers of a class go by the same share.
    ends = up * low[0] - down * high[1], up * high[0] - down * low[1]
    if not np.isfinite(ends).all():
        return 0.0, nothing
    share = min(max(-ends[0] / (ends[1] - ends[0]), 0.0), 1.0) if ends[1] > ends[0] else 0.0
    slopes = low[0] + share * (high[0] - low[0]), high[1] - share * (high[1] - low[1])
    return intercept, problem.direction * problem.weight * np.where(problem.direction > 0, *slopes)
