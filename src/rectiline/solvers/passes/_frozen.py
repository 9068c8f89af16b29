"""What frozen rows add to a reduced problem, and its answer; the solver `passes` hands them on."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The answer to a reduced problem."""

    coef: Vector
    intercept: float
    dual: DualPoint  # of the near rows, and of the constraints
    steps: int
    relative_gap: float
