"""scikit-learn's own checks, with no expected failures."""

from __future__ import annotations

from typing import Any

import pytest
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
    PLQClassifierCV(Cs=4, cv=3),
    PLQRegressorCV(Cs=4, cv=3),
    QuantileRegressorCV(alphas=4, cv=3),
]


# One check has a class with fewer samples than folds, of which scikit-learn's splitter warns.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore:QuantileRegressor. the penalty of the default:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
