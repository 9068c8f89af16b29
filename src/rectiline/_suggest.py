"""Messages about names that do not exist and classes given instead of objects, for every room."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any


def unknown_name(
    argument: str,
    given: Any,
    allowed: Iterable[str],
    aliases: Mapping[str, Any] | None = None,
) -> str:
    """Return what to say about a name that is not allowed.

    Parameters
    ----------
    argument : str
        Name of the argument.
    given : object
        What the user wrote.
    allowed : iterable of str
        Listed in alphabetical order.
    aliases : mapping of str to str, optional
        What other libraries call things, and what is meant here.

    Examples
    --------
    >>> unknown_name("penalty", "lasso", ["l2", "l1"], {"lasso": "l1"})
    "penalty='lasso' is not one of 'l1', 'l2'. Did you mean 'l1'?"
    """
    names = sorted(allowed)
    listed = ", ".join(map(repr, names))
    message = f"{argument}={given!r} is not one of {listed}."
    if not isinstance(given, str):
        return message
    known: dict[str, Any] = {name: name for name in names} | dict(aliases or {})
    close = get_close_matches(given.lower().replace("-", "_"), known, n=1)
    return f"{message} Did you mean {known[close[0]]!r}?" if close else message


def not_an_object(argument: str, given: Any, kind: type, example: str) -> TypeError:
    """Return the error for something that is not an object of `kind`, such as its class.

    Examples
    --------
    >>> from rectiline.penalties import GroupLinf, Penalty
    >>> not_an_object("penalty", GroupLinf, Penalty, "Ridge()")
    TypeError('penalty=GroupLinf is a class; give an object: GroupLinf(strength, groups).')
    """
    is_class = isinstance(given, type)
    if not is_class or not issubclass(given, kind):
        shown = f"{given!r} (type {type(given).__name__})"
        got = f"the class {given.__name__}" if is_class else shown
        return TypeError(f"{argument} must be a {kind.__name__} such as {example}; got {got}.")
    needed = [
        name
        for name, one in inspect.signature(given).parameters.items()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    call = f"{given.__name__}({', '.join(needed)})"
    return TypeError(f"{argument}={given.__name__} is a class; give an object: {call}.")
