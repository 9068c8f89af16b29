"""`auto`: which solvers take a problem, in which order, and why."""

from __future__ import annotations

from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Problem
from rectiline.solvers._base import Solver, Stage
from rectiline.solvers.newton import Newton
from rectiline.solvers.rehline import Rehline

__all__ = ["SOLVERS", "choose"]

SOLVERS: dict[str, type[Solver]] = {"newton": Newton, "rehline": Rehline}


def choose(problem: Problem) -> list[Stage]:
    """Return the stages to run until one of them certifies the answer."""
    refusal = Rehline.refuses(problem)
    if refusal is None:
        return [Stage(Rehline(), "rehline: every coefficient has a ridge part")]
    raise UnsupportedProblemError(f"No solver takes this problem: {refusal}.")
