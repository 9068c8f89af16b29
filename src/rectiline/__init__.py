"""Linear models with any convex piecewise linear-quadratic loss, with a proof of optimality."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rectiline import constraints, losses, penalties, rows
from rectiline._thread_count import set_threads
from rectiline.exceptions import (
    ConvergenceWarning,
    InfeasibleError,
    NoAnswerError,
    UnsupportedProblemError,
)
from rectiline.problems import Certificate, DualPoint, InfeasibilityCertificate, Problem
from rectiline.solvers import Progress, Solution, Status, solve, solve_family

if TYPE_CHECKING:
    from rectiline.estimators import (
        DistributionRegressor,
        ExpectedShortfallRegressor,
        MatrixFactorization,
        PLQClassifier,
        PLQClassifierCV,
        PLQRegressor,
        PLQRegressorCV,
        QuantileRegressor,
        QuantileRegressorCV,
        make_scorer,
    )
    from rectiline.estimators.multitask import (
        MultiTaskClassifier,
        MultiTaskClassifierCV,
        MultiTaskRegressor,
        MultiTaskRegressorCV,
    )
    from rectiline.formulas import formula
    from rectiline.inference import quantile_process
    from rectiline.paths import Path, path

__version__ = "0.3.0"

# Estimators are imported on first use: solving a Problem does not need them.
_ROOMS_OF_LATE_NAMES = {
    "Path": "paths",
    "formula": "formulas",
    "path": "paths",
    "quantile_process": "inference",
}  # of those that are no estimators
_LATE_ROOMS = ("datasets", "estimators", "formulas", "inference", "paths", "reports", "verify")

__all__ = [
    "Certificate",
    "ConvergenceWarning",
    "DistributionRegressor",
    "DualPoint",
    "ExpectedShortfallRegressor",
    "InfeasibilityCertificate",
    "InfeasibleError",
    "MatrixFactorization",
    "MultiTaskClassifier",
    "MultiTaskClassifierCV",
    "MultiTaskRegressor",
    "MultiTaskRegressorCV",
    "NoAnswerError",
    "PLQClassifier",
    "PLQClassifierCV",
    "PLQRegressor",
    "PLQRegressorCV",
    "Path",
    "Problem",
    "Progress",
    "QuantileRegressor",
    "QuantileRegressorCV",
    "Solution",
    "Status",
    "UnsupportedProblemError",
    "constraints",
    "formula",
    "losses",
    "make_scorer",
    "path",
    "penalties",
    "quantile_process",
    "rows",
    "set_threads",
    "solve",
    "solve_family",
]


def __getattr__(name: str) -> Any:
    if name in _LATE_ROOMS:
        return importlib.import_module(f"rectiline.{name}")
    if name in __all__:
        room = "estimators.multitask" if name.startswith("MultiTask") else "estimators"
        room = _ROOMS_OF_LATE_NAMES.get(name, room)
        return getattr(importlib.import_module(f"rectiline.{room}"), name)
    raise AttributeError(f"module 'rectiline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LATE_ROOMS})
