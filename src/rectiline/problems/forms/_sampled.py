"""Restrictions of a problem to some of its samples, weighted up, or to some of its columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.backends import Design
from rectiline.constraints import ConstraintRows
from rectiline.penalties import Penalty
from rectiline.problems._inputs import curve_arrays
from rectiline.problems._problem import Problem

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["on_columns", "on_samples"]


def on_samples(problem: Problem, samples: Indices) -> Problem:
    """Return the problem on `samples`, their weights scaled to the total weight of all.

    The rows are copied; what has been checked once is not checked again.
    """
    weight = problem.weight[samples]
    weight = weight * (problem.weight.sum() / weight.sum())
    direction, offset = problem.direction[samples], problem.offset[samples]
    index: Any = None if problem.loss_index is None else problem.loss_index[samples]
    part = _copy(problem)
    part.__dict__.update(
        design=Design(problem.design.by_rows.X[samples]),
        weight=weight,
        direction=direction,
        offset=offset,
        loss_index=index,
        rows=_core.RowFunctions(
            [curve_arrays(one) for one in problem.losses], direction, offset, weight, index
        ),
    )
    return part


def on_columns(problem: Problem, columns: Indices, penalty: Penalty | None) -> Problem:
    """Return the problem where only `columns` may differ from zero, under their own penalty.

    The columns are copied, in column order, so that products with them are fast.
    """
    X = problem.design.X[:, columns]
    # Bounds that have become rows stay rows, so that multipliers keep their places.
    rows = problem._user_rows if problem.is_separable else problem.constraint_rows
    part = _copy(problem)
    part.__dict__.update(
        design=Design(X if problem.design.is_sparse else np.asfortranarray(X)),
        constraints=(),
        _user_rows=ConstraintRows(
            rows.A[:, columns],
            rows.c,
            rows.E[:, columns],
            rows.f,
            rows.lower[columns],
            rows.upper[columns],
        ),
    )
    part._set_penalty(penalty)
    return part


def _copy(problem: Problem) -> Problem:
    """Return a problem with the same fields; nothing that was computed from them is kept."""
    computed = {
        name
        for kind in type(problem).__mro__
        for name, value in vars(kind).items()
        if isinstance(value, cached_property)
    }
    part = object.__new__(Problem)
    part.__dict__.update({k: v for k, v in problem.__dict__.items() if k not in computed})
    return part
