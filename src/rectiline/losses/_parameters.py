"""Check the parameters of losses, curves and units; their constructors use it."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector

Rule = Callable[[str, str, Any], float]  # owner, name of the parameter, value -> value


def number(owner: str, name: str, value: Any) -> float:
    """Return ``value`` as a finite float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{owner}({name}={value!r}): {name} must be a number.")
    if not math.isfinite(value):
        raise ValueError(f"{owner}({name}={value!r}): {name} must be finite.")
    return float(value) + 0.0  # + 0.0 turns -0.0 into 0.0


def positive(owner: str, name: str, value: Any) -> float:
    """Return ``value`` as a float > 0."""
    checked = number(owner, name, value)
    if checked <= 0:
        raise ValueError(f"{owner}({name}={checked}): {name} must be greater than 0.")
    return checked


def nonnegative(owner: str, name: str, value: Any) -> float:
    """Return ``value`` as a float >= 0."""
    checked = number(owner, name, value)
    if checked < 0:
        raise ValueError(f"{owner}({name}={checked}): {name} must be 0 or greater.")
    return checked


def fraction(owner: str, name: str, value: Any) -> float:
    """Return ``value`` as a float strictly between 0 and 1."""
    checked = number(owner, name, value)
    if not 0 < checked < 1:
        raise ValueError(f"{owner}({name}={checked}): {name} must lie strictly between 0 and 1.")
    return checked


def frozen_vector(owner: str, name: str, values: ArrayLike, *, infinite: bool = False) -> Vector:
    """Copy ``values`` into a read-only float64 vector, refusing NaN (and infinity)."""
    vector = np.array(values, dtype=np.float64, ndmin=1)
    if vector.ndim != 1:
        raise ValueError(f"{owner}: {name} must be one-dimensional, got shape {vector.shape}.")
    wrong = np.isnan(vector) if infinite else ~np.isfinite(vector)
    if wrong.any():
        k = int(np.argmax(wrong))
        allowed = "numbers, infinity included" if infinite else "finite numbers"
        raise ValueError(f"{owner}: {name}[{k}] is {vector[k]}; {name} must hold {allowed}.")
    vector += 0.0  # turns -0.0 into 0.0, so that equal records have equal bytes
    vector.setflags(write=False)
    return vector
