"""Semismooth-Newton method of multipliers on one set of rows: the central decisions.

One outer step fixes the multipliers and minimises, over b,

    sum_i envelope_i(t_i(b)) + sum_j rho_j/2 b_j^2 + envelopes of kinked columns and constraints
        + frozen rows + (proximal term on weak columns)

by Newton's method with an exact search along each direction; then the multipliers move to the
slopes at the minimiser. Everything per row is asked of the row set (`_core.NewtonRows`), which
returns scalars, one d-vector or one d x d matrix.

Sources: the augmented Lagrangian of Rockafellar with the semismooth Newton inner solver; the
proximal method of multipliers where columns cost nothing. Schedules are measured, see the
constants.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rectiline import _core
from rectiline.solvers.newton._model import Frozen, Model, Multipliers

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Outcome", "Run", "Schedule"]

_INNER_SHARE = 0.05  # Newton decrement against what the outer step moved
_SEARCH_SHARE = 0.2  # derivative left by the search along a direction
_SEARCH_STEPS = 40
_INNER_STEPS = 15  # more than this means that the penalty grew too fast
_LARGEST_GROWTH = 1e8
_LOOSEST = 1e12
_MOST_WORSE = 8  # outer steps in a row without a smaller gap
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
    frozen: Frozen | None = None
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
    bump: float = 0.0  # share of the largest diagonal entry added when a factorisation fails

    def __post_init__(self) -> None:
        self.growth = self.schedule.start
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
            inner, failed = self._minimise(first_step + max_steps, target)
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
            worse = 0 if relative < best else worse + 1
            best = min(best, relative)
            if worse >= _MOST_WORSE:  # stiffer terms only add rounding now
                out.failed = True
                return out
            if guards > 4:
                return out

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
        width = self.model.total_width / max(float(self.model.form.weight.sum()), 1e-300)
        return self.growth * width / self.model.argument_scale

    def _adopt(self) -> None:
        self.rows.adopt()
        self.multipliers.column = self.model.column_dual(self.b, self.multipliers, self.growth)
        if self.model.n_constraints:
            value = self.model.rows @ self.b + self.model.offset
            self.multipliers.constraint = self.model.constraint_slopes(
                value, self.multipliers, self.growth
            )
        self.center = self.b.copy()

    # ---- the inner minimisation ------------------------------------------------------------

    def _minimise(self, last_step: int, target: float) -> tuple[int, bool]:
        """Return the steps taken and whether the last one failed."""
        S = self.stiffness
        move = self.rows.settle(0.0, S)
        inner, decrement = 0, np.inf
        proximal = self._proximal_weight()
        while True:
            gradient = self._gradient(proximal)
            if inner >= self.schedule.inner_steps or self.steps >= last_step:
                return inner, False
            if inner and self._is_near(decrement, move, proximal, target):
                return inner, False
            direction = self._newton_direction(gradient, proximal)
            if direction is None:
                return inner, True
            self.steps += 1
            inner += 1
            decrement = -0.5 * float(gradient @ direction)
            if not decrement > 0:
                return inner, False
            self.rows.aim(self.model.expand(direction))
            step = self._search(direction, proximal, S, decrement)
            self.b = self.b + step * direction
            move = self.rows.settle(step, S)

    def _is_near(self, decrement: float, move: float, proximal: Vector, target: float) -> bool:
        """Whether the minimisation is as good as the multipliers deserve."""
        if decrement <= 1e-30:
            return True
        if not self.exact:
            return decrement <= _INNER_SHARE * (move + self._central_move(proximal))
        share = 0.02 * target
        if decrement > share * abs(self.objective):  # an older value, which is no smaller
            return False
        self.objective = self._central_value() + self.rows.values()[0]
        return decrement <= share * abs(self.objective)

    def _proximal_weight(self) -> Vector:
        weight = np.zeros(self.model.order)
        if self.use_proximal:
            weight[self.model.weak] = self.model.proximal_stiffness / (self.growth * self.looseness)
        return weight

    def _gradient(self, proximal: Vector) -> Vector:
        model, b = self.model, self.b
        gradient = model.rho * b + model.contract(self.rows.image())
        gradient += proximal * (b - self.center)
        if self.frozen is not None:
            gradient += self.frozen.gradient(b)
        if model.kinked.size:
            gradient[model.kinked] += model.column_dual(b, self.multipliers, self.growth)
        if model.n_constraints:
            value = model.rows @ b + model.offset
            gradient -= model.rows.T @ model.constraint_slopes(value, self.multipliers, self.growth)
        return gradient

    def _newton_direction(self, gradient: Vector, proximal: Vector) -> Vector | None:
        model = self.model
        H = model.contract_matrix(self.rows.gram())
        if self.frozen is not None and self.frozen.quadratic is not None:
            H += self.frozen.quadratic
        diagonal = model.rho + proximal
        if model.kinked.size:
            diagonal[model.kinked] += model.column_newton_weight(
                self.b, self.multipliers, self.growth
            )
        if model.n_constraints:
            value = model.rows @ self.b + model.offset
            xi = model.constraint_slopes(value, self.multipliers, self.growth)
            active = model.rows[model.equality | (xi > 0)]
            H += (self.growth * model.constraint_stiffness) * (active.T @ active)
        return self._solve(H, diagonal, -gradient)

    def _solve(self, H: Matrix, diagonal: Vector, right: Vector) -> Vector | None:
        index = np.arange(diagonal.size)
        base = H[index, index] + diagonal
        level = float(base.max(initial=0.0))
        for _ in range(8):
            H[index, index] = base + self.bump * level
            factor, info = lapack.dpotrf(H, lower=1, clean=0, overwrite_a=0)
            if info == 0:
                solution, info = lapack.dpotrs(factor, right, lower=1)
                if np.isfinite(solution).all():
                    return np.asarray(solution)
            self.bump = max(100 * self.bump, 1e-15)
        return None

    def _search(self, direction: Vector, proximal: Vector, S: float, decrement: float) -> float:
        """Return a step where the derivative along `direction` nearly vanishes."""
        model, b = self.model, self.b
        weight = model.rho + proximal
        constant = float(direction @ (model.rho * b + proximal * (b - self.center)))
        slope = float(direction @ (weight * direction))
        if self.frozen is not None:
            constant += float(direction @ self.frozen.gradient(b))
            if self.frozen.quadratic is not None:
                slope += float(direction @ (self.frozen.quadratic @ direction))
        kinked, m = model.kinked, model.n_constraints
        if m:
            value, change = model.rows @ b + model.offset, model.rows @ direction

        def derivative(step: float) -> float:
            total = constant + step * slope + self.rows.derivative(step, S)
            if kinked.size:
                dual = model.column_dual(b + step * direction, self.multipliers, self.growth)
                total += float(dual @ direction[kinked])
            if m:
                xi = model.constraint_slopes(value + step * change, self.multipliers, self.growth)
                total -= float(xi @ change)
            return total

        low, high = 0.0, np.inf
        at_low, at_high = -2.0 * decrement, np.inf
        step = 1.0
        enough = _SEARCH_SHARE * 2.0 * decrement
        for _ in range(_SEARCH_STEPS):
            here = derivative(step)
            if abs(here) <= enough:
                break
            if here < 0:
                low, at_low = step, here
            else:
                high, at_high = step, here
            if not np.isfinite(high):
                step *= 2.0
                continue
            # regula falsi kept away from the ends, so that the bracket always shrinks
            width = high - low
            step = low + width * (-at_low / (at_high - at_low))
            step = min(max(step, low + 0.1 * width), high - 0.1 * width)
            if width <= 1e-14 * high:
                break
        return step

    # ---- values ----------------------------------------------------------------------------

    def _central_move(self, proximal: Vector) -> float:
        model = self.model
        away = self.b - self.center
        move = 0.5 * float(proximal @ (away * away))
        if model.kinked.size:
            new = model.column_dual(self.b, self.multipliers, self.growth)
            change = new - self.multipliers.column
            move += 0.5 * float(np.sum(change * change / (model.column_stiffness * self.growth)))
        if model.n_constraints:
            value = model.rows @ self.b + model.offset
            change = (
                model.constraint_slopes(value, self.multipliers, self.growth)
                - self.multipliers.constraint
            )
            move += 0.5 * float(change @ change) / (model.constraint_stiffness * self.growth)
        return move

    def _central_value(self) -> float:
        model, b = self.model, self.b
        return 0.5 * float(model.rho @ (b * b)) + float(model.l1 @ np.abs(b))

    def estimate(self, loss: float, fenchel_young: float) -> None:
        """Estimate objective and gap of the current pair, given the sums over its rows."""
        model, b = self.model, self.b
        q = -model.contract(self.rows.image())
        if self.frozen is not None:
            q -= self.frozen.gradient(b)
        gap = fenchel_young
        if model.n_constraints:
            value = model.rows @ b + model.offset
            xi = model.constraint_slopes(value, self.multipliers, self.growth)
            q += model.rows.T @ xi
            gap += float(np.abs(xi) @ np.abs(value))
        self.column_gap = self._column_gap(q)
        gap += self.column_gap
        self.gap = float(gap)
        self.objective = loss + self._central_value()

    def _column_gap(self, q: Vector) -> float:
        model, b = self.model, self.b
        curved = ~model.weak | (model.rho > 0)
        shrunk = q - np.clip(q, -model.l1, model.l1)
        rho = np.where(curved, model.rho, 1.0)
        best = np.clip(shrunk / rho, model.lower, model.upper)
        move = b - best
        strong = 0.5 * rho * move * move - (q - rho * best) * move
        strong += model.l1 * (np.abs(b) - np.abs(best))
        flat_dual = np.clip(q, -model.l1, model.l1)
        flat = model.l1 * np.abs(b) - flat_dual * b + np.abs((q - flat_dual) * b)
        bounded = (b <= model.lower) | (b >= model.upper)
        flat = np.where(bounded, 0.0, flat)
        return float(np.sum(np.maximum(np.where(curved, strong, flat), 0.0)))
