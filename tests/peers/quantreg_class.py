"""`QuantReg` of statsmodels with coefficients of ours; the rest of its results follows from them.

Its `fit` iterates ``beta = pinv(X*'X) X*'y``; the class lets that product be our solution, so that
residuals, pseudo R2, bandwidths, sparsity and errors are computed from it by statsmodels.
"""

from __future__ import annotations

from unittest import mock

import numpy as np
from statsmodels.regression.quantile_regression import QuantReg as Theirs

import rectiline as rl


class QuantReg(Theirs):
    """Quantile regression whose coefficients come from `rectiline.QuantileRegressor`."""

    def fit(self, q=0.5, **options):
        if not 0 < q < 1:
            return super().fit(q, **options)  # its own message
        model = rl.QuantileRegressor(quantile=q, alpha=0.0, fit_intercept=False)
        coef = model.fit(self.exog, self.endog).coef_

        def inverse(square):
            return _Inverse(np.linalg.pinv(square), coef)

        with mock.patch("statsmodels.regression.quantile_regression.pinv", inverse):
            return super().fit(q, **options)


class _Inverse(np.ndarray):
    """A matrix like any other, but its product with a vector is the solution."""

    def __new__(cls, matrix, solution):
        made = np.asarray(matrix).view(cls)
        made.solution = solution
        return made

    def __array_function__(self, function, types, arguments, keywords):
        if function is np.dot and arguments[0] is self and np.ndim(arguments[1]) == 1:
            return self.solution.copy()
        plain = [np.asarray(one) if isinstance(one, _Inverse) else one for one in arguments]
        return function(*plain, **keywords)
