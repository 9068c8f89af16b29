"""Weights of an L1 penalty from a first fit, for estimators and for `rectiline.paths` itself."""

from __future__ import annotations

import math

import numpy as np

from rectiline._typing import Vector
from rectiline.penalties import Columnwise
from rectiline.problems import Problem
from rectiline.solvers import solve

# Share of the curvature of the losses in a column: coefficients shrink by about a hundredth.
_RIDGE = 1e-2
_LEAST_SHARE = 1e-4  # weights grow no further below this share of the largest contribution
_TOL = 1e-4


def adaptive_weights(problem: Problem, power: float = 1.0) -> Vector:
    """Return weights for `rectiline.penalties.L1` that are small where a first fit is large.

    The first fit has the losses and constraints of the problem and a weak ridge penalty in the unit
    of each column. A column with coefficient ``p_j`` there gets the weight
    ``(max_k |p_k| / |p_j|) ** power``; one that moves the predictions by less than 1e-4 of what the
    strongest column does gets the weight of that share. The adaptive lasso of Zou (2006) is ``L1``
    with these weights: it shrinks large coefficients less than small ones.

    Parameters
    ----------
    problem : Problem
        Its penalty plays no role.
    power : float, default=1.0
        Positive and finite.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [2.0, 0.5, 0.0] + 0.1 * rng.normal(size=200)
    >>> problem = rl.Problem(X, y, "squared_error", penalty="l1")
    >>> weights = rl.paths.adaptive_weights(problem)
    >>> weights[:2].round(1), bool(weights[2] > 100)
    (array([1. , 4.1]), True)
    """
    if not (isinstance(power, int | float) and 0.0 < power < math.inf):
        raise ValueError(f"power={power!r}: must be a positive, finite number.")
    means = problem.column_means if problem.fit_intercept else 0.0
    variance = np.maximum(problem.column_mean_squares - np.square(means), 0.0)
    used = variance > 1e-14 * problem.column_mean_squares
    curvature = float(problem.weight.sum()) * problem.slope_width[0] / problem.argument_scale
    ridge = _RIDGE * curvature * np.where(used, variance, 1.0)
    first = solve(problem.with_penalty(Columnwise(np.zeros(ridge.size), ridge)), tol=_TOL)
    size, spread = np.abs(first.coef), np.sqrt(np.where(used, variance, 1.0))
    least = _LEAST_SHARE * float(np.max(size * spread * used, initial=0.0))
    size = np.where(used, np.maximum(size, least / spread), 0.0)
    largest = float(size.max(initial=0.0))
    if largest == 0.0:
        return np.ones(size.size)
    ratio = np.where(used, largest / np.where(used, size, 1.0), 0.0)
    return np.where(used, ratio, ratio.max()) ** power
