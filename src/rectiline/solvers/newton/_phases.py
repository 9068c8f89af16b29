"""Choose the subsamples that `newton` starts on and the working set of rows it finishes on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._polling import checkpoint
from rectiline.solvers.newton._model import Model

Vector = NDArray[np.float64]

__all__ = ["WorkingSet", "choose_subsamples", "copy_rows", "freeze_far_rows", "row_lengths"]

_SECONDS_PER_COPIED = 1e-8  # entry of a row that is copied from anywhere in X


def row_lengths(model: Model) -> Vector:
    """Return how much each row's argument moves when the scaled coefficients move by one."""
    form = model.form
    squares = form.design.by_rows.row_squares(model.scale[: model.d] ** 2)
    return np.sqrt(squares / model.d + 1.0)


def choose_subsamples(n: int, order: int, seed: int, first: int = 50) -> list[NDArray[np.int64]]:
    """Return growing random sets of rows to start on; empty when there are too few to pay.

    About one percent of the rows (at least `first` per column), then ten percent: each level starts
    from the one before, and the difference between the two tells how far their answer still is from
    that on all rows.
    """
    levels: list[NDArray[np.int64]] = []
    rng: np.random.Generator | None = None
    for share, least in ((0.01, first * order), (0.1, 400 * order)):
        count = max(int(share * n), least, 1000)
        if n < 5 * count or (levels and count < 3 * levels[-1].size):
            break
        rng = np.random.default_rng(seed) if rng is None else rng
        # One row out of each stretch: spread over the data, which may be sorted.
        edges = np.linspace(0, n, count + 1)
        picked = edges[:-1] + rng.random(count) * np.diff(edges)
        levels.append(np.minimum(picked.astype(np.int64), n - 1))
    return levels


@dataclass(slots=True, eq=False)
class WorkingSet:
    """Rows near a knot, side by side, and what the others add."""

    index: NDArray[np.int64]
    rows: _core.NewtonRows
    frozen: _core.NewtonFrozen
    frozen_dual: Vector


def copy_rows(
    rows: _core.NewtonRows, index: NDArray[np.int64], model: Model, scale: float = 1.0
) -> _core.NewtonRows:
    """Return copies of some rows with weights times `scale`, if there is time for that."""
    checkpoint(seconds=_SECONDS_PER_COPIED * index.size * model.order)
    return rows.subset(index, scale)


def freeze_far_rows(
    rows: _core.NewtonRows,
    model: Model,
    b: Vector,
    reach: float,
    length: Vector,
    left: Callable[[], float] = lambda: math.inf,
) -> WorkingSet | None:
    """Keep the rows within `reach` times their `length` of a knot, freeze the others on their
    pieces.

    Returns None when half of the rows or more would be kept, or no seconds are `left`. The kept
    rows are enlarged until they can balance the frozen ones under a free intercept (the reduced
    problem would be unbounded).
    """
    n = rows.n
    slack = rows.slack() / length
    least = max(n // 100, 8 * model.order)
    while True:
        keep = slack <= reach
        count = int(np.count_nonzero(keep))
        if count < least and least < n:
            reach = float(np.partition(slack, least)[least])
            keep = slack <= reach
            count = int(np.count_nonzero(keep))
        if count >= n // 2:
            return None
        parts = rows.freeze(keep.view(np.uint8), 0.9, left())
        if parts is not None:
            break
        if left() <= 0.0:
            return None
        reach, least = 3.0 * reach, 2 * count  # more rows, also where `reach` is zero
    linear, quadratic, dual = parts
    index = np.flatnonzero(keep).astype(np.int64)
    if quadratic is not None:
        quadratic = model.contract_matrix(quadratic)
    frozen = _core.NewtonFrozen(model.contract(linear), quadratic, b.copy())
    return WorkingSet(index, copy_rows(rows, index, model), frozen, dual)
