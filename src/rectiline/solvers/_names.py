"""The solvers by name, and what other libraries call them; for `solve` and the estimators."""

from __future__ import annotations

from rectiline._suggest import unknown_name
from rectiline.solvers._base import Solver
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.smoothed import Smoothed

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


def check_not_gone(solver: str) -> None:
    """Raise ValueError about a solver of earlier releases that no longer exists."""
    if solver in _SUCCESSORS:
        raise ValueError(f"solver={solver!r} is gone since 0.3.0: use {_SUCCESSORS[solver]}.")


def check_name(solver: str) -> None:
    """Raise ValueError if there is no solver of that name."""
    check_not_gone(solver)
    if solver not in ("auto", "passes") and solver not in SOLVERS:
        raise ValueError(unknown_name("solver", solver, ["auto", "passes", *SOLVERS], _ALIASES))
