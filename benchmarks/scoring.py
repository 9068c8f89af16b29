"""Score an answer from the data alone, whichever solver gave it.

suboptimality
    ``(P(answer) - bound) / |bound|`` with the best bound proved for the case by anybody
gap
    the same with the bound that the answer's own dual point proves
violation
    the worst violated constraint relative to the size of its terms

An answer *reaches* a target when the size of its score and its violation are at most the target.
An infeasible answer may lie below the optimum: its score is then negative, and must be small too.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .objective import Objective
    from .rivals import Answer

ROUNDING = 1e-13
# Objective and bound are sums of up to a million products each; the last digits differ.
SUM_ROUNDING = 1e-11


@dataclass(frozen=True)
class Score:
    """What is known about one answer. ``bound`` is ``-inf`` when it brought no usable dual."""

    primal: float
    violation: float
    bound: float

    def to_json(self) -> dict[str, float | None]:
        return {k: v if math.isfinite(v) else None for k, v in asdict(self).items()}


def score(objective: Objective, answer: Answer) -> Score:
    """Evaluate an answer on the full data."""
    import numpy as np

    if not (np.all(np.isfinite(answer.coef)) and math.isfinite(answer.intercept)):
        return Score(math.inf, math.inf, -math.inf)
    bound = -math.inf
    if answer.dual is not None and np.all(np.isfinite(answer.dual)):
        bound = objective.bound(answer.dual, answer.inequality, answer.coef)
    return Score(
        objective.value(answer.coef, answer.intercept), objective.violation(answer.coef), bound
    )


def relative(primal: float | None, bound: float | None) -> float:
    """``(primal - bound) / |bound|``; infinite when either is unknown."""
    if primal is None or bound is None or not (math.isfinite(primal) and math.isfinite(bound)):
        return math.inf
    return (primal - bound) / max(abs(bound), 1e-300)


def error(run: dict[str, Any], bound: float | None, measure: str) -> float:
    """The number that a run is held to: its suboptimality or own gap, or its violation if worse."""
    reference = run["bound"] if measure == "gap" and run.get("bound") is not None else bound
    off = abs(relative(run.get("primal"), reference))
    violation = run.get("violation")
    return max(off, math.inf if violation is None else violation)


def contradicts(run: dict[str, Any], bound: float | None, best: float | None) -> bool:
    """A proof is wrong: a feasible answer lies below a computed bound or the library's."""
    claimed = run.get("word", {}).get("library_bound")
    if claimed is not None and best is not None and relative(best, claimed) < -SUM_ROUNDING:
        return True
    if bound is None or run.get("primal") is None or run.get("violation") != 0.0:
        return False
    return relative(run["primal"], bound) < -SUM_ROUNDING
