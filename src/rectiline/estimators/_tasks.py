"""What a fit was given, and the problems that it solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.constraints import Constraint
from rectiline.estimators._fairness import FairnessData, bound_constraints
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.solvers import RowSample

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

__all__ = ["FitData", "Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """One problem of a fit.

    Attributes
    ----------
    loss : Loss
    targets : ndarray, or Encoding or None for rows in blocks
        Numbers, or how rows get theirs.
    samples : ndarray of int or None
        The samples it has, if not all.
    C : float
        Weight of the losses.
    unit : float or None
        Scale of y that a penalty with terms of two units is relative to.
    """

    loss: Loss
    targets: Any
    samples: NDArray[np.intp] | None = None
    C: float = 1.0
    unit: float | None = None


@dataclass(frozen=True, eq=False)
class FitData:
    """What a fit was given, checked, and what it found out before solving.

    Arrays have a `design` and weights; rows in blocks have `rows` in their place.
    """

    constraints: list[Constraint]
    X: Any = None
    y: Any = None
    design: Any = None
    weight: Any = None
    is_weighted: bool = False  # whether these weights were given
    groups: FairnessData | None = None
    rows: Any = None
    tasks: Sequence[Task] = ()
    loss_weight: Any = None  # times the weights of classes
    classes: Any = None
    places: Any = None  # of each sample's label among the classes
    scale: Any = None  # of the residuals, where a default depends on it
    total: float = 1.0  # weight of all samples, where the objective is a mean
    sample: RowSample | None = None  # that defaults come from; the solver starts on it, too
    joint: Any = None  # what a fit of several quantiles in one problem came to

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0] if self.rows is None else self.rows.n_rows)

    def loss_weights(self, task: Task, factor: float, keep: Mask | None) -> Vector:
        """Return the weights of the losses of a task, zero for samples that are not kept."""
        at = slice(None) if task.samples is None else task.samples
        weight: Vector = factor * self.loss_weight[at]
        return weight if keep is None else np.where(keep[at], weight, 0.0)

    def problem(
        self,
        task: Task,
        penalty: Penalty | None,
        factor: float,
        keep: Mask | None,
        fit_intercept: bool,
        names: NDArray[Any] | None,
    ) -> Problem:
        """Return the problem of a task; weights of rows in blocks are as they were given."""
        targets = task.targets
        if self.rows is not None:
            return Problem.on_encoded_rows(
                self.rows, task.loss, targets, penalty, self.constraints, fit_intercept
            )
        positive = None if self.classes is None else targets > 0
        return Problem(
            self.design if task.samples is None else self.X[task.samples],
            targets,
            loss=task.loss,
            penalty=penalty,
            constraints=bound_constraints(self.constraints, self.groups, positive, keep),
            sample_weight=self.loss_weights(task, factor, keep),
            fit_intercept=fit_intercept,
            feature_names=names,
        )
