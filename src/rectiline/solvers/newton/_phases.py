"""Few passes over all rows: a subsample to start from and a working set to finish on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.solvers.newton._model import Frozen, Model

Vector = NDArray[np.float64]

__all__ = ["WorkingSet", "choose_subsample", "freeze_far_rows"]


def choose_subsample(n: int, order: int, seed: int) -> NDArray[np.int64] | None:
    """Return random rows to start on, or None when the data are too few for it to pay."""
    count = max(n // 100, 50 * order, 1000)
    if n < 10 * count:
        return None
    # One row out of each stretch: spread over the data, which may be sorted.
    rng = np.random.default_rng(seed)
    edges = np.linspace(0, n, count + 1)
    return np.asarray(edges[:-1] + rng.random(count) * np.diff(edges), dtype=np.int64)


@dataclass(slots=True, eq=False)
class WorkingSet:
    """Rows near a knot, side by side, and what the others add."""

    index: NDArray[np.int64]
    rows: _core.NewtonRows
    frozen: Frozen
    frozen_dual: Vector


def freeze_far_rows(
    rows: _core.NewtonRows, model: Model, b: Vector, share: float, S: float
) -> WorkingSet | None:
    """Keep the `share` of rows nearest to a knot and freeze the others on their pieces.

    Returns None when nothing would be left to freeze, or when the kept rows could not balance the
    frozen ones under a free intercept (the reduced problem would be unbounded).
    """
    n = rows.n
    slack = rows.slack()
    while True:
        count = max(int(share * n), 20 * model.order)
        if count >= n // 2:
            return None
        threshold = np.partition(slack, count)[count]
        keep = slack <= threshold
        linear, quadratic, low, high, dual = rows.freeze(keep.view(np.uint8))
        balance = linear[-1]
        if not model.form.fit_intercept or low < -0.9 * balance and -0.9 * balance < high:
            break
        share *= 3.0
    index = np.flatnonzero(keep).astype(np.int64)
    scale = model.scale
    if quadratic is not None:
        quadratic = quadratic * scale * scale[:, None]
    frozen = Frozen(linear * scale, quadratic, b.copy())
    del S
    return WorkingSet(index, rows.subset(index), frozen, dual)
