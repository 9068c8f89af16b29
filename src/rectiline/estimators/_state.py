"""What an estimator holds, keeps after a failed fit, and takes along in a pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from rectiline.problems import DualPoint
from rectiline.problems.blocks import SplitDual
from rectiline.solvers import Solution

__all__ = ["keep_parameters", "restored_on_failure", "without_multipliers"]

# scikit-learn keeps these on the estimator while a fit runs and takes them off itself.
_NOT_OURS = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


def keep_parameters(estimator: Any, given: Mapping[str, Any]) -> None:
    """Set every parameter as it was given; `given` are the locals of the constructor."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[None]:
    """Put every attribute back if the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        running = {name: vars(estimator)[name] for name in _NOT_OURS if name in vars(estimator)}
        vars(estimator).clear()
        vars(estimator).update(before | running)
        raise


def without_multipliers(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes for a pickle: those of the model, and nothing that grows with the data.

    The multipliers of the samples prove the certificate of the fit; predictions need none of them.
    """
    kept = {name: value for name, value in state.items() if name != "dual_coef_"}
    solution = kept.get("solution_")
    if isinstance(solution, tuple):
        kept["solution_"] = tuple(_light(one) for one in solution)
    elif solution is not None:
        kept["solution_"] = _light(solution)
    return kept


def _light(solution: Any) -> Any:
    """Return a solution of one problem or of several tasks without the samples' multipliers."""
    if isinstance(solution, Solution):
        return replace(solution, dual=_light_dual(solution.dual))
    return replace(solution, dual=[_light_dual(one) for one in solution.dual])


def _light_dual(dual: DualPoint | SplitDual) -> Any:
    if isinstance(dual, SplitDual):
        return replace(dual, rows=np.zeros(0, dtype=np.int64), values=np.zeros(0))
    return replace(dual, sample=np.zeros(0))
