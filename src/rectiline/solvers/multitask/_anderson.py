"""Anderson acceleration of a fixed-point iteration ``x <- F(x)``."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Anderson"]

_TRUST = 1e-13  # share of the largest eigenvalue below which a direction of the fit is noise


@dataclass(slots=True, eq=False)
class Anderson:
    """Combine the last images so that the combined residual is smallest.

    With ``r_k = F(x_k) - x_k`` the next point is ``F_k - sum_j c_j (F_{j+1} - F_j)``, c the least
    squares fit of r_k by the differences of residuals. The caller decides whether to believe it.
    The fit is by normal equations, one product with the memory per call.
    """

    memory: int
    count: int = 0
    last: tuple[Vector, Vector] | None = None
    images: Matrix = field(default_factory=lambda: np.zeros((0, 0)))  # differences, one per row
    residuals: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    gram: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    def push(self, point: Vector, image: Vector) -> Vector | None:
        """Note one evaluation; return the combined point, or None while there is one only."""
        if self.memory == 0:
            return None
        residual = image - point
        before, self.last = self.last, (image, residual)
        if before is None:
            return None
        if not self.images.size:
            self.images = np.empty((self.memory, image.size))
            self.residuals = np.empty((self.memory, image.size))
            self.gram = np.eye(self.memory)
        slot = self.count % self.memory
        np.subtract(image, before[0], out=self.images[slot])
        np.subtract(residual, before[1], out=self.residuals[slot])
        self.count += 1
        k = min(self.count, self.memory)
        products = self.residuals[:k] @ np.column_stack([self.residuals[slot], residual])
        self.gram[slot, :k] = self.gram[:k, slot] = products[:, 0]
        shares = _fit(self.gram[:k, :k], products[:, 1])
        combined: Vector = image - shares @ self.images[:k]
        return combined if np.isfinite(combined).all() else None

    def forget(self) -> None:
        """Start again after a point that was not believed."""
        self.count = 0


def _fit(gram: Matrix, right: Vector) -> Vector:
    """Solve ``gram c = right`` with directions at the level of rounding left out."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > _TRUST * values[-1]
    inner = (vectors.T @ (right / scale))[kept] / values[kept]
    solution: Vector = (vectors[:, kept] @ inner) / scale
    return solution
