"""Brownlee's stack loss data: coefficients as R prints them for `lm` and quantreg's `rq`."""

import numpy as np
import pytest

import rectiline as rl

AIR = [80, 80, 75, 62, 62, 62, 62, 62, 58, 58, 58, 58, 58, 58, 50, 50, 50, 50, 50, 56, 70]
WATER = [27, 27, 25, 24, 22, 23, 24, 24, 23, 18, 18, 17, 18, 19, 18, 18, 19, 19, 20, 20, 20]
ACID = [89, 88, 90, 87, 87, 87, 93, 93, 87, 80, 89, 88, 82, 93, 89, 86, 72, 79, 80, 82, 91]
LOSS = [42, 37, 37, 28, 18, 18, 19, 20, 15, 14, 14, 13, 11, 12, 8, 7, 8, 8, 9, 15, 15]
X = np.column_stack([AIR, WATER, ACID]).astype(float)
Y = np.array(LOSS, dtype=float)

QUANTILES = {  # intercept, air flow, water temperature, acid concentration
    0.25: (-36.0, 0.5, 1.0, 0.0),
    0.5: (-39.68986, 0.83188, 0.57391, -0.06087),
    0.75: (-54.18966, 0.87069, 0.98276, 0.0),
}


@pytest.mark.parametrize("quantile", QUANTILES)
def test_quantile_regression(quantile):
    model = rl.QuantileRegressor(quantile=quantile, alpha=0).fit(X, Y)
    found = np.append(model.intercept_, model.coef_)
    np.testing.assert_allclose(found, QUANTILES[quantile], atol=6e-6)


def test_least_squares():
    solution = rl.solve(rl.Problem(X, Y, loss="squared_error", penalty=None))
    found = np.append(solution.intercept, solution.coef)
    np.testing.assert_allclose(found, [-39.9197, 0.7156, 1.2953, -0.1521], atol=6e-5)
