"""`rehline` with ``variant="unit"``: one ReLU or ReHU at a time, as the paper has it.

The loop lives in ``rectiline/rehline/rehline_units.hpp``. This file starts it, and splits the
multiplier of each sample into those of its units for a warm start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems.forms import FormPoint, RectifiedForm

__all__ = ["split_sample_dual", "start_units"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def start_units(
    form: RectifiedForm, warm: FormPoint | None, *, shuffle: bool, shrink: bool, seed: int
) -> _core.RehlineUnits:
    """Return the loop at zero multipliers, or at those of `warm`."""
    if form.fit_intercept:
        raise UnsupportedProblemError(
            "Solver 'rehline' cannot take this problem with variant='unit': the paper's algorithm "
            "has no free intercept (fit_intercept=True). Use variant='sample', or "
            "fit_intercept=False."
        )
    if form.linear_rows.size:
        raise UnsupportedProblemError(
            "Solver 'rehline' cannot take this problem with variant='unit': a linear term is no "
            "sum of ReLU and ReHU units. Use variant='sample'."
        )
    loop = _core.RehlineUnits(
        form.design.by_rows.view,
        form.rows,
        [
            (one.relu_u, one.relu_v, one.rehu_s, one.rehu_t, one.rehu_tau, one.constant)
            for one in form.units
        ],
        form.columns.core,
        form.constraint_design.by_rows.view,
        form.constraint_offset,
        form.is_equality,
        shuffle,
        shrink,
        seed,
    )
    if warm is not None:
        loop.restart(*split_sample_dual(form, warm.sample), warm.constraint)
    return loop


def split_sample_dual(form: RectifiedForm, sample: Vector) -> tuple[Matrix, Matrix]:
    """Return the duals of the ReLUs (L, n) and of the ReHUs (H, n), scaled by the weights.

    Of all splits of a sample's multiplier, the one with the greatest dual value. Rows without
    weight have no units and keep zeros.
    """
    inside = sample.copy()
    form.rows.clip(inside)
    relu = np.zeros((max(one.n_relu for one in form.units), sample.size))
    rehu = np.zeros((max(one.n_rehu for one in form.units), sample.size))
    for k, units in enumerate(form.units):
        rows = form.weight > 0
        if form.loss_index is not None:
            rows &= form.loss_index == k
        weight = form.weight[rows]
        duals = units.split(form.direction[rows] * inside[rows] / weight)
        relu[: units.n_relu, rows] = duals[0].T
        rehu[: units.n_rehu, rows] = duals[1].T * np.sqrt(weight)
    return relu, rehu
