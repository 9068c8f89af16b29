"""Anderson acceleration of a fixed-point iteration ``x <- F(x)``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Anderson"]

_TRUST = 1e-13  # share of the largest eigenvalue below which a direction of the fit is noise
_BLOCK = 1 << 16  # entries handled at a time
_LARGE = 1 << 18  # entries from which the memory is kept short and in single precision
_SHORT = 3


class Anderson:
    """Combine the last images so that the combined residual is smallest.

    With ``r_k = F(x_k) - x_k`` the next point is ``F_k - sum_j c_j (F_{j+1} - F_j)``, c the least
    squares fit of r_k by the differences of residuals. The caller decides whether to believe it.
    The fit is by normal equations, one product with the memory per call. Differences of a large
    point are remembered in single precision, and only a few: memory is what then counts.

    Parameters
    ----------
    memory : int
        Number of differences to combine; 0 means that nothing is ever combined.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.count = 0
        self.last: Vector | None = None  # the last image
        self.residual: NDArray[np.floating] = np.zeros(0)  # at the last point
        self.images: NDArray[np.floating] = np.zeros((0, 0))  # differences, one per row
        self.residuals: NDArray[np.floating] = np.zeros((0, 0))
        self.gram: Matrix = np.zeros((0, 0))

    def push(self, point: Vector, image: Vector) -> Vector | None:
        """Note one evaluation; return the combined point, or None while there is one only.

        The image is kept, not copied: it must not change afterwards.
        """
        if self.memory == 0:
            return None
        before, self.last = self.last, image
        if before is None:
            self._make_room(image.size)
            np.subtract(image, point, out=self.residual, casting="same_kind")
            return None
        slot = self.count % self.memory
        self.count += 1
        k = min(self.count, self.memory)
        products = np.zeros((k, 2))
        for part in _parts(image.size):
            now = image[part] - point[part]
            self.images[slot, part] = image[part] - before[part]
            self.residuals[slot, part] = now - self.residual[part]
            self.residual[part] = now
            known = self.residuals[:k, part].astype(np.float64, copy=False)
            products += known @ np.stack([known[slot], now], axis=1)
        self.gram[slot, :k] = self.gram[:k, slot] = products[:, 0]
        shares = _fit(self.gram[:k, :k], products[:, 1])
        if not np.isfinite(shares).all():
            return None
        combined = np.empty_like(image)
        for part in _parts(image.size):
            combined[part] = image[part] - shares @ self.images[:k, part]
        return combined

    def forget(self) -> None:
        """Start again after a point that was not believed."""
        self.count = 0

    def _make_room(self, size: int) -> None:
        kind = np.float32 if size > _LARGE else np.float64
        if size > _LARGE:
            self.memory = min(self.memory, _SHORT)
        self.images = np.empty((self.memory, size), dtype=kind)
        self.residuals = np.empty((self.memory, size), dtype=kind)
        self.residual = np.empty(size, dtype=kind)
        self.gram = np.eye(self.memory)


def _parts(size: int) -> Iterator[slice]:
    return (slice(first, first + _BLOCK) for first in range(0, size, _BLOCK))


def _fit(gram: Matrix, right: Vector) -> Vector:
    """Solve ``gram c = right`` with directions at the level of rounding left out."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > _TRUST * values[-1]
    inner = (vectors.T @ (right / scale))[kept] / values[kept]
    solution: Vector = (vectors[:, kept] @ inner) / scale
    return solution
