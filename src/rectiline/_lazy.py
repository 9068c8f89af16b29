"""Attributes that are worked out when they are first asked for, and those that a part has.

From Python 3.12 on `cached_property` is that of the standard library. The one of 3.11 takes a lock
at each first access, one for all objects of a class: slow for small problems, and threads wait for
one another.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from functools import cached_property as _cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

T = TypeVar("T")


class Part(property, Generic[T]):
    """A read-only attribute that stands for one of a part of the object.

    Examples
    --------
    >>> class Circle:
    ...     centre = 1 + 2j
    ...     height = Part[float]("centre.imag")
    >>> Circle().height
    2.0
    """

    def __init__(self, path: str) -> None:
        super().__init__(attrgetter(path), doc=f"Stands for ``{path}``.")

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> T: ...  # type: ignore[override]


class FieldsAlone:
    """A dataclass whose pickles hold its fields, and nothing that was worked out from them."""

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}


if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = _cached_property
else:

    class cached_property(_cached_property):
        """An attribute that is kept in the instance's ``__dict__`` once it has been computed."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
