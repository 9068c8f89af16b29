"""Solves reduced problems whose penalty couples columns, by solvers that take such penalties."""

from __future__ import annotations

import time
import warnings

import numpy as np

from rectiline.exceptions import ConvergenceWarning
from rectiline.problems import DualPoint, Problem
from rectiline.problems.blocks import with_frozen_rows
from rectiline.solvers.passes._frozen import Frozen, Reduced

__all__ = ["solve_coupled"]


def solve_coupled(
    near: Problem, frozen: Frozen, objective: float, target: float, deadline: float
) -> Reduced:
    """Return the answer to the reduced problem, frozen rows stated as rows of a problem."""
    from rectiline.solvers import solve

    centre = (frozen.coef, frozen.intercept)
    whole = with_frozen_rows(
        near, centre, frozen.gradient, frozen.total, frozen.curvature, frozen.loss
    )
    size = abs(whole.objective(*centre))
    tol = float(np.clip(target * abs(objective) / max(size, 1e-300), 1e-13, 1e-2))
    left = deadline - time.perf_counter()
    with warnings.catch_warnings():  # what is proved on all rows decides
        warnings.simplefilter("ignore", ConvergenceWarning)
        answer = solve(whole, tol=tol, time_limit=max(left, 1e-3) if np.isfinite(left) else None)
    dual = DualPoint(
        answer.dual.sample[: near.n_samples], answer.dual.inequality, answer.dual.equality
    )
    gap = answer.certificate.relative_gap * size / max(abs(objective), 1e-300)
    return Reduced(answer.coef, answer.intercept, dual, answer.n_iter, gap)
