"""The scikit-learn face: estimators."""

from rectiline.estimators._classifier import PLQClassifier
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._regressor import PLQRegressor

__all__ = ["PLQClassifier", "PLQRegressor", "QuantileRegressor"]
