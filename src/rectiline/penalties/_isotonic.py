"""The closest non-increasing sequence, for the dual ball of `Slope`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def nonincreasing_fit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the non-increasing sequence closest to ``values`` in least squares.

    Blocks of pooled values lie on a stack, their means falling from bottom to top. Each value is
    pushed as a block of its own; while the block below is not above it, the two are pooled into
    their mean. Every value is pushed and pooled at most once, so the work is linear.

    Examples
    --------
    >>> nonincreasing_fit(np.array([3.0, 1.0, 2.0, 0.0]))
    array([3. , 1.5, 1.5, 0. ])
    """
    if not np.any(values[1:] > values[:-1]):
        return values.copy()
    sums: list[float] = []
    sizes: list[int] = []
    means: list[float] = []
    for value in values.tolist():
        total, size, mean = value, 1, value
        while means and means[-1] <= mean:
            means.pop()
            total += sums.pop()
            size += sizes.pop()
            mean = total / size
        sums.append(total)
        sizes.append(size)
        means.append(mean)
    return np.repeat(np.array(means), sizes)
