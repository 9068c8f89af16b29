"""Semismooth-Newton method of multipliers on one set of rows.

The method and its decisions are compiled, see ``rectiline/newton/newton_run.hpp``; this is
how the solver holds a run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.solvers._base import Budget
from rectiline.solvers.newton._model import Model, Multipliers

Vector = NDArray[np.float64]

__all__ = ["Outcome", "Run", "Schedule"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How stiff the augmented terms start, how fast they grow, and most steps to one of them."""

    start: float = 1.0
    factor: float = 3.0
    inner_steps: int = 15  # more than this means that the penalty grew too fast


@dataclass(slots=True)
class Outcome:
    """Where a run ended."""

    steps: int
    guards: int  # how often the penalty had grown too fast
    failed: bool


class Run:
    """The moving state of the method on one row set.

    Parameters
    ----------
    rows : _core.NewtonRows
    model : Model
    b : ndarray
        Where to start, in scaled variables.
    multipliers : Multipliers
    schedule : Schedule
    smooth : bool
        The loss has no kinks: its rows need no envelope.
    frozen : _core.NewtonFrozen, optional
        What rows outside a working set add.
    reference : float, default=0.0
        Objective with the frozen rows, where known: gaps are relative to it.
    """

    __slots__ = ("_core", "schedule")

    def __init__(
        self,
        rows: _core.NewtonRows,
        model: Model,
        b: Vector,
        multipliers: Multipliers,
        schedule: Schedule,
        smooth: bool,
        frozen: _core.NewtonFrozen | None = None,
        reference: float = 0.0,
    ) -> None:
        self.schedule = schedule
        self._core = _core.NewtonRun(
            model.loop,
            rows,
            frozen,
            b,
            multipliers.column,
            multipliers.constraint,
            model.proximal,
            model.row_stiffness,
            schedule.start,
            schedule.factor,
            schedule.inner_steps,
            smooth,
            reference,
        )

    def solve(self, target: float, max_steps: int, budget: Budget) -> Outcome:
        """Iterate until the estimated relative gap is at most `target`."""
        return Outcome(*self._core.solve(target, max_steps, budget.left()))

    def look(self) -> float:
        """Return the estimated relative gap where the run starts."""
        return self._core.look()

    def judge(self, loss: float, fenchel_young: float) -> None:
        """Take the sums over all rows, those outside the working set too."""
        self._core.estimate(loss, fenchel_young)

    def restart(self, schedule: Schedule) -> None:
        """Go on with another schedule."""
        self.schedule = schedule
        self._core.set_schedule(schedule.start, schedule.factor, schedule.inner_steps)

    def move_to_polished(self) -> None:
        """Move kinked columns onto the kinks that they have reached."""
        self._core.move_to_polished()

    def polished(self) -> Vector:
        """Return b with kinked columns moved onto the kinks that they have reached."""
        return self._core.polished()

    def constraint_multipliers(self) -> Vector:
        """Return the multipliers of the constraints at b."""
        return self._core.constraint_multipliers()

    @property
    def b(self) -> Vector:
        """The scaled variables."""
        return self._core.b

    @property
    def multipliers(self) -> Multipliers:
        """Those of the kinked columns and of the constraints."""
        return Multipliers(self._core.column, self._core.constraint)

    @property
    def relative_gap(self) -> float:
        """The estimated gap relative to the objective."""
        return self._core.relative_gap

    @property
    def objective(self) -> float:
        """The estimated objective."""
        return self._core.objective

    @property
    def growth(self) -> float:
        """How much stiffer the augmented terms are than at first."""
        return self._core.growth
