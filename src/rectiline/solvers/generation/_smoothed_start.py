"""The first-order start of the paper: accelerated proximal gradients on the smoothed loss.

    min over b, b0   sum_i w_i phi_mu(p_i z_i + o_i) + Omega(b),        z = X b + b0

``phi_mu(t) = max_s s t - phi*(s) - mu s^2 / 2`` is the Moreau envelope of the loss, with the slope
``(t - prox_mu(t)) / mu``, whose Lipschitz constant is at most 1/mu; that of the sum is the largest
squared singular value of ``sqrt(w) [X, 1]`` over mu (power iterations). Momentum restarts when it
points uphill. The aim is the right set of columns and the right side of each knot, not accuracy.

Source: Section 4 of the L1-SVM column generation paper, equations (54)-(60); there phi is the
hinge and the smoothing is centred at slope -1/2 instead of 0.
"""

from __future__ import annotations

import numpy as np

from rectiline._polling import checkpoint
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems.forms import CompositeForm
from rectiline.solvers._screening import screened_columns, spread_of_arguments

__all__ = ["smoothed_start"]

_SMOOTHING = 0.3  # mu in units of the spread of the arguments
_STEPS = 200
_POWER_ITERATIONS = 12
_RELATIVE_STEP_AT_REST = 1e-3
_COLUMNS_PER_SAMPLE = 10  # most screened columns


def smoothed_start(form: CompositeForm, q: Vector, seed: int) -> tuple[Vector, float]:
    """Return coefficients and intercept of the smoothed problem on the columns that q asks for."""
    n, d = form.design.n_samples, form.design.n_features
    columns = screened_columns(form, q, min(d, _COLUMNS_PER_SAMPLE * n))
    some = form if columns.size == d else form.on_columns(columns)
    part = some.design
    # The intercept is measured so that its column weighs as much as a typical one.
    squares = part.column_squares(form.weight)
    typical = float(np.median(squares[squares > 0])) if squares.any() else 1.0
    unit = float(np.sqrt(typical / form.weight.sum())) if form.fit_intercept else 0.0
    mu = _SMOOTHING * spread_of_arguments(form)
    step = mu / _largest_squared_singular_value(part, form.weight, unit, seed)
    coef = old = np.zeros(columns.size)
    b0 = old0 = form.best_intercept(np.zeros(n)) / unit if unit else 0.0
    momentum = 1.0
    for _ in range(_STEPS):
        following = 0.5 + float(np.sqrt(0.25 + momentum**2))
        push = (momentum - 1.0) / following
        at, at0 = coef + push * (coef - old), b0 + push * (b0 - old0)
        g = _smoothed_slopes(form, part.dot(at) + unit * at0, mu)
        new = some.prox(at - step * part.tdot(g), step)
        new0 = at0 - step * unit * float(g.sum())
        uphill = (at - new) @ (new - coef) + (at0 - new0) * (new0 - b0) > 0
        momentum = 1.0 if uphill else following
        old, old0, coef, b0 = coef, b0, new, new0
        moved = np.sqrt((coef - old) @ (coef - old) + (b0 - old0) ** 2)
        if moved <= _RELATIVE_STEP_AT_REST * np.sqrt(coef @ coef + b0 * b0):
            break
    everywhere = np.zeros(d)
    everywhere[columns] = coef
    return everywhere, b0 * unit


def _smoothed_slopes(form: CompositeForm, z: Vector, mu: float) -> Vector:
    """Return the slopes of the smoothed, weighted losses in z."""
    t = form.direction * z + form.offset
    s = np.empty_like(t)
    for curve, rows in form.losses:
        s[rows] = (t[rows] - curve.prox(t[rows], mu)) / mu
    return np.asarray(form.weight * form.direction * s)


def _largest_squared_singular_value(
    design: Design, weight: Vector, intercept: float, seed: int
) -> float:
    """Return a little more than ``|sqrt(weight) [X, intercept]|^2``."""
    rng = np.random.default_rng(seed)
    v, v0 = rng.standard_normal(design.n_features), float(intercept > 0)
    size = 1.0
    for _ in range(_POWER_ITERATIONS):
        checkpoint()
        length = float(np.sqrt(v @ v + v0 * v0))
        if length == 0.0:
            break
        v, v0 = v / length, v0 / length
        u = weight * (design.dot(v) + intercept * v0)
        v, v0 = design.tdot(u), intercept * float(u.sum())
        size = float(np.sqrt(v @ v + v0 * v0))
    return 1.05 * size + 1e-300
