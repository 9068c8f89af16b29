"""Draws rows that are spread over a source, rare labels on their own, with NumPy or torch.

The solver `passes` starts on such a sample; `TensorRows` draws it where its labels are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_RARE_LABEL_SHARE = 0.5  # share of a sample for rare labels, divided by the number of labels

Library = tuple[Any, Callable[[int], Any]]  # NumPy or torch, and so many random numbers from 0 to 1


def on_host(seed: int) -> Library:
    """Return NumPy, with random numbers of a seed."""
    return np, np.random.default_rng(seed).random


def on_device(seed: int, device: Any) -> Library:
    """Return torch, with random numbers of a seed that are made on a device."""
    import torch

    draw = torch.Generator(device=device).manual_seed(seed)

    def uniform(size: int) -> Any:
        return torch.rand(size, generator=draw, device=device, dtype=torch.float64)

    return torch, uniform


def rare_labels(y: Any, labels: Sequence[Any]) -> list[Any]:
    """Return the labels that a sample with targets y holds too few of."""
    least = _RARE_LABEL_SHARE / max(len(labels), 1) * len(y)
    return [label for label in labels if float((y == label).sum()) < least]


def spread_rows(
    n: int, size: int, library: Library, y: Any = None, labels: Sequence[Any] = ()
) -> tuple[Any, Any]:
    """Return about `size` of n rows, growing, and how many rows each of them stands for.

    Labels that a plain sample holds too few of are drawn on their own.
    """
    xp, _ = library
    at = _one_of_each_stretch(n, size, library)
    most = max(1, int(_RARE_LABEL_SHARE / max(len(labels), 1) * size))
    parts, weights, left = [], [], n
    for label in rare_labels(y[at], labels) if labels else ():
        rows = xp.where(y == label)[0]
        count = len(rows)
        rows = rows[_one_of_each_stretch(count, most, library)]
        at = at[y[at] != label]
        left -= count
        parts.append(rows)
        weights.append(xp.zeros_like(rows, dtype=xp.float64) + count / max(len(rows), 1))
    parts.append(at)
    weights.append(xp.zeros_like(at, dtype=xp.float64) + left / max(len(at), 1))
    if len(parts) == 1:
        return at, weights[0]
    rows, stands_for = xp.concatenate(parts), xp.concatenate(weights)
    order = rows.argsort()
    return rows[order], stands_for[order]


def _one_of_each_stretch(n: int, size: int, library: Library) -> Any:
    """Return one row out of each of `size` stretches: spread over data that may be sorted."""
    xp, uniform = library
    size = min(size, n)
    within = uniform(size)
    stretch = (0.0 * within + 1.0).cumsum(0) - 1.0
    rows = xp.asarray((stretch + within) * (n / size), dtype=xp.int64).clip(max=n - 1)
    is_new = rows >= 0
    is_new[1:] = rows[1:] > rows[:-1]
    return rows[is_new]
