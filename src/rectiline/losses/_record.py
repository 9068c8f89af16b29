"""Frozen records of arrays (read-only, comparable, hashable), the base of curves and units."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector


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


class Record:
    """Compare and hash by content. A base for frozen dataclasses of arrays and numbers."""

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: it checks again and sets the read-only flags pickle forgets.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
