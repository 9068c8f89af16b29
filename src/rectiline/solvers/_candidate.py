"""An answer at one strength of a path that nobody has certified yet, and who finds such answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rectiline._typing import Vector
from rectiline.problems import DualPoint

__all__ = ["Candidate", "PathFollower"]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A pair at one strength, before its certificate.

    Attributes
    ----------
    strength : float
        Of the penalty.
    coef, intercept
        In the terms of the problem.
    dual : DualPoint
        Multipliers; a certificate repairs them first.
    n_iter : int
        Steps that were taken from the candidate before.
    seconds : float
        Wall time of these steps.
    """

    strength: float
    coef: Vector
    intercept: float
    dual: DualPoint
    n_iter: int
    seconds: float


class PathFollower(Protocol):
    """A method that moves one pair from strength to strength and is never started anew.

    Attributes
    ----------
    name : str
        Of the solver that it belongs to.
    """

    name: str

    def place(self, coef: Vector, intercept: float, dual: DualPoint) -> None:
        """Start at a pair."""

    def move(self, strength: float, seconds: float) -> Candidate | None:
        """Return a candidate at a strength; None if the method did not get there."""
