"""Classes: labels, weights of classes, and the two-class problems of a multiclass fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

Vector = NDArray[np.float64]

__all__ = ["TwoClassTask", "class_weights", "find_classes", "first_largest", "two_class_tasks"]

_TIE = 1e-10  # scores closer than this, relative, are one; samples on the margin of two classes tie


@dataclass(frozen=True, eq=False)
class TwoClassTask:
    """One problem with targets -1 and +1.

    Attributes
    ----------
    targets : ndarray of shape (n_kept,)
        -1 and +1.
    samples : ndarray of int or None
        The samples it has, if not all.
    """

    targets: Vector
    samples: NDArray[np.intp] | None = None


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
    places: NDArray[np.intp], n_classes: int, multi_class: str
) -> list[TwoClassTask]:
    """Return the problems of a fit: one for two classes, else one-vs-rest or one-vs-one."""
    if n_classes == 2:
        return [TwoClassTask(np.where(places == 1, 1.0, -1.0))]
    if multi_class == "ovr":
        return [TwoClassTask(np.where(places == k, 1.0, -1.0)) for k in range(n_classes)]
    tasks = []
    for first, second in combinations(range(n_classes), 2):
        samples = np.flatnonzero((places == first) | (places == second))
        # As in scikit-learn, a positive value votes for the first class of the pair.
        tasks.append(TwoClassTask(np.where(places[samples] == first, 1.0, -1.0), samples))
    return tasks


def first_largest(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class with the largest score along the last axis, of several the first.

    Samples that sit on the margins of two classes have equal scores up to rounding, which depends
    on how many rows are multiplied at once; the choice must not.
    """
    top = scores.max(axis=-1, keepdims=True)
    near = scores >= top - _TIE * np.maximum(np.abs(top), 1.0)
    return np.asarray(np.argmax(near, axis=-1), dtype=np.intp)
