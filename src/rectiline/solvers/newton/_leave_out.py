"""From the answers on all samples to those without some of them, at many strengths at once.

For losses and penalties without kinks. Leaving out samples takes from the gradient what these
samples added to it, and from the Newton matrix likewise. A Newton step from the answer on all
samples leaves an error of second order:

    b' = b + (H - H of the samples left out + diag(rho))^-1  (sum of their gradients)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from rectiline import _core
from rectiline.problems import Problem, gather_all, predict_all

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Factor = tuple[Matrix, Vector]

__all__ = ["LeaveOut", "StepsTo"]

_ROWS_PER_COLUMN = 10  # from which on the answers on a part of the samples are nearby
_MOST_ENTRIES = 8_000_000  # of all matrices
_EVERY = 3  # strengths have one matrix; those in between, what lies between two matrices
_RIDGES = (1e-12, 1e-8, 1e-4)  # against the diagonal, until there is a factor


class LeaveOut:
    """Answers on all samples, from which steps lead to those on parts.

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
    >>> answers = LeaveOut(
    ...     problem, np.ones((1, 2)), found.coef[None], np.array([found.intercept]), z[None]
    ... )
    >>> few = rl.Problem(X, y, loss=rl.losses.Huber(), sample_weight=np.arange(200) >= 20)
    >>> coefs, _ = answers.to(few).step()
    >>> bool(abs(coefs[0] - rl.solve(few).coef).max() < 0.05 * abs(coefs[0] - found.coef).max())
    True
    """

    def __init__(
        self, problem: Problem, rho: Matrix, coefs: Matrix, intercepts: Vector, predictions: Matrix
    ) -> None:
        self.problem, self.rho = problem, rho
        self.coefs, self.intercepts = coefs, intercepts
        self._slopes = problem.rows.slopes_of_many(predictions)
        self._gradients = self.gradients(self._slopes, coefs, rho)
        self._predictions = np.ascontiguousarray(predictions[::_EVERY])
        self._matrices = self._grams(problem.weight)

    @staticmethod
    def accepts(problem: Problem, n_strengths: int) -> bool:
        """Whether steps are defined for such a problem, and likely to be good."""
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

    def to(self, part: Problem) -> StepsTo:
        """Return the steps to the answers on a part of the samples."""
        weight = self.problem.weight
        gone = weight - part.weight
        changed = np.flatnonzero(gone)
        share = gone[changed] / np.where(weight[changed] > 0, weight[changed], 1.0)
        slopes = self._slopes[:, changed] * share
        gradients = self._gradients.copy()
        d = part.n_features
        gradients[:, :d] -= slopes @ self.problem.design.X[changed]
        if part.fit_intercept:
            gradients[:, d] -= slopes.sum(axis=1)
        return StepsTo(self, part, gradients, self._matrices - self._grams(gone))

    def gradients(self, slopes: Matrix, coefs: Matrix, rho: Matrix) -> Matrix:
        """Return the gradients at some coefficients, given the slopes of the samples there."""
        gradients = gather_all(self.problem.design, slopes) + rho * coefs
        if not self.problem.fit_intercept:
            return gradients
        return np.column_stack([gradients, slopes.sum(axis=1)])

    def _grams(self, weight: Vector) -> NDArray[np.float64]:
        problem = self.problem
        return _core.path_grams(
            problem.design.by_rows.view,
            problem.rows,
            weight,
            self._predictions,
            problem.fit_intercept,
            1,
        )


class StepsTo:
    """Newton steps from the answers on all samples to those on a part of them."""

    def __init__(
        self, answers: LeaveOut, part: Problem, gradients: Matrix, matrices: NDArray[np.float64]
    ) -> None:
        self._answers, self._part, self._gradients = answers, part, gradients
        self._factors: list[Factor] = []
        for k, rho in enumerate(answers.rho):
            before, share = divmod(k, _EVERY)
            after = min(before + 1, len(matrices) - 1)
            H = matrices[before] + (share / _EVERY) * (matrices[after] - matrices[before])
            self._factors.append(_factored(H, rho))

    def step(self) -> tuple[Matrix, Vector]:
        """Return coefficients and intercepts after one step."""
        answers = self._answers
        return _moved(answers.coefs, answers.intercepts, self._gradients, self._factors)

    def step_again(
        self, which: Sequence[int], coefs: Matrix, intercepts: Vector
    ) -> tuple[Matrix, Vector]:
        """Return them for some of the strengths, after a step from where they are."""
        part, answers = self._part, self._answers
        slopes = part.rows.slopes_of_many(predict_all(part.design, coefs, intercepts))
        gradients = answers.gradients(slopes, coefs, answers.rho[list(which)])
        return _moved(coefs, intercepts, gradients, [self._factors[k] for k in which])


def _factored(H: Matrix, rho: Vector) -> Factor:
    """Return a factor of ``H + diag(rho)``, scaled to a unit diagonal, and the scale."""
    diagonal = H.reshape(-1)[:: len(H) + 1]
    diagonal[: rho.size] += rho
    unit = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
    H *= unit
    H *= unit[:, None]
    for ridge in _RIDGES:
        diagonal += ridge
        factor, failed = dpotrf(H, lower=1)
        if not failed:
            return factor, unit
    return np.eye(len(H)), np.zeros(len(H))  # no step


def _moved(
    coefs: Matrix, intercepts: Vector, gradients: Matrix, factors: Sequence[Factor]
) -> tuple[Matrix, Vector]:
    steps = np.empty_like(gradients)
    for k, (factor, unit) in enumerate(factors):
        steps[k] = unit * dpotrs(factor, unit * gradients[k], lower=1)[0]
    d = coefs.shape[1]
    if steps.shape[1] > d:
        intercepts = intercepts - steps[:, d]
    return coefs - steps[:, :d], intercepts
