"""Checks of the arguments that `solve` and `solve_multitask` share, and the solvers by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from reprlib import repr as brief
from typing import Any

import numpy as np

from rectiline._suggest import unknown_name
from rectiline.solvers._base import Callback, RunLimits, Solver
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.smoothed import Smoothed


def checked_limits(
    tol: float,
    max_iter: int | None,
    time_limit: float | None,
    random_state: int | None,
    callback: Callback | None,
) -> RunLimits:
    """Return the limits of a run, or raise about the first argument that is not allowed."""
    if not (_is_number(tol) and 0 < tol < 1):
        raise ValueError(f"tol={brief(tol)}: must be a number strictly between 0 and 1.")
    if max_iter is not None and not (_is_whole(max_iter) and max_iter > 0):
        raise ValueError(f"max_iter={brief(max_iter)}: must be a positive integer or None.")
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise ValueError(f"time_limit={brief(time_limit)}: must be a positive number of seconds.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None; got {callback!r}.")
    return RunLimits(
        float(tol),
        None if max_iter is None else int(max_iter),
        None if time_limit is None else float(time_limit),
        _checked_seed(random_state),
    )


def _checked_seed(random_state: int | None) -> int:
    """Return the seed; None means 0, so that equal inputs give equal answers."""
    if random_state is None:
        return 0
    if not _is_whole(random_state):
        raise ValueError(f"random_state={random_state!r}: must be an integer or None.")
    if not 0 <= random_state < 2**32:
        raise ValueError(f"random_state={brief(random_state)}: must lie in [0, 2**32).")
    return int(random_state)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    """Whether a value is a real number that a float can hold, or infinite."""
    try:
        is_real = isinstance(value, Real) and not isinstance(value, bool)
        return is_real and not math.isnan(float(value))
    except OverflowError:
        return False


# What the declared type of an option asks for: in words, and as a check.
_OPTIONS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "int": ("an integer", lambda value: _is_whole(value) and abs(value) < 2**31),
    "float": ("a number", _is_number),
    "str": ("a word", lambda value: isinstance(value, str)),
}


def solver_kind(name: str, solvers: Mapping[str, Any], options: dict[str, Any]) -> Any:
    """Return the class of the named solver, or raise with the options that it has."""
    kind = solvers[name]
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            raise TypeError(
                f"Solver {name!r} has no option {option!r}; its options are "
                f"{', '.join(map(repr, known))}."
            )
    for field in fields(kind):
        word, *others = str(field.type).split(" | ")
        value = options.get(field.name, field.default)
        told, is_right = _OPTIONS[word]
        if not is_right(value) and not (value is None and others):
            raise ValueError(
                f"{field.name}={brief(value)}: must be {' or '.join([told, *others])}."
            )
    return kind


# ---- the solvers by name -------------------------------------------------------------------------


_KINDS: tuple[type[Solver], ...] = Generation, Interior, Newton, ReducedNewton, Rehline, Smoothed
SOLVERS: dict[str, type[Solver]] = {kind.name: kind for kind in _KINDS}

# What other libraries call such methods.
_ALIASES = {
    "coordinate_descent": "rehline",
    "fista": "smoothed",
    "ipm": "interior",
    "interior_point": "interior",
    "liblinear": "rehline",
    "newton_cg": "newton",
    "simplex": "generation",
    "ssnal": "newton",
}

# Names of earlier releases, and what took their places.
_SUCCESSORS = {
    "apg": "'bcd'",
    "apg_joint": "'bcd'",
    "bcd_plain": "'bcd' with memory=0",
    "first_order": "'smoothed' for rough answers under L1, or 'generation'",
    "small_interior": "'interior'",
    "twofold": "'interior' with digits=32",
}


def check_name(solver: str, names: Sequence[str] = ("auto", "passes", *SOLVERS)) -> None:
    """Raise ValueError if there is no solver of that name."""
    if solver in _SUCCESSORS:
        raise ValueError(f"solver={solver!r} is gone since 0.3.0: use {_SUCCESSORS[solver]}.")
    if solver not in names:
        aliases = {other: name for other, name in _ALIASES.items() if name in names}
        raise ValueError(unknown_name("solver", solver, names, aliases))
