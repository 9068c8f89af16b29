"""Problems of estimators on rows in blocks: what `PLQClassifier` and `PLQRegressor` fit there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.constraints import Constraint
from rectiline.estimators._classes import class_weights
from rectiline.estimators._rows import count_labels
from rectiline.losses import Loss
from rectiline.problems.blocks import Encoding
from rectiline.rows import RowBlocks
from rectiline.solvers import RowSample

__all__ = ["RowTask", "RowsData", "classification_tasks"]


@dataclass(frozen=True, eq=False)
class RowTask:
    """One problem on the rows: its loss, and how rows get their targets (None: by the loss)."""

    loss: Loss
    encoding: Encoding | None = None
    samples: None = None  # every problem sees all rows; those without weight do not count


@dataclass(frozen=True, eq=False)
class RowsData:
    """What a fit on rows in blocks was given, checked."""

    rows: RowBlocks
    tasks: list[RowTask]
    C: list[float]
    constraints: list[Constraint]
    classes: NDArray[Any] | None = None
    scale: NDArray[np.float64] | None = None
    sample: RowSample | None = None  # that defaults come from; the solver starts on it, too
    X: None = None
    y: None = None
    groups: None = None
    is_multi: bool = False

    @property
    def losses(self) -> list[Loss]:
        """One loss for each problem."""
        return [task.loss for task in self.tasks]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.rows.n_rows


def classification_tasks(
    rows: RowBlocks, loss: Loss, class_weight: Any, multi_class: str
) -> tuple[NDArray[Any], list[RowTask]]:
    """Return the classes of the rows, found in one pass, and the problems of a fit."""
    found, mass = count_labels(rows)
    classes = found[mass > 0]
    if classes.size < 2:
        raise ValueError(
            "y must have at least two classes with positive sample weight; it has "
            f"{classes.size}: {classes.tolist()}."
        )
    mass = mass[mass > 0]
    weighted = class_weights(class_weight, classes, np.arange(classes.size), mass)
    factors = weighted / mass
    is_plain = loss.of == "margin" and class_weight is None and found.size == 2
    if is_plain:
        low, high = classes.tolist()
        return classes, [RowTask(loss, Encoding("margin", (low, high)))]
    pairs: Sequence[tuple[int, int | None]]
    if classes.size == 2:
        pairs = [(1, 0)]
    elif multi_class == "ovr":
        pairs = [(place, None) for place in range(classes.size)]
    else:  # as in scikit-learn, a positive value votes for the first class of the pair
        pairs = list(combinations(range(classes.size), 2))
    labels = tuple(classes.tolist())
    return classes, [
        RowTask(loss, Encoding(loss.of, labels, up, down, tuple(factors.tolist())))
        for up, down in pairs
    ]
