"""Move a dual point onto the hyperplanes that an unpenalised intercept or column demands."""

from __future__ import annotations

from typing import Any

import numpy as np

Vector = np.ndarray


def balance(g: Vector, lo: Vector, hi: Vector) -> Vector:
    """The nearest point of the boxes, in the metric of its room to move, with sum zero.

    ``sum clip(g - mu * room)`` falls monotonically in ``mu``, so bisection finds it; the last
    rounding error is put on the entry with the most room.
    """
    room = np.minimum(np.minimum(g - lo, hi - g), np.abs(g).max() + 1.0) + 1e-9 * _width(g, lo, hi)

    def total(mu: float) -> float:
        return float(np.sum(np.clip(g - mu * room, lo, hi)))

    low, high = -1.0, 1.0
    while total(low) < 0 and low > -1e18:
        low *= 4.0
    while total(high) > 0 and high < 1e18:
        high *= 4.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) > 0 else (low, middle)
    moved = np.clip(g - 0.5 * (low + high) * room, lo, hi)
    for _ in range(3):
        best = int(np.argmax(np.minimum(moved - lo, hi - moved)))
        moved[best] = np.clip(moved[best] - np.sum(moved), lo[best], hi[best])
    return moved


def project(g: Vector, lo: Vector, hi: Vector, X: Any, intercept: bool) -> Vector:
    """Iterate weighted least squares towards ``X'g = 0`` (and ``sum g = 0``) inside the boxes."""
    columns = np.asarray(X.todense()) if hasattr(X, "todense") else np.asarray(X)
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    if intercept:
        columns = np.column_stack([columns, np.ones(len(g))])
        norms = np.append(norms, np.sqrt(len(g)))
    norms[norms == 0] = 1.0
    width = _width(g, lo, hi)
    for _ in range(30):
        leftover = columns.T @ g / norms
        if np.abs(leftover).max() <= 1e-15 * np.abs(g).max() * np.sqrt(len(g)):
            break
        room = np.minimum(g - lo, hi - g) / width
        weight = (room * room + 1e-14) * width
        matrix = (columns / norms).T @ (weight[:, None] * (columns / norms))
        step = np.linalg.lstsq(matrix, leftover, rcond=1e-14)[0]
        g = np.clip(g - weight * ((columns / norms) @ step), lo, hi)
    return g


def _width(g: Vector, lo: Vector, hi: Vector) -> Vector:
    """Box widths, with the size of ``g`` standing in for infinite ones."""
    return np.minimum(hi - lo, np.abs(g).max() + 1.0)
