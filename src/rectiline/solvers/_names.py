"""The solvers by name, and what other libraries call them; for `solve` and the estimators."""

from __future__ import annotations

from rectiline._suggest import unknown_name
from rectiline.solvers._base import Solver
from rectiline.solvers.first_order import FirstOrder
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior, SmallInterior, TwofoldInterior
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.smoothed import Smoothed

__all__ = ["SOLVERS", "check_name"]

SOLVERS: dict[str, type[Solver]] = {
    "first_order": FirstOrder,
    "generation": Generation,
    "interior": Interior,
    "newton": Newton,
    "reduced_newton": ReducedNewton,
    "rehline": Rehline,
    "small_interior": SmallInterior,
    "smoothed": Smoothed,
    "twofold": TwofoldInterior,
}

# What other libraries call such methods.
_ALIASES = {
    "coordinate_descent": "rehline",
    "fista": "first_order",
    "ipm": "interior",
    "interior_point": "interior",
    "liblinear": "rehline",
    "newton_cg": "newton",
    "simplex": "generation",
    "ssnal": "newton",
}


def check_name(solver: str) -> None:
    """Raise ValueError if there is no solver of that name."""
    if solver not in ("auto", "passes") and solver not in SOLVERS:
        raise ValueError(unknown_name("solver", solver, ["auto", "passes", *SOLVERS], _ALIASES))
