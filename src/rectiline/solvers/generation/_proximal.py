"""A second-order master: the proximal method of multipliers on a working set of columns.

    min over b, b0   sum_i f_i(x_i'b + b0) + Omega(b)   subject to   A b + c >= 0,  E b + f = 0

Each f_i is a sum of units with a dual variable ``0 <= a <= cap`` (`CompositeForm.dual_units`),
so the dual is a box-constrained problem in ``a`` with ``g_i = sum_u sign_u a_u``. Around a
point (b_k, b0_k, a_k) one outer step minimises over the box

    sum_u (bend a^2 / 2 - lift a)  +  |prox_{s Omega}(b_k - s X'g)|^2 / (2 s)
        + (b0_k - s0 sum g)^2 / (2 s0)  +  |a - a_k|^2 / (2 r)

by a projected semismooth Newton method and sets ``b = prox_{s Omega}(b_k - s X'g)``, ``b0 =
b0_k - s0 sum g``. The Newton matrix on the free units is ``s X_F P P'X_F' + s0 1 1' + diag(bend
+ 1/r)``, where the columns of P are the clusters that the prox moves as one; with fewer
clusters than free units it is inverted by Woodbury. The iterates b have exact zeros and exact
clusters, because they are points of the prox.

Constraint rows are units without an upper end (equalities without a lower one either) on rows
of their own. Everything is scaled: columns by their mean length, predictions by the spread of
y, boxes by the mean.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.problems.forms import CompositeForm
from rectiline.solvers.first_order import spread_of_arguments
from rectiline.solvers.generation._blocks import row_norms
from rectiline.solvers.generation._unit_model import UnitModel

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["ProximalMaster", "ProximalPoint"]

_GROWTH = 2.0
_LARGEST = 1e7
_NEWTON_STEPS = 20
_EASY = 8
_RETREAT = 5.0
_HALVINGS = 25
_ACTIVE_SETS = 12


@dataclass(frozen=True, slots=True, eq=False)
class ProximalPoint:
    """A point of the restricted problem, in the form's own units."""

    coef: Vector  # on the working set
    intercept: float
    sample: Vector
    constraint: Vector


