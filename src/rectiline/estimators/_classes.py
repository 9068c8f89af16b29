"""Classes: labels, weights of classes, and the two-class problems of a multiclass fit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from rectiline.estimators._rows import count_labels
from rectiline.estimators._tasks import Task
from rectiline.losses import Loss
from rectiline.problems.blocks import Encoding
from rectiline.rows import RowBlocks

Vector = NDArray[np.float64]

__all__ = [
    "class_weights",
    "find_classes",
    "first_largest",
    "two_class_row_tasks",
    "two_class_tasks",
]

_TIE = 1e-10  # scores closer than this, relative, are one; samples on the margin of two classes tie


def find_classes(y: NDArray[Any], weight: Vector) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the labels that have weight, and the position of each sample's label (-1 if none)."""
    # Whole numbers and texts are labels, others may not be.
    is_whole = y.dtype.kind == "f" and (y == y.astype(np.int64)).all()
    if y.dtype.kind not in "biuSU" and not is_whole:
        check_classification_targets(y)
    classes = np.unique(y if (weight > 0).all() else y[weight > 0])
    if classes.size < 2:
        raise ValueError(
            "y must have at least two classes with positive sample weight; it has one class only: "
            f"{classes.tolist()[0]!r}."
        )
    places = np.searchsorted(classes, y).clip(0, classes.size - 1)
    return classes, np.where(classes[places] == y, places, -1)


def class_weights(
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    places: NDArray[np.intp],
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


def two_class_tasks(
    loss: Loss, places: NDArray[np.intp], n_classes: int, multi_class: str, C: float
) -> list[Task]:
    """Return the problems of a fit: one for two classes, else one-vs-rest or one-vs-one."""
    tasks = []
    for positive, negative in _class_pairs(n_classes, multi_class):
        samples, labels = None, places
        if negative is not None and n_classes > 2:
            samples = np.flatnonzero((places == positive) | (places == negative))
            labels = places[samples]
        tasks.append(Task(loss, np.where(labels == positive, 1.0, -1.0), samples, C))
    return tasks


def two_class_row_tasks(
    rows: RowBlocks, loss: Loss, class_weight: Any, multi_class: str, C: float
) -> tuple[NDArray[Any], list[Task]]:
    """Return the classes of rows in blocks, found in one pass, and the problems of a fit."""
    found, mass = count_labels(rows)
    classes, mass = found[mass > 0], mass[mass > 0]
    if classes.size < 2:
        raise ValueError(
            "y must have at least two classes with positive sample weight; it has "
            f"{classes.size}: {classes.tolist()}."
        )
    labels = tuple(classes.tolist())
    if loss.of == "margin" and class_weight is None and found.size == 2:
        return classes, [Task(loss, Encoding("margin", labels), C=C)]
    weighted = class_weights(class_weight, classes, np.arange(classes.size), mass)
    factors = tuple((weighted / mass).tolist())
    pairs = _class_pairs(classes.size, multi_class)
    encodings = [Encoding(loss.of, labels, up, down, factors) for up, down in pairs]
    return classes, [Task(loss, encoding, C=C) for encoding in encodings]


def _class_pairs(n_classes: int, multi_class: str) -> list[tuple[int, int | None]]:
    """Return the positive and the negative class of each problem; None stands for all others."""
    if n_classes == 2:
        return [(1, 0)]
    if multi_class == "ovr":
        return [(place, None) for place in range(n_classes)]
    # As in scikit-learn, a positive value votes for the first class of the pair.
    return list(combinations(range(n_classes), 2))


def first_largest(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class with the largest score along the last axis, of several the first.

    Samples that sit on the margins of two classes have equal scores up to rounding, which depends
    on how many rows are multiplied at once; the choice must not.
    """
    top = scores.max(axis=-1, keepdims=True)
    near = scores >= top - _TIE * np.maximum(np.abs(top), 1.0)
    return np.asarray(np.argmax(near, axis=-1), dtype=np.intp)
