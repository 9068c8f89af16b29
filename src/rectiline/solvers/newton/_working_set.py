"""Rows near a knot, and all others frozen on their pieces: for `newton` and its path follower."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._polling import checkpoint
from rectiline._typing import Mask, Vector
from rectiline.solvers._base import Budget
from rectiline.solvers.newton._model import Model, Multipliers, Schedule

_LEAST_NEAR_SHARE, _LEAST_NEAR_PER_COLUMN = 0.01, 8


def row_lengths(model: Model) -> Vector:
    """Return how much each row's argument moves when the scaled coefficients move by one."""
    form = model.form
    squares = form.design.by_rows.row_squares(model.unit**2)
    return np.sqrt(squares / model.d + 1.0)


def copy_rows(
    rows: _core.NewtonRows, index: NDArray[np.int64], model: Model, scale: float = 1.0
) -> _core.NewtonRows:
    """Return copies of some rows with weights times `scale`, if there is time for that."""
    checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * index.size * model.order)
    return rows.subset(index, scale)


@dataclass(slots=True, eq=False)
class WorkingSet:
    """Rows near a knot, side by side, and what the others add around a point b."""

    model: Model
    b: Vector
    reach: float
    index: NDArray[np.int64]
    rows: _core.NewtonRows
    frozen: _core.NewtonFrozen | None  # None if no row is
    frozen_dual: Vector

    @classmethod
    def whole(cls, rows: _core.NewtonRows, model: Model, b: Vector) -> WorkingSet:
        """Return all rows, as they are."""
        index = np.arange(rows.n, dtype=np.int64)
        return cls(model, b, np.inf, index, rows, None, np.empty(rows.n))

    @classmethod
    def split(
        cls,
        rows: _core.NewtonRows,
        model: Model,
        b: Vector,
        reach: float,
        length: Vector,
        budget: Budget,
        kept: Mask | None = None,
    ) -> WorkingSet | None:
        """Keep the rows within `reach` times their `length` of a knot and those of `kept`.

        Returns None when half of the rows or more would be kept, or no time is left. The kept
        rows are enlarged until they can balance the frozen ones under a free intercept (the reduced
        problem would be unbounded).
        """
        n = rows.n
        slack = rows.slack() / length
        if kept is not None:
            slack[kept] = 0.0
        least = max(int(_LEAST_NEAR_SHARE * n), _LEAST_NEAR_PER_COLUMN * model.order)
        while True:
            keep = slack <= reach
            count = int(np.count_nonzero(keep))
            if count < least and least < n:
                reach = float(np.partition(slack, least)[least])
                keep = slack <= reach
                count = int(np.count_nonzero(keep))
            if count >= n // 2:
                return None
            frozen = rows.freeze(model.terms, keep.view(np.uint8), b, budget.left())
            if frozen is not None:
                index = np.flatnonzero(keep).astype(np.int64)
                return cls(model, b, reach, index, copy_rows(rows, index, model), *frozen)
            if budget.is_over():
                return None
            reach, least = 3.0 * reach, 2 * count  # more rows, also where `reach` is zero

    def solve(
        self,
        sample: Vector,
        multipliers: Multipliers,
        schedule: Schedule,
        objective: float,
        target: float,
        max_steps: int,
        budget: Budget,
    ) -> tuple[_core.NewtonRun, Vector, int, bool]:
        """Solve on the near rows, which start at their multipliers in `sample`.

        Returns the run, multipliers of all rows, its steps and whether it failed. `target` is
        relative to `objective`, of all rows, if it is not zero.
        """
        self.rows.set_multiplier(np.ascontiguousarray(sample[self.index]))
        run = _core.NewtonRun(
            self.model.terms,
            self.rows,
            self.frozen,
            self.b,
            *multipliers,
            schedule,
            abs(objective),
        )
        steps, guards, failed = run.solve(target, max_steps, budget.left())
        failed = failed or guards > schedule.guards
        dual = self.frozen_dual
        dual[self.index] = self.rows.dual()
        run.move_to_polished()
        return run, dual, steps, failed
