"""Multipliers by exception: slopes at a split, and listed rows with multipliers of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector


@dataclass(frozen=True, slots=True, eq=False)
class SplitDual:
    """The dual point of a problem on many rows, without an entry for every row.

    A row that is not listed is frozen on the piece of its loss that it is on at the split; its
    multiplier is the slope of that piece, continued to its prediction at the answer. Losses with
    straight pieces have the same slope everywhere on a piece.

    Attributes
    ----------
    split_coef : ndarray of shape (n_features,)
    split_intercept : float
        Coefficients at which rows are frozen.
    rows : ndarray of int64
        Numbers of the listed rows, growing.
    values : ndarray of float64
        Their multipliers.
    inequality, equality : ndarray
        Multipliers of the constraints, see `DualPoint`.
    share : float
        All multipliers of rows, listed or not, are this share of what is said above.
    """

    split_coef: Vector
    split_intercept: float
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: Vector = field(default_factory=lambda: np.zeros(0))
    inequality: Vector = field(default_factory=lambda: np.zeros(0))
    equality: Vector = field(default_factory=lambda: np.zeros(0))
    share: float = 1.0
