"""Anderson acceleration of a fixed-point iteration ``x <- F(x)``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Matrix, Vector

# Directions of the fit below this share of the largest eigenvalue are noise.
_NOISE_EIGENVALUE_SHARE = 1e-13
_BLOCK_ENTRIES = 1 << 16
_ENTRIES_FOR_SHORT_MEMORY = 1 << 18  # from which on few differences are kept, in single precision
_SHORT_MEMORY = 2
_FIRST_DIFFERENCES = 3  # combinations of fewer mostly do not help


class Anderson:
    """Combine the last images so that the combined residual is smallest.

    With ``r_k = F(x_k) - x_k`` the next point is ``F_k - sum_j c_j (F_{j+1} - F_j)``, c the least
    squares fit of r_k by the differences of residuals. The caller decides whether to use it.
    The fit is by normal equations, one product with the memory per call. Differences of a large
    point are stored in single precision, and only a few: memory is what then counts.

    Parameters
    ----------
    memory : int
        Number of differences to combine; 0 means that nothing is ever combined.
    n_fitted : int
        Entries that take part in the fit, the first ones; the others follow them.
    """

    def __init__(self, memory: int, n_fitted: int) -> None:
        is_large = n_fitted > _ENTRIES_FOR_SHORT_MEMORY
        self.memory = min(memory, _SHORT_MEMORY) if is_large else memory
        self.n_fitted = n_fitted
        self.kind = np.float32 if is_large else np.float64
        self.count = 0
        self.last: Vector | None = None  # the last image
        self.images: NDArray[np.floating] = np.zeros((0, 0))  # differences, one per row
        self.residuals: NDArray[np.floating] = np.zeros((0, 0))  # the same; then the last residual
        self.gram: Matrix = np.eye(self.memory)

    def push(self, point: Vector, image: Vector) -> Vector | None:
        """Note one evaluation; return the combined point, or None while there are too few.

        The image is kept, not copied: it must not change afterwards.
        """
        if self.memory == 0:
            return None
        n, before, self.last = self.n_fitted, self.last, image
        if before is None:
            self.images = np.empty((self.memory, image.size), dtype=self.kind)
            self.residuals = np.zeros((self.memory + 1, n), dtype=self.kind)
            np.subtract(image[:n], point[:n], out=self.residuals[-1], casting="same_kind")
            return None
        slot = self.count % self.memory
        self.count += 1
        k = min(self.count, self.memory)
        right = self._note(point, image, slot)[:k]
        np.subtract(image, before, out=self.images[slot], casting="same_kind")
        if k < min(_FIRST_DIFFERENCES, self.memory):
            return None
        shares = _fit(self.gram[:k, :k], right)
        if not np.isfinite(shares).all():
            return None
        combined = np.empty_like(image)
        for first in range(0, image.size, _BLOCK_ENTRIES):
            part = slice(first, first + _BLOCK_ENTRIES)
            np.subtract(image[part], shares @ self.images[:k, part], out=combined[part])
        return combined

    def _note(self, point: Vector, image: Vector, slot: int) -> Vector:
        """Enter the newest difference of residuals; return the products with the residual."""
        products, right = np.zeros(self.memory + 1), np.zeros(self.memory + 1)
        for first in range(0, self.n_fitted, _BLOCK_ENTRIES):
            part = slice(first, min(first + _BLOCK_ENTRIES, self.n_fitted))
            now = image[part] - point[part]
            rows = self.residuals[:, part]
            np.subtract(now, rows[-1], out=rows[slot], casting="same_kind")
            rows[-1] = now
            exact = rows.astype(np.float64, copy=False)
            products += exact @ exact[slot]
            right += exact @ now
        self.gram[slot], self.gram[:, slot] = products[:-1], products[:-1]
        return right

    def reset(self) -> None:
        """Start again after a point that was not used."""
        self.count = 0


def _fit(gram: Matrix, right: Vector) -> Vector:
    """Solve ``gram c = right`` with directions at the level of rounding left out."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > _NOISE_EIGENVALUE_SHARE * values[-1]
    inner = (vectors.T @ (right / scale))[kept] / values[kept]
    solution: Vector = (vectors[:, kept] @ inner) / scale
    return solution
