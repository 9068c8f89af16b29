"""The steps of a matrix factorisation: the best users for given items, or items for given users.

`MatrixFactorization` takes them in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.constraints import Constraint
from rectiline.losses import Loss, PiecewiseLQ
from rectiline.penalties import Ridge
from rectiline.problems import Problem
from rectiline.solvers import solve

__all__ = ["Ratings", "Side", "best_constant"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


class Side:
    """The ratings of each user, or of each item."""

    def __init__(self, at: NDArray[np.intp], count: int) -> None:
        self.order = np.argsort(at, kind="stable")
        self.ends = np.searchsorted(at[self.order], np.arange(count + 1))

    def rows(self, k: int) -> NDArray[np.intp]:
        """Return the ratings of user or item k."""
        return self.order[self.ends[k] : self.ends[k + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """What the ratings pay: a loss of the residual, or one of two of them by label."""

    targets: Vector
    weight: Vector
    losses: list[Loss]
    index: NDArray[np.intp]
    tol: float

    @classmethod
    def of(cls, targets: Vector, weight: Vector, loss: Loss, classes: Any, tol: float) -> Ratings:
        """Return ratings; a margin ``y z`` is the residual ``0 - z`` of a loss for each label."""
        if classes is None:
            return cls(targets, weight, [loss], np.zeros(targets.size, dtype=np.intp), tol)
        knots, pieces = loss.curve.knots, loss.curve.pieces()
        mirrored = PiecewiseLQ(-knots[::-1], pieces[::-1] * np.array([1.0, -1.0, 1.0]))
        losses: list[Loss] = [PiecewiseLQ.from_curve(loss.curve, "residual"), mirrored]
        return cls(np.zeros(targets.size), weight, losses, (targets > 0).astype(np.intp), tol)

    def minimise(
        self,
        side: Side,
        mine: Matrix,
        other: Matrix,
        at_other: NDArray[np.intp],
        rank: int,
        constraints: list[Constraint],
    ) -> tuple[float, float]:
        """Set the vectors of one side to their best values; return the objective and its gap."""
        value = gap = 0.0
        for k in range(len(mine)):
            rows = side.rows(k)
            factors = other[at_other[rows]]
            y = self.targets[rows] - factors[:, rank:].sum(axis=1)
            factors[:, rank:] = 1.0  # what the own bias is multiplied with
            problem = Problem(
                factors,
                y,
                self.losses,
                Ridge(1.0),
                constraints,
                self.weight[rows],
                fit_intercept=False,
                loss_index=self.index[rows],
            )
            solution = solve(problem, tol=self.tol)
            mine[k] = solution.coef
            value += solution.objective
            gap += solution.certificate.gap
        return value, gap


def best_constant(y: Vector, loss: Loss, weight: Vector) -> float:
    """Return the constant prediction with the least loss."""
    problem = Problem(np.zeros((y.size, 1)), y, loss, Ridge(1.0), (), weight, True)
    return float(solve(problem).intercept)
