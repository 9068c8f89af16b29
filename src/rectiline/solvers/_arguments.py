"""Checks of the arguments that `solve` and `solve_multitask` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from rectiline.solvers._base import Callback, RunLimits

__all__ = ["checked_limits", "solver_kind"]


def checked_limits(
    tol: float,
    max_iter: int | None,
    time_limit: float | None,
    random_state: int | None,
    callback: Callback | None,
) -> RunLimits:
    """Return the limits of a run, or raise about the first argument that is not allowed."""
    if not (isinstance(tol, (int, float, np.floating)) and 0 < tol < 1):
        raise ValueError(f"tol={tol!r}: must be a number strictly between 0 and 1.")
    if max_iter is not None and not (
        isinstance(max_iter, (int, np.integer)) and not isinstance(max_iter, bool) and max_iter > 0
    ):
        raise ValueError(f"max_iter={max_iter!r}: must be a positive integer or None.")
    if time_limit is not None and not (
        isinstance(time_limit, (int, float, np.number)) and time_limit > 0
    ):
        raise ValueError(f"time_limit={time_limit!r}: must be a positive number of seconds.")
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
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
        raise ValueError(f"random_state={random_state!r}: must be an integer or None.")
    if not 0 <= random_state < 2**32:
        raise ValueError(f"random_state={random_state!r}: must lie in [0, 2**32).")
    return int(random_state)


def solver_kind(name: str, solvers: Mapping[str, Any], options: dict[str, Any]) -> Any:
    """Return the class of the named solver, or raise with the names and options that exist."""
    if name not in solvers:
        allowed = ", ".join(map(repr, sorted(solvers)))
        raise ValueError(f"solver={name!r}: must be 'auto' or one of {allowed}.")
    kind = solvers[name]
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            raise TypeError(
                f"Solver {name!r} has no option {option!r}; its options are "
                f"{', '.join(map(repr, known))}."
            )
    return kind
