"""What an adapter must say: can it, how is it set up, what is timed, what did it find."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..objective import Objective

Vector = np.ndarray

MARGIN = ("hinge", "squared_hinge", "smoothed_hinge", "modified_huber")


def decades(first: float, last: float, per_decade: int = 2) -> tuple[float, ...]:
    """Tolerances from ``first`` down to ``last``, ``per_decade`` of them in each factor of ten."""
    count = round(np.log10(first / last) * per_decade)
    return tuple(float(f"{first * 10 ** (-k / per_decade):.3g}") for k in range(count + 1))


def around(targets: tuple[float, ...], unit: float = 1.0) -> tuple[float, ...]:
    """Tolerances for a solver that stops at its gap: some looser and some tighter than each target.

    A method may overshoot what it was asked for, so a looser request can be the fastest way to a
    target; a request may also fall short by the score.
    """
    steps = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
    rungs = {float(f"{min(t * f, 0.5) * unit:.3g}") for t in targets for f in steps}
    return tuple(sorted(rungs, reverse=True))


@dataclass
class Answer:
    """What a solver found, in our terms. ``dual`` is the slope g_i of each row's weighted loss."""

    coef: Vector
    intercept: float = 0.0
    dual: Vector | None = None
    inequality: Vector | None = None
    word: dict[str, Any] = field(default_factory=dict)


class Rival(ABC):
    """One solver in its best form.

    ``prepare`` translates the objective and converts storage (not timed), ``solve`` is what is
    timed, ``answer`` translates back (not timed).
    """

    name: str = ""
    package: str = ""
    tolerances: tuple[float, ...] = decades(1e-2, 1e-10, 1)
    tight: float = 1e-11
    compiles: bool = False  # the first call compiles and is given more time

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        """Own tolerances to try, loose to tight; ``size`` is the objective's magnitude."""
        return self.tolerances

    @abstractmethod
    def skip(self, objective: Objective) -> str | None:
        """Why this objective cannot be expressed exactly, or ``None``."""

    @abstractmethod
    def prepare(self, objective: Objective) -> None: ...

    @abstractmethod
    def solve(self, tol: float, time_limit: float) -> Any: ...

    @abstractmethod
    def answer(self, raw: Any) -> Answer: ...


def refuse(
    objective: Objective,
    *,
    losses: tuple[str, ...] | None = None,
    ridge: bool | None = None,
    l1: bool | None = None,
    intercept: bool = True,
    constraints: bool = False,
    sparse: bool = True,
) -> str | None:
    """Common reasons to skip. ``ridge=True`` needs one, ``ridge=False`` allows none; l1 alike."""
    case = objective.case
    if case.penalty != "elastic":
        return f"no {case.penalty} penalty"
    if losses is not None and case.loss not in losses:
        return f"no {case.loss} loss"
    if ridge is True and objective.l2 == 0:
        return "needs a ridge term"
    if ridge is False and objective.l2 > 0:
        return "has no ridge term"
    if l1 is True and objective.l1 == 0:
        return "needs an L1 term"
    if l1 is False and objective.l1 > 0:
        return "has no L1 term"
    if not intercept and case.intercept:
        return "would penalise the intercept"
    if not constraints and objective.A is not None:
        return "has no linear constraints"
    if not sparse and hasattr(objective.X, "indptr"):
        return "takes no sparse X"
    return None


def best_of(objective: Objective, candidates: list[tuple[Vector, float]]) -> tuple[Vector, float]:
    """The candidate with the best objective (violation first): a gift to the rival."""

    def score(candidate: tuple[Vector, float]) -> tuple[float, float]:
        coef, intercept = candidate
        violation = objective.violation(coef)
        return (violation if violation > 1e-9 else 0.0, objective.value(coef, intercept))

    return min(candidates, key=score)
