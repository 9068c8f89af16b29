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

# The scikit-learn face is imported on first use: solving a Problem does not pay for it.
_LATE = {
    "DistributionRegressor": "rectiline.estimators",
    "ExpectedShortfallRegressor": "rectiline.estimators",
    "MatrixFactorization": "rectiline.estimators",
    "MultiTaskClassifier": "rectiline.estimators.multitask",
    "MultiTaskClassifierCV": "rectiline.estimators.multitask",
    "MultiTaskRegressor": "rectiline.estimators.multitask",
    "MultiTaskRegressorCV": "rectiline.estimators.multitask",
    "PLQClassifier": "rectiline.estimators",
    "PLQClassifierCV": "rectiline.estimators",
    "PLQRegressor": "rectiline.estimators",
    "PLQRegressorCV": "rectiline.estimators",
    "Path": "rectiline.paths",
    "QuantileRegressor": "rectiline.estimators",
    "QuantileRegressorCV": "rectiline.estimators",
    "formula": "rectiline.formulas",
    "make_scorer": "rectiline.estimators",
    "path": "rectiline.paths",
    "quantile_process": "rectiline.inference",
}
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
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in _LATE_ROOMS:
        return importlib.import_module(f"rectiline.{name}")
    raise AttributeError(f"module 'rectiline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LATE_ROOMS})
