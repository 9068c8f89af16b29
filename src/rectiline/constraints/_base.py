"""The base class of all constraints, which turn into rows and bounds for `Problem`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from rectiline._typing import Vector
from rectiline.constraints._checks import key, shown
from rectiline.constraints._rows import ConstraintRows


class DesignLike(Protocol):
    """What a constraint may ask of the data matrix X."""

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""

    def tdot(self, v: Vector, /) -> Vector:
        """Return X'v."""


class Constraint(ABC):
    """Restrict the coefficients.

    Constraints are immutable; they can be compared, hashed, pickled and copied.
    """

    @abstractmethod
    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return the constraint as rows and bounds on ``n_features`` coefficients.

        Parameters
        ----------
        n_features : int
            Number of coefficients.
        design : DesignLike, optional
            The data matrix; only constraints that depend on the data need it.

        Raises
        ------
        ValueError
            If the constraint is made for another number of coefficients or samples.
        """

    @abstractmethod
    def _arguments(self) -> Mapping[str, Any]:
        """Return the arguments that make this constraint again."""

    def _set(self, **fields: object) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__} is immutable: make a new one instead of setting {name!r}."
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r} cannot be deleted.")

    def _key(self) -> tuple[object, ...]:
        return tuple(key(value) for value in self._arguments().values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraint):
            return NotImplemented
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self._key()))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={shown(value)}" for name, value in self._arguments().items())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that arrays come back read-only.
        return _rebuild, (type(self), dict(self._arguments()))


def _rebuild(kind: type[Constraint], arguments: dict[str, Any]) -> Constraint:
    return kind(**arguments)
