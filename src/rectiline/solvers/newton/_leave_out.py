"""From the answers on all samples to those without some of them, at many strengths at once.

For losses and penalties without kinks. Leaving out samples takes from the gradient what these
samples added to it, and from the Newton matrix likewise. A Newton step from the answer on all
samples leaves an error of second order:

    b' = b + (H - H of the samples left out + diag(rho))^-1  (sum of their gradients)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from rectiline import _core
from rectiline.problems import Problem, gather_slopes

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Factor = tuple[Matrix, Vector]

__all__ = ["LeaveOut", "StepsTo"]

_ROWS_PER_COLUMN = 10  # from which on the answers on a part of the samples are nearby
_MOST_ENTRIES = 8_000_000  # of all matrices
_MOST_GONE = 0.5  # of the samples: with more, the sums are made anew
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
    predictions : ndarray of shape (1 + (k - 1) // LeaveOut.every, n_samples)
        Those of the first answer and of every third one after it.

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

    every: ClassVar[int] = 3  # strengths have one matrix; those in between, what lies between two

    def __init__(
        self, problem: Problem, rho: Matrix, coefs: Matrix, intercepts: Vector, predictions: Matrix
    ) -> None:
        self.problem, self.rho = problem, rho
        self.coefs, self.intercepts = coefs, intercepts
        self._gradients = _gradients(problem, coefs, intercepts)
        self._gradients[:, : rho.shape[1]] += rho * coefs
        self._predictions = np.ascontiguousarray(predictions)
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
        gone = self.problem.weight - part.weight
        if not gone.any():
            return StepsTo(self, part, self._gradients, self._matrices.copy())
        if (gone < 0).any() or np.count_nonzero(gone) > _MOST_GONE * gone.size:
            gradients = _gradients(part, self.coefs, self.intercepts)
            gradients[:, : part.n_features] += self.rho * self.coefs
            return StepsTo(self, part, gradients, self._grams(part.weight))
        left = self.problem.with_sample_weight(gone)
        gradients = self._gradients - _gradients(left, self.coefs, self.intercepts)
        return StepsTo(self, part, gradients, self._matrices - self._grams(gone))

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
            before, share = divmod(k, answers.every)
            after = min(before + 1, len(matrices) - 1)
            H = matrices[before] + (share / answers.every) * (matrices[after] - matrices[before])
            self._factors.append(_factored(H, rho))

    def step(self) -> tuple[Matrix, Vector]:
        """Return coefficients and intercepts after one step."""
        answers = self._answers
        return _moved(answers.coefs, answers.intercepts, self._gradients, self._factors)

    def step_again(
        self, which: Sequence[int], coefs: Matrix, intercepts: Vector
    ) -> tuple[Matrix, Vector]:
        """Return them for some of the strengths, after a step from where they are."""
        gradients = _gradients(self._part, coefs, intercepts)
        gradients[:, : coefs.shape[1]] += self._answers.rho[list(which)] * coefs
        return _moved(coefs, intercepts, gradients, [self._factors[k] for k in which])


def _gradients(problem: Problem, coefs: Matrix, intercepts: Vector) -> Matrix:
    """Return the gradients of the losses at every pair, the intercept last."""
    pulls, totals = gather_slopes(problem, coefs, intercepts)
    return np.column_stack([pulls, totals]) if problem.fit_intercept else pulls


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
