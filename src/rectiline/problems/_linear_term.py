"""A linear term ``l'b`` of the objective as one more row of X, for `Problem`.

The row is l and its loss is the prediction itself, so that its multiplier is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline._numbers import real_array
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.losses import LinearTerm
from rectiline.problems._extra_rows import with_rows
from rectiline.problems._samples import Samples

__all__ = ["checked_linear", "with_linear_row"]


def checked_linear(linear: Any, n_features: int | None) -> Vector:
    """Return the coefficients of the linear term, one finite number per column."""
    vector = real_array("linear", linear)
    if vector.ndim != 1 or n_features not in (None, vector.size) or not vector.size:
        wanted = "a vector" if n_features is None else f"{n_features} numbers, one per column"
        raise ValueError(f"linear must hold {wanted}; got shape {vector.shape}.")
    if not np.isfinite(vector).all():
        j = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"linear must hold finite numbers; linear[{j}] is {vector[j]}.")
    return vector


def with_linear_row(
    design: Design | None, samples: Samples | None, linear: Vector
) -> tuple[Design, Samples]:
    """Return design and samples with the row of the linear term added; X is copied."""
    loss = LinearTerm() if samples is None else LinearTerm(samples.losses[0].of)
    return with_rows(design, samples, linear[None, :], loss, np.ones(1))
