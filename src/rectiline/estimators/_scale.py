"""Robust sizes of targets and columns, which the regressors' default parameters are relative to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

Vector = NDArray[np.float64]

__all__ = ["column_spreads", "robust_scale", "weighted_median"]

_NORMAL = 1.482602218505602  # 1 / (0.75 quantile of a standard normal): MAD to standard deviation
_NORMAL_MEAN = 1.2533141373155003  # sqrt(pi / 2): mean absolute deviation to standard deviation
_BLOCK = 1 << 16  # entries of X centred at once
_CONSTANT = 1e-12  # a spread below this share of the mean is rounding
_CONSTANT_SPARSE = 1e-7  # the same where the variance is a difference of sums


def weighted_median(values: Vector, weight: Vector) -> float:
    """Return the middle of the interval of weighted medians.

    A sample of weight two counts as two samples, one of weight zero as none.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    used = weight > 0
    if not used.all():
        values, weight = values[used], weight[used]
    if (weight == weight[0]).all():  # no need to sort
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order])
    half = 0.5 * mass[-1]
    low = int(np.searchsorted(mass, half, side="left"))
    high = min(int(np.searchsorted(mass, half, side="right")), values.size - 1)
    return float(0.5 * values[order[low]] + 0.5 * values[order[high]])


def robust_scale(residuals: Vector, weight: Vector) -> float:
    """Return ``1.4826 median |r_i|``, a standard deviation that outliers hardly move.

    Where more than half of the residuals are zero it is ``1.2533 mean |r_i|`` instead, and 1
    where all are zero.

    Examples
    --------
    >>> import numpy as np
    >>> round(robust_scale(np.array([-1.0, 0.5, 2.0, 1e6]), np.ones(4)), 4)
    2.2239
    """
    size = np.abs(residuals)
    scale = _NORMAL * weighted_median(size, weight)
    if scale == 0.0:
        share = weight / weight.sum()
        scale = _NORMAL_MEAN * float(share @ size)
    return scale if 0.0 < scale < np.inf else 1.0


def column_spreads(X: Any, weight: Vector, *, centred: bool) -> Vector:
    """Return the weighted standard deviation of each column, exactly 0 for constant columns.

    Without centring it is the root mean square instead.
    """
    share = weight / weight.max()  # so that their sum cannot overflow
    share /= share.sum()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return _spreads(X, share, centred)


def _spreads(X: Any, share: Vector, centred: bool) -> Vector:
    if sp.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0, weights=share.astype(X.dtype))
        mean, variance = np.asarray(mean, np.float64), np.asarray(variance, np.float64)
        if not centred:
            variance, mean = variance + mean**2, np.zeros_like(mean)
    else:
        rows = max(1, _BLOCK // max(X.shape[1], 1))
        starts = range(0, X.shape[0], rows)
        mean, variance = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        if centred:
            for first in starts:
                mean += share[first : first + rows] @ X[first : first + rows].astype(np.float64)
        for first in starts:
            distance = X[first : first + rows] - mean
            variance += share[first : first + rows] @ np.square(distance, out=distance)
    spread = np.sqrt(np.maximum(variance, 0.0))
    rounding = (_CONSTANT_SPARSE if sp.issparse(X) else _CONSTANT) * np.abs(mean)
    return np.where(spread > rounding, spread, 0.0)
