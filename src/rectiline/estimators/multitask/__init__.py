"""Estimators for many tasks that share a subspace."""

from rectiline.estimators.multitask._classifier import MultiTaskClassifier
from rectiline.estimators.multitask._cv import MultiTaskClassifierCV, MultiTaskRegressorCV
from rectiline.estimators.multitask._regressor import MultiTaskRegressor

__all__ = [
    "MultiTaskClassifier",
    "MultiTaskClassifierCV",
    "MultiTaskRegressor",
    "MultiTaskRegressorCV",
]
