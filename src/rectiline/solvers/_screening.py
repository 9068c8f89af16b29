"""First looks at a composite form, for solvers that generate columns.

The slopes of the losses at zero coefficients say which columns matter most (Section 4.4 of the
paper on column generation, see ``generation``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.problems.forms import CompositeForm, FormPoint


def spread_of_arguments(form: CompositeForm) -> float:
    """Return the unit in which smoothing is measured: 1 for margins, the spread of y otherwise."""
    offset = form.offset
    middle = float(np.median(offset))
    spread = float(np.average(np.abs(offset - middle), weights=form.weight))
    return spread if spread > 0 else 1.0


def zero_dual(form: CompositeForm) -> tuple[float, Vector]:
    """Return the best intercept for zero coefficients, and balanced slopes there."""
    intercept = form.best_intercept(np.zeros(form.design.n_samples))
    g = form.rows.slopes(np.full(form.design.n_samples, intercept))
    if form.fit_intercept:
        form.rows.balance(g)
    return intercept, g


def evaluated(form: CompositeForm, found: FormPoint) -> tuple[FormPoint, Vector, Vector]:
    """Return a point with multipliers treated as by a certificate, its predictions and q."""
    g = found.sample.copy()
    form.rows.clip(g)
    if form.fit_intercept and not form.free_columns.size:
        form.rows.balance(g)
    product, image = form.design.both(found.coef, g)
    q = form.rows_part(found.constraint) - image
    return replace(found, sample=g), product + found.intercept, q


def relative_gap(primal: float, gap: float) -> float:
    """Return a gap in units of the objective, or of its bound if that is larger."""
    return gap / max(abs(primal), abs(primal - gap), 1e-300)


def screened_columns(form: CompositeForm, q: Vector, count: int) -> Indices:
    """Return about `count` columns with the largest ``|q_j|``; whole groups where there are any."""
    if form.groups is not None:
        totals = np.array([np.abs(q[group]).sum() for group in form.groups])
        order = np.argsort(-totals, kind="stable")
        sizes = np.cumsum([form.groups[g].size for g in order])
        kept = order[: max(1, int(np.searchsorted(sizes, count)))]
        chosen = np.concatenate([form.groups[g] for g in kept])
        return np.union1d(chosen, form.free_columns)
    score = np.abs(q)
    if form.is_separable:
        l1 = form.columns.l1
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(l1 > 0, score / l1, np.inf)
    return largest(score, count, -np.inf)


def largest(values: Vector, limit: int, above: float) -> Indices:
    """Return the places, in order, of up to `limit` largest values greater than `above`.

    A value that is not a number comes from an overflow and counts as large.
    """
    found = np.flatnonzero(~(values <= above))
    if found.size > limit:
        found = np.sort(found[np.argpartition(-values[found], limit - 1)[:limit]])
    return found
