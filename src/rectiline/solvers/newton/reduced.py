"""`reduced_newton`: Newton's method in the span of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rectiline.problems import Problem
from rectiline.problems.forms import ReducedForm
from rectiline.solvers.newton.solver import Newton

__all__ = ["ReducedNewton"]


@dataclass(frozen=True, slots=True)
class ReducedNewton(Newton):
    """`newton` in the span of the rows, for many more columns than rows under a ridge penalty."""

    name: ClassVar[str] = "reduced_newton"
    form: ClassVar[type[Any]] = ReducedForm

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the problem does not reduce to the span of its rows, or None."""
        return ReducedForm.accepts(problem)
