"""What a first pass finds out about the rows of a problem; proofs ask for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rectiline._typing import Vector
from rectiline.problems._problem import Problem
from rectiline.problems.blocks._pass import Totals

__all__ = ["RowFacts"]


@dataclass(frozen=True, slots=True, eq=False)
class RowFacts:
    """Sums over all rows that do not depend on an answer.

    Attributes
    ----------
    sizes : ndarray of shape (n_features,)
        Sum of ``weight_i |x_ij|`` for each column, or a bound on it.
    loss_at_zero : float
        Sum of the losses at zero coefficients and intercept.
    least_loss : float
        Sum of the smallest values of the losses.
    coef_unit : ndarray of shape (n_features,)
        What a coefficient must be to move the predictions by their typical size.
    """

    sizes: Vector
    loss_at_zero: float
    least_loss: float
    coef_unit: Vector

    @classmethod
    def in_memory(cls, problem: Problem) -> RowFacts:
        """Return the facts about a problem in memory, which take no pass."""
        columns = problem.design.norm_bounds.columns  # bounds the sizes, by Cauchy and Schwarz
        sizes = columns * float(np.linalg.norm(problem.weight))
        # The unit takes a look at X, and only constraints ask for it.
        unit = problem.coef_unit if problem.is_constrained else np.ones(problem.n_features)
        return cls(sizes, problem.loss_at_zero, problem.least_loss, unit)

    @classmethod
    def measured(cls, problem: Problem, totals: Totals, argument_scale: float = 1.0) -> RowFacts:
        """Return what a pass has measured; `argument_scale` is that of a sample of the rows."""
        sizes, weight = np.asarray(totals["sizes"]), float(totals["measured_weight"])
        least = weight * min(float(one.curve.minimum()[1]) for one in problem.losses)
        mean = sizes / max(weight, 1e-300)
        unit = np.where(mean > 0, argument_scale / np.where(mean > 0, mean, 1.0), 0.0)
        return cls(sizes, totals.loss_at_zero, least, unit)
