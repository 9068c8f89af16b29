"""Semismooth-Newton method of multipliers on one set of rows: the outer decisions.

One outer step fixes the multipliers and minimises, over b,

    sum_i envelope_i(t_i(b)) + sum_j rho_j/2 b_j^2 + envelopes of kinked columns and constraints
        + frozen rows + (proximal term on weak columns)

by Newton's method (`_core.NewtonLoop`); then the multipliers move to the slopes at the minimiser.
How stiff the envelopes are, how loose the proximal term, and when to give up is decided here.

Sources: the augmented Lagrangian of Rockafellar with the semismooth Newton inner solver; the
proximal method of multipliers where columns cost nothing. Schedules are measured, see the
constants.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.solvers.newton._model import Model, Multipliers

Vector = NDArray[np.float64]

__all__ = ["Outcome", "Run", "Schedule"]

_INNER_SHARE = 0.05  # Newton decrement against what the outer step moved
_INNER_STEPS = 15  # more than this means that the penalty grew too fast
_LARGEST_GROWTH = 1e8
_LOOSEST = 1e12
_MOST_WORSE = 8  # outer steps in a row without a smaller gap, at a growth beyond `_STIFF`
_STIFF = 1e5
_LOOSEN = 100.0  # of the proximal term, while what it leaves in the columns is most of the gap


@dataclass(frozen=True, slots=True)
class Schedule:
    """How stiff the augmented terms start and how fast they grow."""

    start: float = 1.0
    factor: float = 3.0
    inner_steps: int = _INNER_STEPS


@dataclass(slots=True)
class Outcome:
    """Where a run ended."""

    gap: float
    objective: float
    steps: int
    guards: int
    failed: bool = False


@dataclass(slots=True, eq=False)
class Run:
    """The moving state of the method on one row set."""

    rows: _core.NewtonRows
    model: Model
    b: Vector
    multipliers: Multipliers
    schedule: Schedule
    smooth: bool  # the loss has no kinks: its rows need no envelope
    frozen: _core.NewtonFrozen | None = None
    reference: float = 0.0  # objective with the frozen rows, where known: gaps are relative to it
    growth: float = 1.0
    steps: int = 0
    gap: float = np.inf
    column_gap: float = np.inf  # the columns' part of it
    objective: float = np.inf
    center: Vector = field(init=False)
    exact: bool = field(init=False)
    use_proximal: bool = field(init=False)
    looseness: float = 1.0  # by how much the proximal term is weaker than the growth makes it

    def __post_init__(self) -> None:
        self.growth = self.schedule.start
        self.b = self.b.copy()  # minimised in place
        self.center = self.b.copy()
        # Without multipliers there is nothing to iterate on: one minimisation is exact.
        self.exact = self.smooth and not self.model.kinked.size and not self.model.n_constraints
        self.use_proximal = self.model.needs_proximal

    # ---- the outer loop --------------------------------------------------------------------

    def solve(self, target: float, max_steps: int, deadline: float) -> Outcome:
        """Iterate until the estimated relative gap is at most `target`."""
        guards, worse, last, best = 0, 0, np.inf, np.inf
        first_step = self.steps
        if np.isfinite(self.gap):  # called again: what it ended with was not good enough
            self._adopt()
            self.growth = min(self.growth * self.schedule.factor, _LARGEST_GROWTH)
        while True:
            left = first_step + max_steps - self.steps
            inner, failed = self._minimise(left, target, deadline)
            self.estimate(*self.rows.values())
            relative = self.relative_gap
            out = Outcome(self.gap, self.objective, self.steps - first_step, guards, failed)
            late = time.perf_counter() >= deadline
            if relative <= target or failed or late or self.steps - first_step >= max_steps:
                return out
            self._adopt()
            if self.column_gap > 0.5 * self.gap:
                self.looseness = min(_LOOSEN * self.looseness, _LOOSEST)
            if inner >= self.schedule.inner_steps:
                guards += 1
                self.growth /= self.schedule.factor**1.5
            elif relative > 0.1 * last:
                self.growth = min(self.growth * self.schedule.factor, _LARGEST_GROWTH)
            last = relative
            worse = 0 if relative < best or self.growth < _STIFF else worse + 1
            best = min(best, relative)
            if worse >= _MOST_WORSE:  # stiffer terms only add rounding now
                out.failed = True
                return out
            if guards > 4:
                return out

    def look(self) -> float:
        """Return the estimated relative gap where the run starts."""
        self._minimise(0, 1.0, np.inf)
        self.estimate(*self.rows.values())
        relative = self.relative_gap
        self.gap = np.inf  # nothing has been solved yet
        return relative

    @property
    def relative_gap(self) -> float:
        """The estimated gap relative to the objective."""
        size = max(abs(self.objective), abs(self.objective - self.gap), self.reference)
        return self.gap / max(size, 1e-300)

    @property
    def stiffness(self) -> float:
        """The penalty parameter of the data rows, in slope per argument."""
        if self.smooth:
            return float("inf")
        return self.growth * self.model.row_stiffness

    def _adopt(self) -> None:
        self.rows.adopt()
        column, constraint = self.model.loop.slopes(*self._point())
        self.multipliers.column, self.multipliers.constraint = column, constraint
        self.center = self.b.copy()

    def _point(self) -> tuple[Vector, Vector, Vector, Vector, Vector, float, float]:
        """Return what an outer step holds fixed, and b."""
        return (
            self.b,
            self.center,
            self.multipliers.column,
            self.multipliers.constraint,
            self._proximal_weight(),
            self.growth,
            self.stiffness,
        )

    def _proximal_weight(self) -> Vector:
        weight = np.zeros(self.model.order)
        if self.use_proximal:
            weight[self.model.weak] = self.model.proximal_stiffness / (self.growth * self.looseness)
        return weight

    def _minimise(self, max_steps: int, target: float, deadline: float) -> tuple[int, bool]:
        """Return the steps taken and whether the last one failed."""
        steps, failed, _ = self.model.loop.minimise(
            self.rows,
            self.frozen,
            *self._point(),
            min(max_steps, self.schedule.inner_steps),
            _INNER_SHARE,
            target if self.exact else 0.0,
            max(deadline - time.perf_counter(), 0.0),
        )
        self.steps += steps
        return steps, failed

    def estimate(self, loss: float, fenchel_young: float) -> None:
        """Estimate objective and gap of the current pair, given the sums over its rows."""
        self.gap, self.column_gap, self.objective = self.model.loop.estimate(
            self.rows, self.frozen, *self._point(), loss, fenchel_young
        )

    def polished(self) -> Vector:
        """Return b with kinked columns moved onto the kinks that they have reached."""
        return self.model.loop.polish(*self._point())

    def constraint_multipliers(self) -> Vector:
        """Return the multipliers of the constraints at b."""
        return self.model.loop.slopes(*self._point())[1]
