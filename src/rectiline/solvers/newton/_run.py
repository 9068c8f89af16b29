"""Semismooth-Newton method of multipliers on one set of rows.

The method and its decisions are compiled, see ``rectiline/newton/newton_run.hpp``; this is
how the solver holds a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rectiline import _core
from rectiline._typing import Vector
from rectiline.solvers._base import Budget
from rectiline.solvers.newton._model import Model, Multipliers

__all__ = ["Outcome", "Run", "Schedule"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How stiff the augmented terms start, how fast they grow, and most steps to one of them."""

    start: float = 1.0
    factor: float = 3.0
    inner_steps: int = 15  # more than this means that the penalty grew too fast


class Outcome(NamedTuple):
    """Where a run ended."""

    steps: int
    guards: int  # how often the penalty had grown too fast
    failed: bool


class Run(_core.NewtonRun):
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
        super().__init__(
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

    def advance(self, target: float, max_steps: int, budget: Budget) -> Outcome:
        """Iterate until the estimated relative gap is at most `target`."""
        return Outcome(*self.solve(target, max_steps, budget.left()))

    def restart(self, schedule: Schedule) -> None:
        """Go on with another schedule."""
        self.schedule = schedule
        self.set_schedule(schedule.start, schedule.factor, schedule.inner_steps)

    @property
    def multipliers(self) -> Multipliers:
        """Those of the kinked columns and of the constraints."""
        return Multipliers(self.column, self.constraint)
