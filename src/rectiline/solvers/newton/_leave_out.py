"""From the answers on all samples to those without some of them, at many strengths at once.

For losses and penalties without kinks. Leaving out samples changes the gradient by what these
samples added to it. A Newton step with the matrix of the answer on all samples, which they hardly
change, leaves an error of second order:

    b' = b + (share * H + diag(rho))^-1  (sum of the gradients of the samples left out)
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky

from rectiline import _core
from rectiline.problems import Problem, gather_all, predict_all

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Factors = list[tuple[Matrix, Vector]]

__all__ = ["LeaveOut"]

_ROWS_PER_COLUMN = 20  # from which on a part of the samples has nearly the same matrix
_MOST_ENTRIES = 8_000_000  # of all matrices
_SAME_SHARE = 0.02  # matrices of parts that differ by less than this serve each other
_RIDGES = (1e-12, 1e-8, 1e-4)  # against the diagonal, until there is a factor


class LeaveOut:
    """Newton steps to the answers on parts of the samples.

    Parameters
    ----------
    problem : Problem
        With all samples; see `accepts`.
    rho : ndarray of shape (k, n_features)
        Ridge strength of each column at each of the strengths.
    coefs : ndarray of shape (k, n_features)
        The answers.
    intercepts : ndarray of shape (k,)
    predictions : ndarray of shape (k, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.solvers import LeaveOut
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = X @ [1.0, -1.0] + rng.standard_normal(200)
    >>> problem = rl.Problem(X, y, loss=rl.losses.Huber())
    >>> found = rl.solve(problem)
    >>> z = X @ found.coef + found.intercept
    >>> steps = LeaveOut(
    ...     problem, np.ones((1, 2)), found.coef[None], np.array([found.intercept]), z[None]
    ... )
    >>> few = rl.Problem(X, y, loss=rl.losses.Huber(), sample_weight=np.arange(200) >= 20)
    >>> coefs, _ = steps.step(few)
    >>> bool(abs(coefs[0] - rl.solve(few).coef).max() < 0.1 * abs(coefs[0] - found.coef).max())
    True
    """

    def __init__(
        self, problem: Problem, rho: Matrix, coefs: Matrix, intercepts: Vector, predictions: Matrix
    ) -> None:
        self._problem, self._rho = problem, rho
        self._coefs, self._intercepts = coefs, intercepts
        self._slopes = problem.rows.slopes_of_many(predictions)
        self._gradients = self._gradient(self._slopes, coefs, rho)
        # Of every other strength: those in between are near the mean of their neighbours.
        some = np.ascontiguousarray(predictions[::2])
        rows = problem.design.by_rows
        grams = _core.path_grams(rows.view, problem.rows, some, problem.fit_intercept, 1)
        self._matrices = [
            grams[k // 2 : (k + 3) // 2].mean(axis=0) if k % 2 else grams[k // 2]
            for k in range(len(coefs))
        ]
        self._known: tuple[float, Factors] | None = None  # the last factors, and their share
        self._lock = Lock()

    @staticmethod
    def accepts(problem: Problem, n_strengths: int) -> bool:
        """Whether the step is defined for such a problem, and likely to be good."""
        columns, d = problem.columns, problem.n_features
        return (
            problem.is_separable
            and not problem.is_constrained
            and columns.strongly_convex
            and not columns.has_l1
            and not problem.slope_width[1]
            and problem.n_samples >= _ROWS_PER_COLUMN * d
            and n_strengths * d * d <= _MOST_ENTRIES
        )

    def step(self, part: Problem) -> tuple[Matrix, Vector]:
        """Return coefficients and intercepts on a part of the samples, by a step from all."""
        weight = self._problem.weight
        changed = np.flatnonzero(part.weight != weight)
        ratio = part.weight[changed] / np.where(weight[changed] > 0, weight[changed], 1.0)
        slopes = self._slopes[:, changed] * (ratio - 1.0)
        gradients = self._gradients.copy()
        d = part.n_features
        gradients[:, :d] += slopes @ self._problem.design.X[changed]
        if part.fit_intercept:
            gradients[:, d] += slopes.sum(axis=1)
        return _moved(self._coefs, self._intercepts, gradients, self._factors(part))

    def step_again(
        self, part: Problem, which: Sequence[int], coefs: Matrix, intercepts: Vector
    ) -> tuple[Matrix, Vector]:
        """Return the same for some of the strengths, by a step from where they are."""
        slopes = part.rows.slopes_of_many(predict_all(part.design, coefs, intercepts))
        gradients = self._gradient(slopes, coefs, self._rho[list(which)])
        factors = self._factors(part)
        return _moved(coefs, intercepts, gradients, [factors[k] for k in which])

    def _gradient(self, slopes: Matrix, coefs: Matrix, rho: Matrix) -> Matrix:
        gradient = gather_all(self._problem.design, slopes) + rho * coefs
        if not self._problem.fit_intercept:
            return gradient
        return np.column_stack([gradient, slopes.sum(axis=1)])

    def _factors(self, part: Problem) -> Factors:
        """Return the factored matrices for parts with this share of the weight."""
        share = float(part.weight.sum()) / float(self._problem.weight.sum())
        with self._lock:  # parts are solved in threads
            if self._known is None or abs(share - self._known[0]) > _SAME_SHARE * share:
                pairs = zip(self._matrices, self._rho, strict=True)
                self._known = share, [_factored(share * gram, rho) for gram, rho in pairs]
            return self._known[1]


def _factored(H: Matrix, rho: Vector) -> tuple[Matrix, Vector]:
    """Return a factor of ``H + diag(rho)``, scaled to a unit diagonal, and the scale."""
    diagonal = H.reshape(-1)[:: len(H) + 1]
    diagonal[: rho.size] += rho
    unit = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
    H *= unit
    H *= unit[:, None]
    for ridge in _RIDGES:
        diagonal += ridge
        try:
            return cholesky(H, lower=True, check_finite=False), unit
        except LinAlgError:
            continue
    return np.eye(len(H)), np.zeros(len(H))  # no step


def _moved(
    coefs: Matrix, intercepts: Vector, gradients: Matrix, factors: Factors
) -> tuple[Matrix, Vector]:
    steps = np.empty_like(gradients)
    for k, (factor, unit) in enumerate(factors):
        steps[k] = unit * cho_solve((factor, True), unit * gradients[k], check_finite=False)
    d = coefs.shape[1]
    if steps.shape[1] > d:
        intercepts = intercepts - steps[:, d]
    return coefs - steps[:, :d], intercepts
