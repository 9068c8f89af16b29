"""What a fit was given, and the problems that it solves; labels become two-class problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from rectiline._typing import Indices, Mask, Vector
from rectiline.constraints import Constraint
from rectiline.estimators._fairness import FairnessData
from rectiline.estimators._rows import count_labels
from rectiline.losses import Loss
from rectiline.problems.blocks import Encoding
from rectiline.solvers import RowSample

_EQUAL_SCORES = 1e-10  # relative distance; samples on the margin of two classes tie


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
    output : int
        Column of y that it is about.
    """

    loss: Loss
    targets: Any
    samples: Indices | None = None
    C: float = 1.0
    unit: float | None = None
    output: int = 0


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
    scale: Any = None  # of the residuals, where a default depends on it
    total: float = 1.0  # weight of all samples, where the objective is a mean
    sample: RowSample | None = None  # of a first look: held, so that the solver finds it again
    split_params: Mapping[str, Any] = field(default_factory=dict)  # what a splitter gets
    joint: Any = None  # what a fit of several quantiles in one problem came to

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0] if self.rows is None else self.rows.n_rows)

    def kept_weight(self, keep: Mask | None = None) -> float:
        """Return the weight of the samples that are kept."""
        if self.rows is not None:
            return self.total
        return float((self.weight if keep is None else self.weight[keep]).sum())

    def loss_weights(self, task: Task, factor: float, keep: Mask | None) -> Vector:
        """Return the weights of the losses of a task, zero for samples that are not kept."""
        at = slice(None) if task.samples is None else task.samples
        weight: Vector = factor * self.loss_weight[at]
        return weight if keep is None else np.where(keep[at], weight, 0.0)

    def dual_coef(self, solutions: Sequence[Any]) -> NDArray[np.float64]:
        """Return the multipliers of the samples, one row for each task."""
        found = np.zeros((len(solutions), self.n_samples))
        for row, task, one in zip(found, self.tasks, solutions, strict=True):
            row[slice(None) if task.samples is None else task.samples] = one.dual.sample
        return found


# ---- classes ------------------------------------------------------------------------------------


def find_classes(y: NDArray[Any], weight: Vector) -> tuple[NDArray[Any], Indices]:
    """Return the labels that have weight, and the position of each sample's label (-1 if none)."""
    # Whole numbers and texts are labels, others may not be.
    is_whole = y.dtype.kind == "f" and (y == y.astype(np.int64)).all()
    if y.dtype.kind not in "biuSU" and not is_whole:
        check_classification_targets(y)
    classes = np.unique(y if (weight > 0).all() else y[weight > 0])
    if classes.size < 2:
        count = "one class only" if classes.size else "none"
        raise ValueError(
            "y must have at least two classes with positive sample weight; it has "
            f"{count}: {classes.tolist()}."
        )
    places = np.searchsorted(classes, y).clip(0, classes.size - 1)
    return classes, np.where(classes[places] == y, places, -1)


def class_weights(
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    places: Indices,
    weight: Vector,
) -> Vector:
    """Return sample weights times the weights of their classes."""
    if class_weight is None:
        return weight
    known = places >= 0
    if isinstance(class_weight, str):  # "balanced": each class gets the same total
        totals = np.bincount(places[known], weight[known], minlength=classes.size)
        factors = totals.sum() / (classes.size * totals)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes)
    return np.where(known, weight * factors[places], weight)


def with_class_tasks(
    data: FitData, loss: Loss, class_weight: Any, multi_class: str, C: float
) -> FitData:
    """Return the data with their tasks: one for two classes, else one-vs-rest or one-vs-one.

    The labels of rows in blocks are found in one pass; each is like a sample of their total weight.
    """
    y, weight = (data.y, data.weight) if data.rows is None else count_labels(data.rows)
    classes, places = find_classes(y, weight)
    weighted = class_weights(class_weight, classes, places, weight)
    pairs = _class_pairs(classes.size, multi_class)
    if data.rows is None:
        tasks = []
        for positive, negative in pairs:
            samples, own = None, places
            if negative is not None and classes.size > 2:
                samples = np.flatnonzero((places == positive) | (places == negative))
                own = places[samples]
            tasks.append(Task(loss, np.where(own == positive, 1.0, -1.0), samples, C))
        return replace(data, tasks=tasks, classes=classes, loss_weight=weighted)
    labels, known = tuple(classes.tolist()), places >= 0
    factors = tuple((weighted[known] / weight[known]).tolist())
    encodings = [Encoding(loss.of, labels, *pair, factors) for pair in pairs]
    if loss.of == "margin" and class_weight is None and y.size == 2:
        encodings = [Encoding("margin", labels)]
    return replace(data, tasks=[Task(loss, one, C=C) for one in encodings], classes=classes)


def _class_pairs(n_classes: int, multi_class: str) -> list[tuple[int, int | None]]:
    """Return the positive and the negative class of each problem; None stands for all others."""
    if n_classes == 2:
        return [(1, 0)]
    if multi_class == "ovr":
        return [(place, None) for place in range(n_classes)]
    # As in scikit-learn, a positive value votes for the first class of the pair.
    return list(combinations(range(n_classes), 2))


def first_largest(scores: NDArray[Any]) -> Indices:
    """Return the class with the largest score along the last axis, of several the first.

    Samples that sit on the margins of two classes have equal scores up to rounding, which depends
    on how many rows are multiplied at once; the choice must not.
    """
    top = scores.max(axis=-1, keepdims=True)
    near = scores >= top - _EQUAL_SCORES * np.maximum(np.abs(top), 1.0)
    return np.asarray(np.argmax(near, axis=-1), dtype=np.intp)
