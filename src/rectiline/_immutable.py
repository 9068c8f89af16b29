"""`Immutable`: objects that are values, the base of curves, units, penalties and constraints."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

_ENTRIES_SHOWN = 12  # longer arrays are abbreviated in representations


class Immutable:
    """Compare, hash, print and pickle by the arguments of the constructor.

    Every argument is an attribute of the same name; a class where that is not so overrides
    `_arguments`. Constructors store attributes with `_set`, after that nothing changes.
    """

    def _arguments(self) -> Mapping[str, Any]:
        """Return the arguments that make this object again."""
        kind: Any = type(self)
        return {name: getattr(self, name) for name in _argument_names(kind)}

    def _key(self) -> tuple[object, ...]:
        return tuple(_hashable(value) for value in self._arguments().values())

    def _set(self, **attributes: object) -> None:
        self.__dict__.update(attributes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__} is immutable: make a new one instead of setting {name!r}."
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r} cannot be deleted.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Immutable):
            return NotImplemented
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self._key()))

    def __repr__(self) -> str:
        given = self._arguments().items()
        inside = ", ".join(f"{name}={_shown(one)}" for name, one in given if one is not None)
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that arrays come back read-only and derived ones are rebuilt.
        return rebuild, (type(self), dict(self._arguments()))


@lru_cache
def _argument_names(kind: type) -> tuple[str, ...]:
    return tuple(inspect.signature(kind).parameters)


def rebuild(kind: type, arguments: dict[str, Any]) -> Any:
    """Make an object again from the arguments that a pickle holds."""
    return kind(**arguments)


def _hashable(value: Any) -> object:
    """Return something hashable that is equal for equal arguments."""
    if sparse.issparse(value):
        parts = (value.data, value.indices, value.indptr)
        return (value.shape, *(part.tobytes() for part in parts))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _shown(value: Any) -> str:
    """Write an argument down as Python reads it, abbreviated if it is long."""
    if sparse.issparse(value):
        rows, columns = value.shape
        return f"<sparse, {rows} x {columns}, {value.nnz} stored>"
    if isinstance(value, np.ndarray) and value.ndim > 1 and value.size > _ENTRIES_SHOWN:
        return f"<array of shape {value.shape}>"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) > _ENTRIES_SHOWN:
        return f"<{len(value)} values: {value[0]!r}, {value[1]!r}, ..., {value[-1]!r}>"
    if isinstance(value, str):
        return repr(value)
    # Infinity has no literal, so a representation spells it the way Python evaluates it.
    return repr(value).replace("inf", "float('inf')")
