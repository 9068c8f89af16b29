"""How a solve can end, and what to do then; used by both drivers and shown in warnings."""

from __future__ import annotations

import math
import warnings
from enum import StrEnum
from typing import Any

import numpy as np

from rectiline.exceptions import ConvergenceWarning


class Status(StrEnum):
    """How a solve ended. Members compare equal to plain strings.

    Examples
    --------
    >>> from rectiline.solvers import Status
    >>> Status.TIME_LIMIT == "time_limit"
    True
    >>> Status.TIME_LIMIT.advice
    'Raise time_limit, loosen tol, or scale the columns of X to similar size.'
    """

    SOLVED = "solved"
    STALLED = "stalled"
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"
    PRECISION_LIMIT = "precision_limit"
    STOPPED = "stopped"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"

    @property
    def advice(self) -> str:
        """What to do about a solve that ended like this."""
        return _ADVICE[self]

    @property
    def deserves_warning(self) -> bool:
        """Whether the answer misses the target without a callback having stopped the solver."""
        return self in _WARNED


_ADVICE = {
    Status.SOLVED: "Nothing: the certified relative gap is at most tol.",
    Status.STALLED: (
        "No solver could improve the answer any further, so more iterations will not help: scale "
        "the columns of X to similar size, add a small ridge part to the penalty, loosen tol, or "
        "name another solver."
    ),
    Status.ITERATION_LIMIT: (
        "Raise max_iter, loosen tol, or scale the columns of X to similar size."
    ),
    Status.TIME_LIMIT: "Raise time_limit, loosen tol, or scale the columns of X to similar size.",
    Status.PRECISION_LIMIT: (
        "Rounding errors alone may be larger than tol allows: centre the columns of X and y, scale "
        "the columns of X to similar size, or loosen tol."
    ),
    Status.STOPPED: (
        "The callback returned a true value; the answer is the best pair so far. Pass it as "
        "warm_start to go on."
    ),
    Status.INFEASIBLE: (
        "Loosen one of the constraints that `infeasibility` names: together they contradict each "
        "other."
    ),
    Status.UNBOUNDED: "Add a penalty or bounds: along `direction` the objective falls without end.",
}
_WARNED = (
    Status.STALLED,
    Status.ITERATION_LIMIT,
    Status.TIME_LIMIT,
    Status.PRECISION_LIMIT,
)


# Of the objective: with less the rounding of multipliers alone costs a proof more than 1e-7.
_LOST_PENALTY_SHARE = 1e-24


def _advice(run: Any, status: Status) -> str:
    """Return what to do about a run; a penalty that rounding hides is named."""
    pair, primal = run.best.pair, abs(run.best.certificate.primal)
    if pair is None or not hasattr(run.problem, "penalty_value"):
        return status.advice
    with np.errstate(over="ignore"):
        charged = float(run.problem.penalty_value(pair[0]))
    if not 0.0 < charged < _LOST_PENALTY_SHARE * primal:
        return status.advice
    return (
        f"The penalty is only {charged / primal:.0e} of the objective, so rounding hides it and "
        "nothing can be proved: make it stronger, leave it out, or divide X or sample_weight by a "
        "large number."
    )


def warn_about(run: Any, status: Status, stacklevel: int) -> None:
    """Warn about the answer of a run that is not what was asked for."""
    if not status.deserves_warning:
        return
    proof = run.best.certificate
    names = " and ".join(dict.fromkeys(map(repr, run.tried))) or "The solve"
    unit = "passes" if run.tried == ["passes"] else "iterations"
    where = (
        f"at a certified relative gap of {proof.relative_gap:.1e} (tol={run.limits.tol:.1e}) "
        f"and a constraint violation of {proof.violation:.1e}"
    )
    if math.isinf(proof.relative_gap):
        where = "before an answer was evaluated on all rows: nothing is certified"
    warnings.warn(
        f"{names} ended ({status.value}) after {run.n_iter} {unit} {where}. {_advice(run, status)}",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )
