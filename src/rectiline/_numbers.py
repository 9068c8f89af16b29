"""Refuse numbers out of range, and those that NumPy would quietly turn into others.

Messages name the owner, the argument, the value and the rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _number(owner: str, name: str, value: Any, rule: str, holds: Callable[[float], bool]) -> float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    # A float first: paths ask thousands of times, and abstract types answer slowly.
    if not isinstance(value, float | Real) or isinstance(value, bool | np.bool_):
        raise TypeError(
            f"{owner}({name}={value!r}): {name} must be a number, got {type(value).__name__}."
        )
    try:
        number = float(value)
    except OverflowError:  # an integer such as 10**400
        raise ValueError(f"{owner}({name}={brief(value)}): {name} must {rule}.") from None
    if not (math.isfinite(number) and holds(number)):
        raise ValueError(f"{owner}({name}={number!r}): {name} must {rule}.")
    return number + 0.0  # turns -0.0 into 0.0


def positive(owner: str, name: str, value: Any) -> float:
    """Return a finite number > 0 as a float."""
    return _number(owner, name, value, "be a finite number > 0", lambda number: number > 0.0)


def nonnegative(owner: str, name: str, value: Any) -> float:
    """Return a finite number >= 0 as a float."""
    return _number(owner, name, value, "be a finite number >= 0", lambda number: number >= 0.0)


def fraction(owner: str, name: str, value: Any) -> float:
    """Return a number strictly between 0 and 1 as a float."""
    rule = "lie strictly between 0 and 1"
    return _number(owner, name, value, rule, lambda number: 0.0 < number < 1.0)


def positive_integer(owner: str, name: str, value: object) -> int:
    """Return an integer >= 1 as an int."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(
            f"{owner}({name}={value!r}): {name} must be an integer, got {type(value).__name__}."
        )
    if value < 1:
        raise ValueError(f"{owner}({name}={int(value)}): {name} must be at least 1.")
    return int(value)


def frozen(
    owner: str, name: str, values: Any, *, infinite: bool = False, least: float = -np.inf
) -> NDArray[np.float64]:
    """Return a read-only float64 copy of an array of finite numbers, or of infinite ones too."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{owner}: {name} must hold numbers, got {brief(values)}.") from error
    if np.isnan(array).any():
        raise ValueError(f"{owner}: {name}{place_of(np.isnan(array))} is NaN.")
    wrong = array < least if infinite else ~np.isfinite(array) | (array < least)
    if wrong.any():
        rule = "finite" if least == -np.inf else f"finite and >= {least:g}"
        rule = rule.removeprefix("finite and ") if infinite else rule
        value = float(array[wrong][0])
        raise ValueError(
            f"{owner}: {name}{place_of(wrong)} = {value!r}, but {name} must be {rule}."
        )
    array += 0.0  # turns -0.0 into 0.0, so that equal records have equal bytes
    array.flags.writeable = False
    return array


def frozen_vector(owner: str, name: str, values: Any, **rules: Any) -> NDArray[np.float64]:
    """Return a `frozen` copy of a vector."""
    vector = frozen(owner, name, values, **rules)
    if vector.ndim != 1:
        raise ValueError(f"{owner}: {name} must be one-dimensional, got shape {vector.shape}.")
    return vector


def nonnegative_vector(owner: str, name: str, values: Any) -> NDArray[np.float64]:
    """Return a `frozen` copy of a vector of finite numbers >= 0, of one at least."""
    vector = frozen_vector(owner, name, values, least=0.0)
    if not vector.size:
        raise ValueError(f"{owner}: {name} must hold at least one number.")
    return vector


def place_of(marked: NDArray[np.bool_]) -> str:
    """Return the index of the first marked entry as it would be typed, nothing for a scalar."""
    first = np.argwhere(marked)[0].tolist()
    return f"[{', '.join(map(str, first))}]" if first else ""


def checked_share(name: str, value: float) -> float:
    """Return a coverage, strictly between 0 and 1."""
    if not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name}={value!r}: must lie strictly between 0 and 1, such as 0.9.")
    return float(value)


def refuse_masked(name: str, values: Any) -> None:
    """Raise ValueError for a masked array, whose hidden entries would count as data."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = int(np.sum(np.ma.getmaskarray(values)))
        raise ValueError(
            f"{name} is a masked array ({hidden} entries masked); masks are not supported. Drop "
            "or impute masked entries, or pass the plain array that is its `data` attribute."
        )


def real_array(name: str, values: Any, kind: str = "numbers") -> NDArray[np.float64]:
    """Return a private float64 array of real numbers.

    Examples
    --------
    >>> real_array("sample_weight", [1, 2])
    array([1., 2.])
    """
    refuse_masked(name, values)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
        if array.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        given = getattr(np.asarray(values, dtype=object), "dtype", None)
        given = getattr(values, "dtype", given)
        raise ValueError(f"{name} must hold {kind}; got dtype {given}.") from None
    return np.array(array, dtype=np.float64)


def seed_of(random_state: Any) -> int:
    """Return the seed of a `random_state`; None means 0, so that equal data give equal models."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
