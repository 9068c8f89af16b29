"""What a fit was given, and the problems that it solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.backends import Design
from rectiline.constraints import Constraint
from rectiline.estimators._fairness import FairnessData, bound_constraints
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.problems.blocks import Encoding
from rectiline.rows import RowBlocks
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
    targets: Vector | Encoding | None
    samples: NDArray[np.intp] | None = None
    C: float = 1.0
    unit: float | None = None


@dataclass(frozen=True, eq=False)
class FitData:
    """What a fit was given, checked: arrays, or rows in blocks in their place."""

    constraints: list[Constraint]
    X: Any = None
    y: Any = None
    design: Design | None = None
    weight: Vector | None = None
    is_weighted: bool = False  # whether these weights were given
    groups: FairnessData | None = None
    rows: RowBlocks | None = None
    tasks: Sequence[Task] = ()
    loss_weight: Vector | None = None  # times the weights of classes
    classes: NDArray[Any] | None = None
    places: NDArray[np.intp] | None = None  # of each sample's label among the classes
    scale: Vector | None = None  # of the residuals, where a default depends on it
    total: float = 1.0  # weight of all samples, where the objective is a mean
    sample: RowSample | None = None  # that defaults come from; the solver starts on it, too
    joint: Any = None  # what a fit of several quantiles in one problem came to

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.rows.n_rows if self.rows is not None else int(self.X.shape[0])

    def loss_weights(self, task: Task, factor: float, keep: Mask | None) -> Vector:
        """Return the weights of the losses of a task, zero for samples that are not kept."""
        assert self.loss_weight is not None
        at = slice(None) if task.samples is None else task.samples
        weight = factor * self.loss_weight[at]
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
        targets: Any = task.targets
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
