"""The start of a Newton run: multipliers of a warm start, a stiffness that fits the data."""

from __future__ import annotations

import numpy as np

from rectiline._typing import Vector
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.solvers.newton._model import Model

__all__ = ["column_multipliers", "gentle_start"]


def column_multipliers(form: RectifiedForm, model: Model, b: Vector, warm: FormPoint) -> Vector:
    """Return what the kinked columns' own terms must pull with at the warm start."""
    gradient = np.zeros(model.order)
    gradient[: model.d] = form.design.tdot(np.ascontiguousarray(warm.sample))
    pull = -model.contract(gradient) - model.rho * b
    if model.n_constraints:
        pull += model.rows.T @ (warm.constraint * model.row_norm)
    k = model.kinked
    # Beyond an l1 term only a bound can pull, and only outwards.
    most = np.where(np.isfinite(model.upper[k]), np.inf, model.l1[k])
    least = np.where(np.isfinite(model.lower[k]), -np.inf, -model.l1[k])
    return np.clip(pull[k], least, most)


def gentle_start(form: RectifiedForm, model: Model) -> float:
    """Return a growth at which one row's envelope is about as stiff as the ridge part.

    With about as many columns as rows the data can be fitted exactly, and multipliers are tiny
    against their boxes: a start in units of the boxes would be far too stiff.
    """
    row = form.design.mean_row_square(1.0 / form.columns.rho)
    stiffness = model.total_width / (model.argument_scale * form.design.n_samples)
    return 10.0 / max(stiffness * row, 1e-300)
