"""What type checkers see of the estimators' results; `make lint` runs mypy on this file."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import rectiline as rl


def check(X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """State the types; nothing runs this function."""
    assert_type(rl.PLQRegressor().fit(X, y), rl.PLQRegressor)
    assert_type(rl.PLQRegressorCV().fit(X, y), rl.PLQRegressorCV)
    assert_type(rl.PLQClassifier().fit(X, y), rl.PLQClassifier)
    assert_type(rl.PLQClassifierCV().fit(X, y), rl.PLQClassifierCV)
    assert_type(rl.QuantileRegressor().fit(X, y), rl.QuantileRegressor)
    assert_type(rl.QuantileRegressorCV().fit(X, y), rl.QuantileRegressorCV)
    assert_type(rl.MultiTaskRegressor().fit(X, X), rl.MultiTaskRegressor)
    assert_type(rl.PLQRegressor().fit(X, y).coef_, NDArray[np.float64])
    assert_type(rl.PLQRegressor().fit(X, y).predict(X), NDArray[np.float64])
    assert_type(rl.PLQClassifier().fit(X, y).decision_function(X), NDArray[np.float64])
    assert_type(rl.QuantileRegressor().fit(X, y).predict(X), NDArray[np.float64])
    assert_type(rl.solve(rl.Problem(X, y, rl.losses.Huber())), rl.Solution)
