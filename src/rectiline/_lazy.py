"""`cached_property`: an attribute that is worked out when it is first asked for; used by all rooms.

From Python 3.12 on it is that of the standard library. The one of 3.11 takes a lock at each first
access, one for all objects of a class: slow for small problems, and threads wait for one another.
"""

from __future__ import annotations

import sys
from functools import cached_property as _cached_property
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

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
