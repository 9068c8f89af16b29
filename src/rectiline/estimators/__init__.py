"""Estimators with the interface of scikit-learn."""

import sys

from rectiline.estimators import _classifier, _regressor, _scores
from rectiline.estimators._classifier import PLQClassifier, PLQClassifierCV
from rectiline.estimators._distribution import DistributionRegressor
from rectiline.estimators._factorization import MatrixFactorization
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._quantile_cv import QuantileRegressorCV
from rectiline.estimators._regressor import PLQRegressor, PLQRegressorCV
from rectiline.estimators._scores import make_scorer
from rectiline.estimators._shortfall import ExpectedShortfallRegressor

__all__ = [
    "DistributionRegressor",
    "ExpectedShortfallRegressor",
    "MatrixFactorization",
    "PLQClassifier",
    "PLQClassifierCV",
    "PLQRegressor",
    "PLQRegressorCV",
    "QuantileRegressor",
    "QuantileRegressorCV",
    "make_scorer",
]

# Pickles of 0.2.0 look for classes where they stood then.
for _old, _now in (
    ("_classifier_cv", _classifier),
    ("_loss_scorer", _scores),
    ("_regressor_cv", _regressor),
):
    sys.modules[f"{__name__}.{_old}"] = _now
