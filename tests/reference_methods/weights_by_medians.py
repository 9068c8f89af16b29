"""Algorithm 3 of the shared-structure paper: the weights of `SharedSubspace` in linear time.

It is repaired: the two critical parameters of Eq. (80) are exchanged as printed, line 21 moves the
wrong end of the bracket, line 32 fixes a value that is only known at the end, and
``h >= number of positive s_i`` has to be asked first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def weights_by_medians(sizes: Vector, eta: float, budget: float) -> Vector:
    """Return the optimal weights; each round settles a quarter of the open indices."""
    top = float(sizes.max(initial=0.0))
    scaled = sizes / top if top > 0 else np.zeros_like(sizes)
    positive = scaled > 1e-300
    weights = positive.astype(np.float64)
    if np.count_nonzero(positive) <= budget:
        return weights
    s = scaled[positive]
    starts, ends = eta / s, (1.0 + eta) / s
    low, high = 0.0, np.inf
    is_open = np.arange(s.size)
    full = np.zeros(s.size, dtype=bool)
    middle = np.zeros(s.size, dtype=bool)
    # Running sums over the settled indices keep one evaluation of Gamma at the size of the open
    # set.
    n_full, n_middle, middle_sum = 0, 0, 0.0
    while is_open.size:
        begin, end = starts[is_open], ends[is_open]
        pivot = _median(begin)
        for r in (pivot, _median(end[begin <= pivot])):
            inside = np.clip(r * s[is_open] - eta, 0.0, 1.0).sum()
            gamma = n_full + (r * middle_sum - n_middle * eta) + inside
            if gamma < budget:
                low = max(low, r)
            else:
                high = min(high, r)
        is_full = end <= low
        is_middle = (begin <= low) & (end >= high) & ~is_full
        full[is_open[is_full]] = True
        middle[is_open[is_middle]] = True
        n_full += int(is_full.sum())
        n_middle += int(is_middle.sum())
        middle_sum += float(s[is_open[is_middle]].sum())
        is_open = is_open[~(is_full | is_middle | (begin >= high))]
    found, count = full.astype(np.float64), int(middle.sum())
    if count:
        r = (budget - int(full.sum()) + eta * count) / float(s[middle].sum())
        found[middle] = np.clip(r * s[middle] - eta, 0.0, 1.0)
    weights[positive] = found
    return weights


def _median(values: Vector) -> float:
    """Return the lower median, an element of `values`, in linear time."""
    k = (values.size - 1) // 2
    return float(np.partition(values, k)[k])
