"""Check what a user gave to a penalty; each message names the argument, the value, the rule."""

from __future__ import annotations

from numbers import Integral, Real
from reprlib import repr as brief

import numpy as np
from numpy.typing import ArrayLike, NDArray


def nonnegative(owner: str, name: str, value: object) -> float:
    """Return ``value`` as a float if it is a finite number >= 0."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    # A float first: paths ask thousands of times, and abstract types answer slowly.
    if not isinstance(value, float | Real) or isinstance(value, bool | np.bool_):
        raise TypeError(
            f"{owner}({name}={value!r}): {name} must be a number, got {type(value).__name__}."
        )
    number = float(value)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{owner}({name}={number!r}): {name} must be a finite number >= 0.")
    return number + 0.0  # turns -0.0 into 0.0


def positive_integer(owner: str, name: str, value: object) -> int:
    """Return ``value`` as an int if it is an integer >= 1."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(
            f"{owner}({name}={value!r}): {name} must be an integer, got {type(value).__name__}."
        )
    if value < 1:
        raise ValueError(f"{owner}({name}={int(value)}): {name} must be at least 1.")
    return int(value)


def nonnegative_vector(owner: str, name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a read-only float64 copy of ``values`` if it is a vector of finite numbers >= 0."""
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{owner}: {name} must be a sequence of numbers, got {brief(values)}."
        ) from error
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"{owner}: {name} must be a vector with at least one value, got shape {vector.shape}."
        )
    wrong = np.flatnonzero(~((vector >= 0.0) & (vector < np.inf)))
    if wrong.size:
        at = int(wrong[0])
        raise ValueError(
            f"{owner}: {name}[{at}] = {float(vector[at])!r}, but {name} must be finite and >= 0."
        )
    vector += 0.0
    vector.flags.writeable = False
    return vector
