"""Weights of an L1 penalty from a first fit: ``penalty_params={"weights": "adaptive"}``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rectiline.paths import adaptive_weights
from rectiline.penalties import L1
from rectiline.problems import Problem

__all__ = ["adapted", "adapted_factories", "is_adaptive"]


def is_adaptive(estimator: Any) -> bool:
    """Whether the weights of the penalty come from a first fit."""
    weights = (getattr(estimator, "penalty_params", None) or {}).get("weights")
    return isinstance(weights, str)  # what it says is checked with the other parameters


def adapted(estimator: Any, problem: Problem) -> Problem:
    """Return the problem under its L1 penalty with weights from a first fit, if these are asked."""
    if not is_adaptive(estimator) or problem.penalty is None:
        return problem
    weights = adaptive_weights(problem, estimator.penalty_params.get("power", 1.0))
    return problem.with_penalty(L1(problem.penalty.strength, weights))


def adapted_factories(
    estimator: Any, factories: Sequence[Callable[[], Problem]], by_row: bool
) -> list[Callable[[], Problem]]:
    """Return how to make the problems with their weights, which become ``penalty_weights_``.

    With `by_row` the attribute has a row for each problem.
    """
    vars(estimator).pop("penalty_weights_", None)
    if not is_adaptive(estimator):
        return list(factories)
    problems = [adapted(estimator, make()) for make in factories]
    found = [one.penalty.weights for one in problems if isinstance(one.penalty, L1)]
    if found:
        estimator.penalty_weights_ = np.array(found) if by_row else found[0]
    return [partial(_same, one) for one in problems]


def _same(problem: Problem) -> Problem:
    return problem
