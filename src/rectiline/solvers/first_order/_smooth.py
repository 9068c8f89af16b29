"""Accelerated proximal gradient on the Nesterov-smoothed loss.

    min over b, b0   sum_i w_i phi_mu(p_i z_i + o_i) + Omega(b),        z = X b + b0

``phi_mu(t) = max_s s t - phi*(s) - mu s^2 / 2`` is the Moreau envelope of the loss: within mu
s^2/2 of it and with the slope ``(t - prox_mu(t)) / mu``. Where the smoothed slope of the loss
is linear in t its Lipschitz constant is 1/mu; the constant of the sum is the largest squared
singular value of ``sqrt(w) [X, 1]`` over mu (power iterations). Momentum restarts when it
points uphill.

Source: Section 4 of the L1-SVM column generation paper, equations (54)-(60); there phi is the
hinge and the smoothing is centred at slope -1/2 instead of 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import checkpoint
from rectiline.backends import Design
from rectiline.problems.forms import CompositeForm

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]
Prox = Callable[[Vector, float], Vector]

__all__ = ["SmoothedDescent", "largest_squared_singular_value", "spread_of_arguments"]


def spread_of_arguments(form: CompositeForm) -> float:
    """Return the unit in which smoothing is measured: 1 for margins, the spread of y otherwise."""
    offset = form.offset
    middle = float(np.median(offset))
    spread = float(np.average(np.abs(offset - middle), weights=form.weight))
    return spread if spread > 0 else 1.0


def largest_squared_singular_value(
    design: Design, weight: Vector, intercept: float, seed: int, rounds: int = 12
) -> float:
    """Return a little more than ``|sqrt(weight) [X, intercept]|^2``."""
    rng = np.random.default_rng(seed)
    v, v0 = rng.standard_normal(design.n_features), float(intercept > 0)
    size = 1.0
    for _ in range(rounds):
        checkpoint()
        length = float(np.sqrt(v @ v + v0 * v0))
        if length == 0.0:
            break
        v, v0 = v / length, v0 / length
        u = weight * (design.dot(v) + intercept * v0)
        v, v0 = design.tdot(u), intercept * float(u.sum())
        size = float(np.sqrt(v @ v + v0 * v0))
    return 1.05 * size + 1e-300


def _curves_on(form: CompositeForm, samples: Indices | None) -> list[tuple[Any, Any]]:
    """Return the curves of the losses with their rows among `samples`."""
    if samples is None or len(form.losses) == 1:
        return list(form.losses)
    found = []
    for curve, rows in form.losses:
        mine = np.zeros(form.design.n_samples, dtype=bool)
        mine[rows] = True
        found.append((curve, np.flatnonzero(mine[samples])))
    return found


class SmoothedDescent:
    """The running method on a design that may hold only some rows and columns of the form's.

    Parameters
    ----------
    form : CompositeForm
    design : Design
        ``X[samples][:, columns]``.
    samples : array of int or None
        Which rows `design` holds; None for all.
    prox : callable
        ``prox(v, step)`` of the penalty on the columns of `design`.
    weight : ndarray
        Weights of these rows.
    """

    def __init__(
        self,
        form: CompositeForm,
        design: Design,
        samples: Indices | None,
        prox: Prox,
        weight: Vector,
        seed: int = 0,
    ) -> None:
        rows: Indices | slice = slice(None) if samples is None else samples
        self.direction, self.offset = form.direction[rows], form.offset[rows]
        self._parts = _curves_on(form, samples)
        self.design, self.prox, self.weight = design, prox, weight
        squares = design.column_squares(weight)
        # The intercept is measured so that its column weighs as much as a typical one.
        typical = float(np.median(squares[squares > 0])) if squares.any() else 1.0
        unit = float(np.sqrt(typical / weight.sum()))
        self.unit = unit if form.fit_intercept else 0.0
        self.size = largest_squared_singular_value(design, weight, self.unit, seed)
        self.coef = np.zeros(design.n_features)
        self.scaled_intercept = 0.0
        self.momentum = 1.0
        self._previous = (self.coef, 0.0)

    @property
    def intercept(self) -> float:
        """The intercept of the current point."""
        return self.scaled_intercept * self.unit

    def start_at(self, coef: Vector, intercept: float) -> None:
        """Put the method at a point."""
        self.coef = coef.copy()
        self.scaled_intercept = intercept / self.unit if self.unit else 0.0
        self._previous = (self.coef, self.scaled_intercept)
        self.momentum = 1.0

    def slopes(self, z: Vector, mu: float) -> Vector:
        """Return the slopes of the smoothed, weighted losses in z."""
        t = self.direction * z + self.offset
        s = np.empty_like(t)
        for curve, rows in self._parts:
            if curve.knots.size == 1 and not curve.curvature.any():
                s[rows] = np.clip((t[rows] - curve.knots[0]) / mu, curve.left[0], curve.right[0])
            else:
                s[rows] = (t[rows] - curve.prox(t[rows], mu)) / mu
        return np.asarray(self.weight * self.direction * s)

    def run(
        self,
        iterations: int,
        mu: float,
        tolerance: float,
        is_over: Callable[[], bool] = lambda: False,
    ) -> int:
        """Take up to `iterations` steps; stop once they are short compared with the point.

        `is_over` is asked after each step whether to stop.
        """
        step = mu / self.size
        coef, b0 = self.coef, self.scaled_intercept
        old, old0 = self._previous
        done = 0
        while done < iterations:
            done += 1
            following = 0.5 + np.sqrt(0.25 + self.momentum**2)
            push = (self.momentum - 1.0) / following
            at, at0 = coef + push * (coef - old), b0 + push * (b0 - old0)
            g = self.slopes(self.design.dot(at) + self.unit * at0, mu)
            new = self.prox(at - step * self.design.tdot(g), step)
            new0 = at0 - step * self.unit * float(g.sum())
            uphill = (at - new) @ (new - coef) + (at0 - new0) * (new0 - b0) > 0
            self.momentum = 1.0 if uphill else following
            old, old0, coef, b0 = coef, b0, new, new0
            moved = np.sqrt((coef - old) @ (coef - old) + (b0 - old0) ** 2)
            if moved <= tolerance * np.sqrt(coef @ coef + b0 * b0) or is_over():
                break
        self.coef, self.scaled_intercept, self._previous = coef, b0, (old, old0)
        return done