class ProximalMaster:
    """The method's state; the working set may grow between calls of `solve`."""

    def __init__(self, form: CompositeForm, typical_cost: float) -> None:
        self.form = form
        units, n = form.dual_units, form.design.n_samples
        squares = form.design.column_squares()
        self._column_scale = float(np.sqrt(squares.mean())) or 1.0
        self._argument_scale = spread_of_arguments(form)
        finite = units.cap[np.isfinite(units.cap)]
        self._box_scale = float(finite.mean()) if finite.size else float(form.weight.mean())
        m, k = form.n_inequalities, form.n_constraints
        ones, none = np.ones(k), np.zeros(k)
        self._row = np.concatenate([units.sample, n + np.arange(k)])
        self._sign = np.concatenate([units.sign, ones])
        rows = form.problem.constraint_rows
        norms = np.concatenate([row_norms(rows.A), row_norms(rows.E)])
        self._norms = np.where(norms > 0, norms, 1.0)
        constant = np.concatenate([rows.c, rows.f]) * (self._column_scale / self._norms)
        low = np.where(np.arange(k) < m, 0.0, -np.inf)
        self._low = np.concatenate([np.zeros(units.cap.size), low])
        self._high = np.concatenate([units.cap / self._box_scale, ones * np.inf])
        self._lift = np.concatenate([units.lift, -constant]) / self._argument_scale
        bend = units.bend * (self._box_scale / self._argument_scale)
        self._bend = np.concatenate([bend, none])
        self._ones = np.concatenate([np.ones(n), none]) if form.fit_intercept else np.zeros(n + k)
        self._one_scale = 1.0 / np.sqrt(n)
        self.dual = np.clip(0.5 * np.minimum(self._high, 1.0), self._low, self._high)
        self.dual[units.cap.size :] = 0.0
        self.columns = np.zeros(0, dtype=np.intp)
        self.coef = np.zeros(0)
        self.scaled_intercept = 0.0
        cost = typical_cost / (self._column_scale * self._box_scale)
        self.step = self._first_step = 0.3 * np.sqrt(n) / max(cost, 1e-3 * np.sqrt(n))
        self.room = self._first_room = 3.0
        self.tolerance = 1e-2
        self.n_newton = 0

    # ---- the working set ---------------------------------------------------------------------

    def set_columns(self, columns: Indices) -> None:
        """Make `columns` the working set; coefficients of old columns stay."""
        form = self.form
        old = dict(zip(self.columns.tolist(), self.coef.tolist()))
        self.coef = np.array([old.get(j, 0.0) for j in columns.tolist()])
        self.columns = columns
        self.part = part = form.on_columns(columns)
        rows = part.problem.constraint_rows
        X = part.design.X
        self._matrix: Any = X * (1.0 / self._column_scale)
        if self._norms.size:
            split = rows.c.size
            stacked = sp.vstack(
                [
                    sp.csr_array(self._matrix),
                    sp.diags_array(-1.0 / self._norms[:split]) @ sp.csr_array(rows.A),
                    sp.diags_array(-1.0 / self._norms[split:]) @ sp.csr_array(rows.E),
                ],
                format="csr",
            )
            self._matrix = stacked if sp.issparse(X) else np.asfortranarray(stacked.toarray())
        self._bounds = None
        if part.is_separable and part.columns.has_bounds:
            unit = self._column_scale / self._argument_scale
            self._bounds = part.columns.lower * unit, part.columns.upper * unit
        self.step = max(self.step / 8.0, self._first_step)
        self.room = max(self.room / 8.0, self._first_room)

    def start_at(self, coef: Vector, intercept: float, sample: Vector) -> None:
        """Start from coefficients of all columns, an intercept and slopes of the samples."""
        units = self.form.dual_units
        left = sample / self._box_scale
        # Units are listed outward from the minimum of the loss on each side: fill them in turn.
        for first, last in _runs(units.sample):
            u = slice(first, last)
            i = units.sample[u]
            part = np.clip(units.sign[u] * left[i], 0.0, self._high[u])
            self.dual[u] = part
            left[i] -= units.sign[u] * part
        unit = self._column_scale / self._argument_scale
        self.coef = coef[self.columns] * unit
        self.scaled_intercept = intercept / self._argument_scale

    # ---- parts of the objective --------------------------------------------------------------

    def _prox(self, v: Vector) -> tuple[Vector, float]:
        """Return b = prox(v) and ``max_b v'b / s - Omega(b) - |b|^2 / (2 s)``."""
        back = self._argument_scale / self._column_scale
        step = self.step * self._argument_scale / (self._box_scale * self._column_scale**2)
        coef = self.part.prox(v * back, step) / back
        if self._bounds is None:  # for a norm, v'b = s Omega(b) + |b|^2 at the prox
            return coef, float(coef @ coef) / (2 * self.step)
        cost = self.part.penalty.value(coef * back) / (self._box_scale * self._argument_scale)
        return coef, float(coef @ (v - 0.5 * coef)) / self.step - cost

    def _slopes(self, dual: Vector) -> Vector:
        weights: Vector = self._sign * dual
        return np.bincount(self._row, weights, minlength=self._ones.size).astype(np.float64)

    def _state(self, dual: Vector) -> tuple[Vector, float, float]:
        """Return b, b0 and the smooth objective at dual variables."""
        g = self._slopes(dual)
        coef, envelope = self._prox(self.coef - self.step * (self._matrix.T @ g))
        step0 = self.step * self._one_scale**2
        b0 = self.scaled_intercept - step0 * float(self._ones @ g)
        away = dual - self._anchor
        value = (
            float((0.5 * self._bend * dual - self._lift) @ dual)
            + envelope
            + (b0 * b0 / (2 * step0) if self._ones.any() else 0.0)
            + float(away @ away) / (2 * self.room)
        )
        return coef, b0, value

    def _gradient(self, dual: Vector, coef: Vector, b0: float) -> Vector:
        z = self._matrix @ coef + b0 * self._ones
        away = (dual - self._anchor) / self.room
        return np.asarray(self._bend * dual - self._lift - self._sign * z[self._row] + away)

    # ---- the method --------------------------------------------------------------------------

    def outer(self, ends: float) -> None:
        """Take one step of the proximal method of multipliers."""
        self._anchor = self.dual
        dual = self.dual
        coef, b0, value = self._state(dual)
        taken = 0
        while taken < _NEWTON_STEPS:
            gradient = self._gradient(dual, coef, b0)
            residual = dual - np.clip(dual - gradient, self._low, self._high)
            worst = float(np.abs(residual).max())
            if worst <= self.tolerance or time.perf_counter() > ends:
                break
            move = self._newton_direction(dual, gradient, coef)
            slope = float(gradient @ move)
            if not slope < 0.0:
                move, slope = -residual, -float(gradient @ residual)
            taken += 1
            length = 1.0
            for _ in range(_HALVINGS):
                new = dual + length * move
                new_coef, new_b0, new_value = self._state(new)
                if new_value <= value + 1e-4 * length * slope + 1e-14 * abs(value):
                    break
                length *= 0.5
            else:
                break
            dual, coef, b0, value = new, new_coef, new_b0, new_value
        self.dual, self.coef, self.scaled_intercept = dual, coef, b0
        self.tolerance = max(1e-10, 0.5 * self.tolerance)
        self.n_newton += taken
        hard = taken == _NEWTON_STEPS
        factor = _GROWTH if taken < _EASY else 1.0 / _RETREAT if hard else 1.0
        self.step = min(self.step * factor, _LARGEST * self._first_step)
        self.room = min(self.room * factor, _LARGEST * self._first_room)

    def _newton_direction(self, dual: Vector, gradient: Vector, coef: Vector) -> Vector:
        """Return the step to the minimiser of the quadratic model over the box.

        The model is minimised by a primal-dual active set method: units outside their box are put
        on the end they passed, units held at an end with a multiplier of the wrong sign are freed.
        """
        model = UnitModel(self._row, self._sign, self._bend + 1.0 / self.room, self._factor(coef))
        low, high = self._low - dual, self._high - dual
        at_low, at_high = (low >= 0) & (gradient > 0), (high <= 0) & (gradient < 0)
        for _ in range(_ACTIVE_SETS):
            free = ~(at_low | at_high)
            move = np.where(at_low, low, 0.0) + np.where(at_high, high, 0.0)
            if free.any():
                move[free] = -model.solve(free, (gradient + model.product(move))[free])
            multiplier = gradient + model.product(move)
            new_low = (free & (move < low)) | (at_low & (multiplier >= 0))
            new_high = (free & (move > high)) | (at_high & (multiplier <= 0))
            if np.array_equal(new_low, at_low) and np.array_equal(new_high, at_high):
                break
            at_low, at_high = new_low, new_high
        return np.asarray(np.clip(move, low, high))

    def _factor(self, coef: Vector) -> NDArray[np.float64]:
        """Return F with ``F F' = s X P P'X' + s0 1 1'``, one row per sample or constraint."""
        factor: NDArray[np.float64] = np.sqrt(self.step) * self._clusters(coef)
        if not self._ones.any():
            return factor
        return np.column_stack([factor, np.sqrt(self.step) * self._one_scale * self._ones])

    def _clusters(self, coef: Vector) -> NDArray[np.float64]:
        """Return the rows times the unit vectors of the clusters of `coef`."""
        held = coef
        if self._bounds is not None:  # at a bound a coefficient does not move
            low, high = self._bounds
            held = np.where((coef > low) & (coef < high), coef, 0.0)
        places, starts = self.part.moving_together(held)
        if not places.size:
            return np.zeros((self._ones.size, 0))
        sizes = np.diff(np.append(starts, places.size))
        weight = np.sign(coef[places]) / np.sqrt(np.repeat(sizes, sizes))
        if sp.issparse(self._matrix):
            owner = np.repeat(np.arange(sizes.size), sizes)
            spread = sp.csc_array((weight, (places, owner)), shape=(coef.size, sizes.size))
            return np.asarray((self._matrix @ spread).toarray())
        signed = self._matrix[:, places] * weight
        if starts.size == places.size:
            return np.asarray(signed)
        return np.asarray(np.add.reduceat(signed, starts, axis=1))

    def point(self) -> ProximalPoint:
        """Return the current point in the form's own units."""
        n = self.form.design.n_samples
        g = self._slopes(self.dual)
        back = self._argument_scale / self._column_scale
        norms = self._norms / self._column_scale
        return ProximalPoint(
            self.coef * back,
            self.scaled_intercept * self._argument_scale,
            g[:n] * self._box_scale,
            g[n:] * self._box_scale / norms,
        )


def _runs(sample: Indices) -> list[tuple[int, int]]:
    """Return stretches in which no sample comes twice."""
    ends = np.flatnonzero(sample[1:] <= sample[:-1]) + 1
    starts = [0, *ends.tolist()]
    return list(zip(starts, [*ends.tolist(), sample.size]))
