"""The scikit-learn face: estimators."""

from rectiline.estimators._classifier import PLQClassifier
from rectiline.estimators._classifier_cv import PLQClassifierCV
from rectiline.estimators._distribution import DistributionRegressor
from rectiline.estimators._factorization import MatrixFactorization
from rectiline.estimators._loss_scorer import make_scorer
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._quantile_cv import QuantileRegressorCV
from rectiline.estimators._regressor import PLQRegressor
from rectiline.estimators._regressor_cv import PLQRegressorCV
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
