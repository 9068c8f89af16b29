"""Draws rows that are spread over a source, rare labels on their own, with NumPy or torch.

The solver `passes` starts on such a sample; `TensorRows` draws it where its labels are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Library", "on_device", "on_host", "spread_rows"]

_RARE_SHARE = 0.5  # of a sample, divided by the number of labels: what a rare one gets


@dataclass(frozen=True, slots=True)
class Library:
    """What NumPy and torch call differently."""

    uniform: Callable[[int], Any]  # so many random numbers from 0 to 1
    whole: Callable[[Any], Any]  # numbers without their fractions
    places: Callable[[Any], Any]  # where a mask is true
    concatenate: Callable[[Sequence[Any]], Any]
    constant: Callable[[int, float], Any]  # so many times a number


def on_host(seed: int) -> Library:
    """Return NumPy, with random numbers of a seed."""
    random = np.random.default_rng(seed).random
    return Library(random, lambda x: x.astype(np.int64), np.flatnonzero, np.concatenate, np.full)


def on_device(seed: int, device: Any) -> Library:
    """Return torch, with random numbers of a seed that are made on a device."""
    import torch

    draw = torch.Generator(device=device).manual_seed(seed)

    def uniform(size: int) -> Any:
        return torch.rand(size, generator=draw, device=device, dtype=torch.float64)

    def constant(size: int, value: float) -> Any:
        return torch.full((size,), value, device=device, dtype=torch.float64)

    def places(mask: Any) -> Any:
        return mask.nonzero()[:, 0]

    return Library(uniform, lambda x: x.long(), places, torch.cat, constant)


def spread_rows(
    n: int, size: int, library: Library, y: Any = None, labels: Sequence[Any] = ()
) -> tuple[Any, Any]:
    """Return about `size` of n rows, growing, and how many rows each of them stands for.

    Labels that a plain sample would hold too few of are drawn on their own.
    """
    at = _one_of_each_stretch(n, size, library)
    share = _RARE_SHARE / max(len(labels), 1)
    parts, weights, left = [], [], n
    for label in labels:
        count = int((y == label).sum())
        if not 0 < count < share * n:
            continue
        rows = library.places(y == label)
        rows = rows[_one_of_each_stretch(count, max(1, int(share * size)), library)]
        at = at[y[at] != label]
        left -= count
        parts.append(rows)
        weights.append(library.constant(len(rows), count / len(rows)))
    if not parts:
        return at, library.constant(len(at), n / len(at))
    rows = library.concatenate([*parts, at])
    others = library.constant(len(at), left / max(len(at), 1))
    stands_for = library.concatenate([*weights, others])
    order = rows.argsort()
    return rows[order], stands_for[order]


def _one_of_each_stretch(n: int, size: int, library: Library) -> Any:
    """Return one row out of each of `size` stretches: spread over data that may be sorted."""
    size = min(size, n)
    within = library.uniform(size)
    stretch = (0.0 * within + 1.0).cumsum(0) - 1.0
    rows = library.whole((stretch + within) * (n / size)).clip(max=n - 1)
    is_new = rows >= 0
    is_new[1:] = rows[1:] > rows[:-1]
    return rows[is_new]
