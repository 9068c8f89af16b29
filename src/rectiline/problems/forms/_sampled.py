"""The same problem on some of its samples, weighted up, and on some of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.backends import Design
from rectiline.problems._problem import Problem, _curve_arrays

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["on_samples"]


def on_samples(problem: Problem, samples: Indices) -> Problem:
    """Return the problem on `samples`, their weights scaled to the total weight of all.

    The rows are copied; what has been checked once is not checked again.
    """
    weight = problem.weight[samples]
    weight = weight * (problem.weight.sum() / weight.sum())
    direction, offset = problem.direction[samples], problem.offset[samples]
    index: Any = None if problem.loss_index is None else problem.loss_index[samples]
    part = object.__new__(Problem)
    kept = {
        key: value
        for key, value in problem.__dict__.items()
        if key not in ("dual_boxes", "_reference", "_least_loss")
    }
    part.__dict__.update(
        kept,
        design=Design(problem.design.by_rows.X[samples]),
        weight=weight,
        direction=direction,
        offset=offset,
        loss_index=index,
        rows=_core.RowFunctions(
            [_curve_arrays(one) for one in problem.losses], direction, offset, weight, index
        ),
    )
    return part
