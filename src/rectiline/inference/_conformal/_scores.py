"""Conformity scores and the order statistics that intervals are widened by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rectiline._typing import Matrix, Vector

__all__ = ["band", "checked_coverage", "pair_of_levels", "rank_of", "side_scores", "uncrossed"]


def checked_coverage(coverage: float) -> float:
    """Return the coverage asked for, strictly between 0 and 1."""
    if not 0.0 < float(coverage) < 1.0:
        raise ValueError(f"coverage={coverage!r}: must lie strictly between 0 and 1, such as 0.9.")
    return float(coverage)


def pair_of_levels(model: Any, coverage: float) -> tuple[int, int]:
    """Return which columns of a prediction bound the interval.

    They are the central pair for the coverage where that was fitted, else the outermost ones; a
    model with one column is its own lower and upper bound.
    """
    levels = np.atleast_1d(getattr(model, "quantiles_", np.array([0.5])))
    wanted = (0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage)
    near = [np.flatnonzero(np.abs(levels - one) <= 1e-9) for one in wanted]
    if near[0].size and near[1].size:
        return int(near[0][0]), int(near[1][0])
    return int(np.argmin(levels)), int(np.argmax(levels))


def band(model: Any, X: Any, pair: tuple[int, int]) -> Matrix:
    """Return the lower and the upper prediction for each row, (n, 2)."""
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    predicted = predicted.reshape(predicted.shape[0], -1)
    return np.sort(predicted[:, list(pair)], axis=1)


def uncrossed(ends: Matrix) -> Matrix:
    """Return the intervals with both ends at their mean where they cross."""
    crossed = ends[:, 0] > ends[:, 1]
    ends[crossed] = ends[crossed].mean(axis=1, keepdims=True)
    return ends


def side_scores(ends: Matrix, y: Vector) -> Matrix:
    """Return how far y lies below the lower and above the upper end, (n, 2); negative inside."""
    return np.column_stack([ends[:, 0] - y, y - ends[:, 1]])


def rank_of(count: int, coverage: float, what: str) -> int:
    """Return which smallest score covers: ceil(coverage (count + 1)).

    Raises ValueError where there are too few scores for any finite interval.
    """
    rank = math.ceil(coverage * (count + 1) - 1e-9)
    if rank > count:
        needed = math.ceil(coverage / (1.0 - coverage) - 1e-9)
        raise ValueError(
            f"{what}: {count} calibration samples are too few; a coverage of {coverage:g} on each "
            f"side that is widened needs at least {needed}."
        )
    return rank
