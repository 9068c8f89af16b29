"""Levels of quantiles, and the prediction intervals and scores made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.losses import Loss
from rectiline.problems.forms import curve_arrays
from rectiline.problems.intercepts import best_intercept

Vector = NDArray[np.float64]

__all__ = ["central_pair", "checked_levels", "explained_loss"]


def checked_levels(quantile: Any) -> Vector:
    """Return the quantiles that a user asked for, one or several."""
    levels = np.atleast_1d(np.asarray(quantile, dtype=np.float64))
    if levels.ndim != 1 or not levels.size or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(
            f"quantile={quantile!r}: must be a number or a list of numbers strictly between 0 "
            "and 1."
        )
    if np.unique(levels).size < levels.size:
        raise ValueError(f"quantile={quantile!r}: holds a quantile twice.")
    return levels


def central_pair(levels: Vector, coverage: float) -> tuple[int, int]:
    """Return the positions of the quantiles that bound a central interval."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage={coverage!r}: must lie strictly between 0 and 1.")
    found = []
    for wanted in (0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage):
        near = np.flatnonzero(np.abs(levels - wanted) <= 1e-9)
        if not near.size:
            shown = ", ".join(f"{level:g}" for level in np.sort(levels))
            raise ValueError(
                f"coverage={coverage!r} needs the quantiles {0.5 - 0.5 * coverage:g} and "
                f"{0.5 + 0.5 * coverage:g}; fitted are {shown}."
            )
        found.append(int(near[0]))
    return found[0], found[1]


def explained_loss(
    losses: Sequence[Loss], y: Vector, sample_weight: Any = None
) -> Callable[[NDArray[Any]], NDArray[np.float64]]:
    """Return the score of predictions shaped (samples, losses), or (samples, models, losses).

    It is the mean over the losses of ``1 - loss / loss of the best constant``.
    """
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, float)

    if not (weight > 0).any():
        return lambda predicted: np.full(predicted.shape[1:-1], np.nan)
    null = [
        float(np.sum(loss.value(y, best_intercept(loss, y, weight), weight))) for loss in losses
    ]
    rows = [
        _core.RowFunctions([curve_arrays(loss)], *loss.encode(y), weight, None) for loss in losses
    ]

    def score(predicted: NDArray[Any]) -> NDArray[np.float64]:
        shares = []
        for k, (row, most) in enumerate(zip(rows, null, strict=True)):
            models = np.ascontiguousarray(predicted[..., k].T, dtype=np.float64)
            paid = np.array([row.loss(one) for one in models.reshape(-1, y.size)])
            paid = paid.reshape(models.shape[:-1])
            shares.append(1.0 - paid / most if most > 0 else (paid == 0.0).astype(float))
        return np.asarray(np.mean(shares, axis=0))

    return score
