"""First guesses for column and constraint generation (Section 4.4 of the paper).

- `screened_columns`: the columns, or whole groups, most correlated with the slopes at zero;
- `smoothed_start`: the smoothed problem on screened columns, on all samples or on a subsample;
- averaging: the mean over a few subsamples, for n large.

The aim is the right set of columns and the right side of each knot, not accuracy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.backends import Design
from rectiline.problems.forms import CompositeForm
from rectiline.solvers.first_order._smooth import SmoothedDescent, spread_of_arguments

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["screened_columns", "smoothed_start", "zero_dual"]


def zero_dual(form: CompositeForm) -> tuple[float, Vector]:
    """Return the best intercept for zero coefficients, and balanced slopes there."""
    intercept = form.best_intercept(np.zeros(form.design.n_samples))
    g = form.rows.slopes(np.full(form.design.n_samples, intercept))
    if form.fit_intercept:
        form.rows.balance(g)
    return intercept, g


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
    if count >= score.size:
        return np.arange(score.size)
    return np.sort(np.argpartition(-score, count - 1)[:count])


def smoothed_start(
    form: CompositeForm,
    q: Vector,
    *,
    n_columns: int,
    n_samples: int,
    repeats: int = 1,
    smoothing: float = 0.3,
    iterations: int = 200,
    seed: int = 0,
) -> tuple[Vector, float]:
    """Return coefficients and intercept of the smoothed problem, averaged over subsamples."""
    n, d = form.design.n_samples, form.design.n_features
    rng = np.random.default_rng(seed)
    mu = smoothing * spread_of_arguments(form)
    coef, intercept = np.zeros(d), 0.0
    columns = screened_columns(form, q, n_columns)
    penalty = form.penalty_on(columns)
    for _ in range(repeats):
        samples = None if n_samples >= n else np.sort(rng.choice(n, n_samples, replace=False))
        weight = form.weight if samples is None else form.weight[samples]
        if not weight.any():
            continue
        share = float(weight.sum() / form.weight.sum())
        part = _part(form.design, samples, columns)
        descent = SmoothedDescent(form, part, samples, penalty.prox, weight / share, seed)
        descent.start_at(np.zeros(columns.size), form.best_intercept(np.zeros(n)))
        descent.run(iterations, mu, 1e-3)
        coef[columns] += descent.coef / repeats
        intercept += descent.intercept / repeats
    return coef, intercept


def _part(design: Design, samples: Indices | None, columns: Indices) -> Design:
    """Return the design on some rows and columns, copied so that products are fast."""
    X = design.X
    if samples is None and columns.size == design.n_features:
        return design
    if design.is_sparse:
        part = X if samples is None else X[samples]
        return Design(part[:, columns].tocsr())
    if samples is None:
        return Design(np.asfortranarray(X[:, columns]))
    return Design(np.asfortranarray(X[np.ix_(samples, columns)]))
