"""The weights of singular values in `SharedSubspace`, by a search for one multiplier.

For sizes ``s_i >= 0``, a softness ``eta > 0`` and a budget ``h`` find the weights that

    minimise    sum_i s_i^2 / (eta + g_i)     subject to    sum_i g_i <= h,   0 <= g_i <= 1.

The optimality conditions give ``g_i = clip(r s_i - eta, 0, 1)`` for one number ``r``, and
``Gamma(r) = sum_i g_i`` is increasing and piecewise linear in it, with kinks where an index leaves
0 (``r = eta / s_i``) and where it reaches 1 (``r = (1 + eta) / s_i``). With ``t = 1/r^2`` this is
Eq. (14) of the shared-structure paper and its appendix C; working in ``r`` removes the square
roots and the limit ``t -> 0``. The kinks are sorted: an SVD comes before, so that the linear time
of the paper's Algorithm 3 gains nothing.
"""

from __future__ import annotations

import numpy as np

from rectiline._typing import Vector

# What Gamma may miss at a kink by rounding alone, per unit of budget.
_ROUNDING = 1e-13


def weights_by_sorting(sizes: Vector, eta: float, budget: float) -> Vector:
    """Return the optimal weights by sorting the kinks.

    Entries with ``s_i = 0`` get 0. If at most `budget` entries are positive, all of those get 1.

    Examples
    --------
    >>> weights_by_sorting(np.array([3.0, 2.0, 1.0]), 1.0, 1.0)
    array([0.8, 0.2, 0. ])
    """
    top = float(sizes.max(initial=0.0))
    scaled = sizes / top if top > 0 else np.zeros_like(sizes)
    positive = scaled > 1e-300
    weights = positive.astype(np.float64)
    if np.count_nonzero(positive) <= budget:
        return weights
    order = np.argsort(-scaled[positive], kind="stable")
    s = scaled[positive][order]
    starts, ends = eta / s, (1.0 + eta) / s
    kinks = np.sort(np.concatenate([starts, ends]))
    n_started = np.searchsorted(starts, kinks, side="right")
    n_full = np.searchsorted(ends, kinks, side="right")
    # Sums over the tail: what is subtracted is the smaller part, however fast the sizes decay.
    tail = np.append(np.cumsum(s[::-1])[::-1], 0.0)
    gamma = n_full + (kinks * (tail[n_full] - tail[n_started]) - eta * (n_started - n_full))
    # The first kink at which the budget is used up; on the piece before it Gamma rises.
    last = int(np.argmax(gamma >= budget * (1.0 - _ROUNDING)))
    low, high = kinks[last - 1], kinks[last]
    # The one linear equation of that piece, on which `middle` is neither 0 nor 1.
    full, middle = ends <= low, (starts <= low) & (ends >= high)
    sorted_weights, count = full.astype(np.float64), int(middle.sum())
    if count:
        r = (budget - int(full.sum()) + eta * count) / float(s[middle].sum())
        sorted_weights[middle] = np.clip(r * s[middle] - eta, 0.0, 1.0)
    found = np.empty_like(s)
    found[order] = sorted_weights
    weights[positive] = found
    return weights
