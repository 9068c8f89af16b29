"""When coordinate ascent is worth a try before a Newton matrix, and for how long; for `auto`."""

from __future__ import annotations

import numpy as np

from rectiline._costs import SECONDS_PER_ENTRY_SWEPT, SECONDS_PER_ROW_SWEPT
from rectiline.problems.forms import RectifiedForm
from rectiline.solvers._base import Stage
from rectiline.solvers.rehline import Rehline

__all__ = ["first_try", "is_easy", "is_near", "is_trivial"]

_EASY = 0.12  # difficulty per squared column
_LEAST_SHARE = 0.125  # of the difficulty, that rare classes leave
_FEW_ROWS, _WARM = 25, 10.0  # rows per column; difficulty that a warm start makes up for
_SPARSE_SWEEPS = 3.0  # times as many: the others gain less from zeros


def is_easy(form: RectifiedForm) -> bool:
    """Whether coordinate ascent is worth a try before a Newton matrix of `d` columns.

    Measured. On losses with kinks a Newton method takes many steps, most on few rows; on others it
    takes few steps, each with the squares of all rows. Either way its steps grow with d squared,
    sweeps with d.
    """
    squared = _EASY * form.design.n_features**2
    most = max(200.0, squared) if form.slope_width()[1] else squared - 200.0
    return most > 0 and _difficulty(form) <= most


def is_trivial(form: RectifiedForm) -> bool:
    """Whether a handful of sweeps will do, however many rows there are.

    Measured on kddcup99 (494,020 x 116, weights 1/n): 6 sweeps, a quarter of the time of `newton`
    on samples. On normal numbers (100,000 x 40, 300,000 x 20), twice as difficult, newton is
    faster.
    """
    return form.slope_width()[1] and _difficulty(form) <= 0.5 * form.design.n_features


def is_near(form: RectifiedForm) -> bool:
    """Whether a few sweeps may do from a neighbouring solution: kinks, and few rows per column.

    Measured on paths of 3,000 x 200: Newton's method takes twenty steps at each strength there.
    """
    n, d = form.design.n_samples, form.design.n_features
    few = form.columns.strongly_convex and n < _FEW_ROWS * d and d <= n
    hard = _WARM * max(200.0, _EASY * d**2)
    return few and form.slope_width()[1] and _difficulty(form) <= hard


def first_try(form: RectifiedForm, least: float = 0.0) -> Stage:
    """Return coordinate ascent for about as long as another solver takes, `least` seconds at least.

    That solver is Newton's method, or one that spends so many seconds on small problems as well.
    """
    d = form.design.n_features
    # What a Newton method costs, in sweeps.
    patience = 10.0 + 0.5 * d if form.slope_width()[1] else 4.0 + d / 12.0
    patience *= _SPARSE_SWEEPS if form.design.is_sparse else 1.0
    sweep = (
        SECONDS_PER_ENTRY_SWEPT * form.design.n_stored
        + SECONDS_PER_ROW_SWEPT * form.design.n_samples
    )
    patience = max(patience, least / sweep)
    return Stage(Rehline(patience=patience), "rehline: a try, as the penalty looks strong")


def _difficulty(form: RectifiedForm) -> float:
    """Return how stiff the dual is: total weight times squared row length over the ridge part.

    Sweeps of coordinate ascent grow with it. Where one class is rare, most rows of the other are
    beyond the kink: what counts is about twice the weight of the rare one. An eighth at least:
    from there on sweeps grow all the same (sylva_prior, creditcard, normal numbers).
    """
    width, _ = form.slope_width()
    total = form.total_weight * width / form.argument_scale()
    rare = 1.0 - abs(float(form.weight @ form.direction)) / form.total_weight
    if rare > 1e-12:  # residuals have one direction
        total *= max(rare, _LEAST_SHARE)
    return total * form.design.mean_row_square(1.0 / np.maximum(form.columns.rho, 1e-300))
