"""What frozen rows add to a reduced problem, and its answer; the solver `passes` hands them on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import DualPoint

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Frozen", "Reduced"]


@dataclass(frozen=True, slots=True, eq=False)
class Frozen:
    """What frozen rows add around a point: gradient, its intercept entry, curvature or None."""

    coef: Vector
    intercept: float
    gradient: Vector
    total: float
    curvature: Matrix | None
    loss: float

    def moved_to(self, coef: Vector, intercept: float) -> Frozen:
        """Return this term written around another point."""
        gradient, total = self.gradient, self.total
        if self.curvature is not None:
            d = coef.size
            step = np.append(coef - self.coef, intercept - self.intercept)
            change = self.curvature @ step[: self.curvature.shape[0]]
            gradient = gradient + change[:d]
            total += float(change[d:].sum())
        return replace(self, coef=coef, intercept=intercept, gradient=gradient, total=total)

    def with_more(self, gradient: Vector, total: float, curvature: Vector) -> Frozen:
        """Return the term with more frozen rows; `curvature`: entries of a matrix, or none."""
        matrix = self.curvature
        if curvature.size:
            order = math.isqrt(curvature.size)
            more = curvature.reshape(order, order)
            matrix = more if matrix is None else matrix + more
        return replace(
            self, gradient=self.gradient + gradient, total=self.total + total, curvature=matrix
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The answer to a reduced problem."""

    coef: Vector
    intercept: float
    dual: DualPoint  # of the near rows, and of the constraints
    steps: int
    relative_gap: float
