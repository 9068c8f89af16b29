"""The protocol of all forms: rewrite a problem, and bring points back to it."""

from __future__ import annotations

from typing import Any, Protocol

from rectiline._typing import Vector
from rectiline.problems._certificate import DualPoint
from rectiline.problems._problem import Problem

__all__ = ["Form"]


class Form(Protocol):
    """A problem rewritten so that some algorithms can start, with the way back."""

    problem: Problem

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem has no such form, or None if it has."""

    @classmethod
    def apply(cls, problem: Problem) -> Any:
        """Return the form of `problem`."""

    def invert(self, point: Any) -> tuple[Vector, float, DualPoint]:
        """Return coefficients, intercept and dual point in the problem's own terms."""

    def point_of(self, coef: Vector, intercept: float, dual: DualPoint) -> Any:
        """Return a pair of the problem in the form's terms; undone by `invert`."""
