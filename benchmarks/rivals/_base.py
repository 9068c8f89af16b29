"""What an adapter states: what it takes, how it is set up, what is timed, what it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..objective import Objective

Vector = np.ndarray

MARGIN = ("hinge", "squared_hinge", "smoothed_hinge", "modified_huber")


def decades(first: float, last: float, per_decade: int = 1) -> tuple[float, ...]:
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


class Rival:
    """One solver in its best form.

    ``prepare`` translates the objective and converts storage (not timed), ``solve`` is what is
    timed, ``answer`` translates back (not timed). ``takes`` are the arguments of `refuse`.
    """

    package: str = ""
    tolerances: tuple[float, ...] = decades(1e-2, 1e-10)
    tight: float = 1e-11
    compiles: bool = False  # the first call compiles and is given more time
    takes: dict[str, Any] = {}

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        """Own tolerances to try, loose to tight; ``size`` is the objective's magnitude."""
        return self.tolerances

    def skip(self, objective: Objective) -> str | None:
        """Why this objective cannot be expressed exactly, or ``None``."""
        return refuse(objective, **self.takes)

    def prepare(self, objective: Objective) -> None:
        raise NotImplementedError

    def solve(self, tol: float, time_limit: float) -> Any:
        raise NotImplementedError

    def answer(self, raw: Any) -> Answer:
        raise NotImplementedError


def refuse(
    objective: Objective,
    *,
    losses: tuple[str, ...] | None = None,
    ridge: bool | None = None,
    l1: bool | None = None,
    penalised: bool = False,
    intercept: bool = True,
    constraints: bool = False,
    sparse: bool = True,
) -> str | None:
    """Common reasons to skip. ``ridge=True`` needs one, ``ridge=False`` allows none; l1 alike."""
    case = objective.case
    if case.penalty != "elastic":
        return f"no {case.penalty} penalty"
    reasons = {
        f"no {case.loss} loss": losses is not None and case.loss not in losses,
        "needs a ridge term": ridge is True and objective.l2 == 0,
        "has no ridge term": ridge is False and objective.l2 > 0,
        "needs an L1 term": l1 is True and objective.l1 == 0,
        "has no L1 term": l1 is False and objective.l1 > 0,
        "needs a penalty": penalised and objective.penalty_is_zero,
        "would penalise the intercept": not intercept and case.intercept,
        "has no linear constraints": not constraints and objective.A is not None,
        "takes no sparse X": not sparse and hasattr(objective.X, "indptr"),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
