"""scikit-learn's own checks, with no expected failures."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from rectiline.estimators import (
    PLQClassifier,
    PLQClassifierCV,
    PLQRegressor,
    PLQRegressorCV,
    QuantileRegressor,
    QuantileRegressorCV,
)

ESTIMATORS = [
    PLQClassifier(),
    PLQClassifier(loss="squared_hinge", multi_class="ovo"),
    PLQClassifier(penalty="l1"),
    PLQRegressor(),
    PLQRegressor(loss="absolute"),
    QuantileRegressor(),
    QuantileRegressor(quantile=0.7, alpha=0.01),
    PLQClassifierCV(Cs=5, cv=3),
    PLQRegressorCV(Cs=5, cv=3),
    QuantileRegressorCV(alphas=5, cv=3),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
