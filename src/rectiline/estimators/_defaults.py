"""Default parameters of regressions that follow the unit of y: `delta`, `epsilon` and `C`.

Let s be the robust scale of the residuals (`scale_`) of a first fit by absolute errors, whose weak
ridge is relative to the spread of y itself. Then

    delta = 1.345 s        95 % efficiency at normal errors (Huber 1981)
    epsilon = 0.1 s        the usual 0.1 of support vector regression, for errors of size one
    C = penalty(u) / (d loss(t)),   u_j = t / (sqrt(d) spread of column j)

where t is the robust scale of y, or s if that is larger. The coefficients u move predictions as
much as y varies, all d columns together. Their penalty equals the loss of d residuals that lie a
distance t beyond the loss's minimisers: a loss that grows linearly would weigh less than a ridge at
s wherever the columns explain nearly all of y. For the squared error and ridge, s and t give the
prior under which columns and noise explain equally much. The L1 norm of an elastic net counts s
times, so that both of its terms are squares of the unit of y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from rectiline._typing import Vector
from rectiline.estimators._parameters import make_loss
from rectiline.losses import Absolute, EpsilonInsensitive, Huber, Loss, SquaredEpsilonInsensitive
from rectiline.penalties import ElasticNet, Penalty
from rectiline.problems.intercepts import best_intercept

_LEAST_C, _LARGEST_C = 1e-150, 1e150
_SD_PER_MAD = 1.482602218505602  # of normal values: 1 / (0.75 quantile)
_SD_PER_MEAN_DEVIATION = 1.2533141373155003  # of normal values: sqrt(pi / 2)
_ENTRIES_AT_ONCE = 1 << 16  # entries of X centred at once
_CONSTANT_SHARE = 1e-12  # a spread below this share of the mean is rounding
_CONSTANT_SHARE_SPARSE = 1e-7  # the same where the variance is a difference of sums


@dataclass(frozen=True)
class RelativeLoss:
    """A loss whose width is a multiple of the scale of the residuals."""

    kind: type[Loss]
    parameter: str
    multiple: float

    def at(self, scale: float) -> Loss:
        """Return the loss for residuals of this scale."""
        return self.kind(**{self.parameter: self.multiple * scale})


RELATIVE = {
    kind.name: RelativeLoss(kind, parameter, multiple)
    for kind, parameter, multiple in (
        (Huber, "delta", 1.345),
        (EpsilonInsensitive, "epsilon", 0.1),
        (SquaredEpsilonInsensitive, "epsilon", 0.1),
    )
}


def read_loss(loss: Any, params: Mapping[str, Any] | None) -> Loss | RelativeLoss:
    """Return the loss of a regressor, relative if its width is "auto" or not given."""
    relative = RELATIVE.get(loss) if isinstance(loss, str) else None
    if relative is not None and (params or {}).get(relative.parameter, "auto") == "auto":
        others = {key: value for key, value in (params or {}).items() if key != relative.parameter}
        make_loss(loss, others, of=("residual",))  # names parameters that do not exist
        return relative
    return make_loss(loss, params, of=("residual",))


def in_unit(penalty: Penalty | None, scale: float) -> Penalty | None:
    """Return the penalty with terms of one unit: an elastic net's L1 norm counts `scale` times.

    >>> from rectiline.penalties import ElasticNet
    >>> in_unit(ElasticNet(l1=0.5, l2=0.5), 10.0)
    ElasticNet(l1=5.0, l2=0.5)
    """
    if not isinstance(penalty, ElasticNet) or penalty.l2 == 0.0:
        return penalty
    l1 = float(np.clip(scale * penalty.l1, _LEAST_C, _LARGEST_C)) if penalty.l1 > 0 else 0.0
    return ElasticNet(l1, penalty.l2)


def auto_C(penalty: Penalty | None, loss: Loss, scale: float, spreads: Vector) -> float:
    """Return the default C for this penalty; 1 where there is nothing to penalise."""
    varying = spreads > 0
    d = int(varying.sum())
    if penalty is None or d == 0:
        return 1.0
    natural = np.zeros(spreads.size)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        natural[varying] = scale / (np.sqrt(d) * spreads[varying])
        C = penalty.value(natural) / np.float64(d * _loss_beyond(loss, scale))
    return float(np.clip(C, _LEAST_C, _LARGEST_C)) if C > 0 else 1.0


def _loss_beyond(loss: Loss, distance: float) -> float:
    """Return the loss at this distance from its minimisers, the mean of both sides."""
    curve = loss.curve.canonical()  # which has a knot where it is least
    ends = curve.knots[(curve.left <= 0) & (curve.right >= 0)]
    least, low, high = curve.value([ends[0], ends[0] - distance, ends[-1] + distance]).tolist()
    return float(0.5 * (low + high) - least)


# ---- robust sizes of targets and columns --------------------------------------------------------


def weighted_median(values: Vector, weight: Vector) -> float:
    """Return the middle of the interval of weighted medians.

    A sample of weight two counts as two samples, one of weight zero as none.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    if (weight == weight[0]).all():  # no need to sort
        return float(np.median(values))
    return best_intercept(Absolute(), values, weight)


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
    scale = _SD_PER_MAD * weighted_median(size, weight)
    if scale == 0.0:
        share = weight / weight.sum()
        scale = _SD_PER_MEAN_DEVIATION * float(share @ size)
    return scale if 0.0 < scale < np.inf else 1.0


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def column_spreads(X: Any, weight: Vector, *, centred: bool) -> Vector:
    """Return the weighted standard deviation of each column, exactly 0 for constant columns.

    Without centring it is the root mean square instead.
    """
    share = weight / weight.max()  # so that their sum cannot overflow
    share /= share.sum()
    if sp.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0, weights=share.astype(X.dtype))
        mean, variance = np.asarray(mean, np.float64), np.asarray(variance, np.float64)
        if not centred:
            variance, mean = variance + mean**2, np.zeros_like(mean)
    else:
        rows = max(1, _ENTRIES_AT_ONCE // max(X.shape[1], 1))
        parts = [slice(first, first + rows) for first in range(0, X.shape[0], rows)]
        mean = np.zeros(X.shape[1])
        if centred:
            mean = np.sum([share[part] @ X[part].astype(np.float64) for part in parts], axis=0)
        variance = np.sum([share[part] @ np.square(X[part] - mean) for part in parts], axis=0)
    spread = np.sqrt(np.maximum(variance, 0.0))
    rounding = (_CONSTANT_SHARE_SPARSE if sp.issparse(X) else _CONSTANT_SHARE) * np.abs(mean)
    return np.where(spread > rounding, spread, 0.0)
