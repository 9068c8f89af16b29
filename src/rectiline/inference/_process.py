"""All regression quantiles of a sample at once: the process in the level.

For every level between 0 and 1 some p samples lie on the fitted plane and determine its p
coefficients. As the level moves, the multipliers of these samples move linearly; where one of them
meets an end of its range, the sample leaves for another one and the coefficients jump (Koenker and
d'Orey, "Computing regression quantiles", Applied Statistics 36, 1987). Between two such levels the
coefficients are constant, so that finitely many of them are the whole process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline import _core
from rectiline._typing import Matrix, Vector
from rectiline.inference._near_rows import independent_rows
from rectiline.losses import Pinball
from rectiline.problems import Problem

_FIRST_LEVEL = 0.5
_STEPS_PER_SAMPLE = 1000
_JITTER_SHARE = 1e-11  # of the spread of y; no two samples then reach the plane at once
_EQUAL_COEF_SHARE = 1e-9  # share of the largest scaled coefficient within which neighbours are one
_SHORTEST_INTERVAL = 1e-12  # interval of levels that is more than rounding
_SYSTEMS_AT_ONCE = 4096


@dataclass(frozen=True)
class QuantileProcess:
    """The coefficients of a linear quantile regression at every level.

    Attributes
    ----------
    levels : ndarray of shape (m + 1,)
        Where the coefficients change, from 0 to 1.
    coef : ndarray of shape (m, n_features)
        Row k holds the coefficients between ``levels[k]`` and ``levels[k + 1]``.
    intercept : ndarray of shape (m,)
        The intercepts there; zeros without an intercept.
    """

    levels: Vector = field(repr=False)
    coef: Matrix = field(repr=False)
    intercept: Vector = field(repr=False)

    def __repr__(self) -> str:
        return f"QuantileProcess({self.intercept.size} intervals, {self.coef.shape[1]} features)"

    def _interval(self, level: ArrayLike) -> Any:
        at = np.asarray(level, dtype=np.float64)
        if not ((at > 0) & (at < 1)).all():
            raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}.")
        return np.searchsorted(self.levels[1:-1], at, side="right")

    def coef_at(self, level: ArrayLike) -> Any:
        """Return the coefficients at a level, or one row for each of several levels.

        At a level where they change, those above it are returned.
        """
        return self.coef[self._interval(level)]

    def intercept_at(self, level: ArrayLike) -> Any:
        """Return the intercept at a level, or at each of several levels."""
        return self.intercept[self._interval(level)]


def quantile_process(
    X: Any, y: ArrayLike, *, fit_intercept: bool = True, sample_weight: ArrayLike | None = None
) -> QuantileProcess:
    """Return the linear quantile regressions of y on X at all levels between 0 and 1.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n_samples, n_features)
        With linearly independent columns, the intercept's column of ones among them.
    y : array_like of shape (n_samples,)
    fit_intercept : bool, default=True
    sample_weight : array_like of shape (n_samples,), optional

    Returns
    -------
    QuantileProcess

    Notes
    -----
    The number of levels at which coefficients change grows a little faster than the number of
    samples, and each change costs a product with X: up to about 10,000 samples take seconds.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> process = rl.quantile_process(x, [0.0, 2.0, 1.0, 4.0, 3.0])
    >>> process.levels
    array([0. , 0.2, 0.6, 1. ])
    >>> process.coef_at(0.5)
    array([0.75])
    """
    loss = Pinball(_FIRST_LEVEL)
    problem = Problem(X, y, loss, None, (), sample_weight, fit_intercept)
    used = problem.weight > 0
    rows = problem.design.dense_columns(np.arange(problem.n_features))[used]
    if fit_intercept:
        rows = np.column_stack([rows, np.ones(rows.shape[0])])
    return _follow(rows, problem.offset[used], problem.weight[used], fit_intercept)


def _follow(rows: Matrix, y: Vector, weight: Vector, fit_intercept: bool) -> QuantileProcess:
    n, p = rows.shape
    scale = np.sqrt((rows**2).mean(axis=0))
    scale[scale == 0] = 1.0
    columns = np.ascontiguousarray((rows / scale).T)
    spread = float(np.abs(y - np.median(y)).max()) or 1.0
    first = independent_rows(columns, np.abs(y - np.median(y)))
    if first is None:
        raise ValueError(
            f"X: the {p} columns{' with the intercept' if fit_intercept else ''} must be linearly "
            f"independent on the samples with weight."
        )
    jitter = _JITTER_SHARE * spread * np.random.default_rng(0).uniform(-1.0, 1.0, n)
    method = _core.QuantileBasis(columns, y + jitter)
    total = (1.0 - _FIRST_LEVEL) * (columns @ weight)
    parts = []
    for direction in (-1.0, 1.0):
        outcome, _, basis, _ = method.solve(weight, total, first, _STEPS_PER_SAMPLE * n)
        if outcome == "done":
            outcome, levels, bases = method.follow(_FIRST_LEVEL, direction, _STEPS_PER_SAMPLE * n)
        if outcome != "done":
            raise ArithmeticError(
                f"quantile_process: the basis is {outcome}; columns of X may be nearly dependent."
            )
        first = basis
        parts.append((levels, bases.reshape(-1, p)))
    (below, down), (above, up) = parts
    ends = np.concatenate([[0.0], below[:0:-1], above[1:], [1.0]])
    coef = _coefficients(columns, y, np.vstack([down[::-1], up[1:]]))
    # Intervals without length, and neighbours that differ by rounding, are none.
    long = np.diff(ends) > _SHORTEST_INTERVAL
    starts, coef = ends[:-1][long], coef[long]
    starts[0] = 0.0
    changes = np.abs(np.diff(coef, axis=0)).max(axis=1) > _EQUAL_COEF_SHARE * np.abs(coef).max()
    new = np.append(True, changes)
    coef = coef[new] / scale
    d = p - int(fit_intercept)
    intercept = coef[:, d] if fit_intercept else np.zeros(coef.shape[0])
    return QuantileProcess(np.append(starts[new], 1.0), coef[:, :d], intercept)


def _coefficients(columns: Matrix, y: Vector, bases: Any) -> Matrix:
    """Return the coefficients that each basis determines."""
    parts = [bases[at : at + _SYSTEMS_AT_ONCE] for at in range(0, len(bases), _SYSTEMS_AT_ONCE)]
    solve = np.linalg.solve
    return np.vstack([solve(columns.T[part], y[part][..., None])[..., 0] for part in parts])
