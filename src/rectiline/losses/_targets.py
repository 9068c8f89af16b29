"""Check the targets ``y`` and turn labels into signs, for losses that read them.

Checks name the loss, the argument, the first offending value and what is allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._numbers import place_of
from rectiline._typing import Vector


def as_vector(owner: object, y: ArrayLike) -> NDArray[Any]:
    """Return ``y`` as a non-empty one-dimensional array of its own dtype."""
    vector = np.asarray(y)
    if vector.ndim != 1:
        hint = " Use y.ravel()." if vector.ndim == 2 and 1 in vector.shape else ""
        raise ValueError(
            f"{owner}: y must be one-dimensional, with one entry for each sample, got shape "
            f"{vector.shape}.{hint}"
        )
    if vector.size == 0:
        raise ValueError(f"{owner}: y is empty; at least one sample is needed.")
    return vector


def as_numbers(owner: object, y: ArrayLike) -> Vector:
    """Return ``y``, of any shape, as finite float64 numbers."""
    array = np.asarray(y)
    odd = list(array.flat[:1]) if array.dtype.kind not in "biufO" else []
    if array.dtype.kind == "O":
        odd = [value for value in array.flat if not _is_number(value)][:1]
    if odd:
        raise ValueError(
            f"{owner}: y must hold finite numbers, got {_show(odd[0])} (dtype {array.dtype})."
        )
    numbers = array.astype(np.float64)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        raise ValueError(
            f"{owner}: y must hold finite numbers, but y{place_of(wrong)} is {numbers[wrong][0]}."
        )
    return numbers


def two_labels(owner: str, y: NDArray[Any]) -> NDArray[Any]:
    """Return the two distinct labels of ``y`` in increasing order."""
    _check_labels(owner, y)
    kind = y.dtype.kind
    if kind in "biuf":  # the usual case, without sorting all of y
        labels = np.array([y.min(), y.max()], dtype=y.dtype)
        if labels[0] != labels[1] and ((y == labels[0]) | (y == labels[1])).all():
            return labels
    try:
        labels = np.unique(y)
    except TypeError:
        types = sorted({type(v).__name__ for v in y.flat})
        raise ValueError(
            f"{owner}: the labels in y must be comparable, got the types {', '.join(types)}."
        ) from None
    if labels.size == 1:
        raise ValueError(
            f"{owner}: y has one class only, {_show(labels[0])}; a margin loss needs exactly two "
            f"distinct labels."
        )
    if labels.size != 2:
        shown = ", ".join(_show(v) for v in labels[:5]) + (", ..." if labels.size > 5 else "")
        raise ValueError(
            f"{owner}: y has {labels.size} distinct labels ({shown}); a margin loss needs exactly "
            f"two."
        )
    return labels


def as_signs(owner: str, y: ArrayLike) -> Vector:
    """Return -1 and +1 for ``y`` of any shape: signs already, or else two labels."""
    array = np.asarray(y)
    _check_labels(owner, array)
    if array.dtype.kind in "iuf" and ((array == 1) | (array == -1)).all():
        return array.astype(np.float64)
    labels = two_labels(owner, array)
    return np.where(array == labels[1], 1.0, -1.0)


def _check_labels(owner: str, y: NDArray[Any]) -> None:
    kind = y.dtype.kind
    if kind not in "biufOUST":
        raise ValueError(
            f"{owner}: y must hold labels (numbers, booleans or strings), got dtype {y.dtype}."
        )
    if kind == "f" and not np.isfinite(y).all():
        wrong = ~np.isfinite(y)
        raise ValueError(f"{owner}: y{place_of(wrong)} is {y[wrong][0]}; labels must be finite.")
    if kind == "O":
        for k, label in enumerate(y.flat):
            if _is_missing(label):
                raise ValueError(f"{owner}: y[{k}] is {label!r}; labels must not be missing.")


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label) or label in (np.inf, -np.inf)
    except (TypeError, ValueError):  # such as pandas.NA, which refuses to be compared
        return True


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str | bytes)


def _show(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
