"""Lists of races. `cases` returns those of one suite; ``quick`` borrows one or two from each."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..cases import Case

NAMES = (
    "door",
    "foundation",
    "second_order",
    "rehline",
    "quantile",
    "sparse_data",
    "generation",
    "scaling",
    "accuracy",
    "small",
    "estimators",
)


@cache
def cases(name: str) -> tuple[Case, ...]:
    """The races of a suite; names may be written with ``-`` or ``_``."""
    name = name.replace("-", "_")
    if name not in (*NAMES, "quick"):
        raise KeyError(f"suite {name!r}: known are {', '.join(NAMES)}, quick")
    found = tuple(import_module(f".{name}", __name__).CASES)
    names = [case.name for case in found]
    if len(set(names)) != len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        raise ValueError(f"suite {name!r} has several cases called {twice[0]!r}")
    return found
