"""Regression of the expected shortfall, the mean beyond a quantile, by two fits in a row.

Users import it from `rectiline`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rectiline.estimators._check import check_data, check_weight, checked_fit
from rectiline.estimators._parameters import keeps_parameters
from rectiline.estimators._proofs import proved_again, save_steps
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._regressor import PLQRegressor
from rectiline.losses import Loss


class ExpectedShortfallRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression of the expected shortfall (CVaR) of y given x.

    The upper shortfall at level q is the mean of y given that y exceeds its q-quantile; the lower
    one is the mean below it. It is fitted in two steps: a quantile regression gives ``v = x'a``,
    and the shortfall is the regression of

        v + max(y - v, 0) / (1 - q)     (upper)      or      v - max(v - y, 0) / q     (lower)

    on x. Errors of the first step do not matter to first order in the second one (Barendse 2020;
    He, Tan and Zhou 2023), so that the sandwich errors of `summary` hold. Where there are fewer
    samples than coefficients, many coefficients give the same fit; those of least norm are taken.

    Parameters
    ----------
    quantile : float, default=0.95
        The level q, strictly between 0 and 1.
    tail : {"upper", "lower"}, default="upper"
        Mean above or below the quantile.
    loss : str or Loss, default="squared_error"
        Loss of the second step: the squared error is consistent for every distribution, "huber"
        resists heavy tails at the price of some bias.
    fit_intercept : bool, default=True
    tol : float, default=1e-9
        Largest certified relative gap of both steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Slopes of the shortfall.
    intercept_ : float
    quantile_model_ : QuantileRegressor
        The first step.
    shortfall_model_ : PLQRegressor
        The second step.
    certificate_ : tuple of Certificate
        The proofs of both steps.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where all names of columns are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators import ExpectedShortfallRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, (20000, 1))
    >>> y = 2 * X[:, 0] + X[:, 0] * rng.standard_normal(20000)
    >>> model = ExpectedShortfallRegressor(quantile=0.9).fit(X, y)
    >>> model.coef_.round(1)  # 2 + pdf(1.2816) / 0.1 = 3.755
    array([3.7])
    """

    _numeric_targets, _multi_output = True, False
    _parameter_constraints: dict[str, list[Any]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "tail": [StrOptions({"upper", "lower"})],
        "loss": [str, Loss],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, 1, closed="neither")],
    }

    @keeps_parameters()
    def __init__(
        self,
        *,
        quantile: float = 0.95,
        tail: str = "upper",
        loss: str | Loss = "squared_error",
        fit_intercept: bool = True,
        tol: float = 1e-9,
    ) -> None: ...

    @checked_fit
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> ExpectedShortfallRegressor:
        """Fit the quantile, then the shortfall.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.

        Returns
        -------
        self
        """
        given = X
        X, y, _ = check_data(self, X, y)
        weight = check_weight(sample_weight, X)
        shared = {"fit_intercept": self.fit_intercept, "tol": self.tol}
        first = QuantileRegressor(quantile=self.quantile, alpha=0.0, **shared)
        first.fit(given, y, sample_weight=weight)
        second = PLQRegressor(self.loss, penalty=None, **shared)
        second.fit(given, self._surrogate(first.predict(given), y), sample_weight=weight)
        if np.count_nonzero(weight) < X.shape[1] + int(self.fit_intercept):
            _take_least_norm(second, X[np.flatnonzero(weight)])
        self.quantile_model_, self.shortfall_model_ = first, second
        self.coef_, self.intercept_ = second.coef_, second.intercept_
        self.certificate_ = (first.certificate_, second.certificate_)
        self.n_iter_ = int(first.n_iter_) + int(second.n_iter_)
        return self

    def _surrogate(self, quantile: Any, y: Any) -> NDArray[np.float64]:
        """Return targets whose conditional mean is the shortfall."""
        y = np.asarray(y, dtype=np.float64)
        if self.tail == "upper":
            return np.asarray(quantile + np.maximum(y - quantile, 0.0) / (1.0 - self.quantile))
        return np.asarray(quantile - np.maximum(quantile - y, 0.0) / self.quantile)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the expected shortfall at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(self.shortfall_model_.predict(X))

    def predict_quantile(self, X: Any) -> NDArray[np.float64]:
        """Return the quantile beyond which the shortfall is the mean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(self.quantile_model_.predict(X))

    def summary(self, X: Any, y: ArrayLike, **options: Any) -> Any:
        """Return a table of the shortfall's coefficients with standard errors.

        Parameters
        ----------
        X, y : array-like
            The data of the fit.
        **options
            As for `PLQRegressor.summary`; the default kind is "sandwich".

        Returns
        -------
        SummaryTable
        """
        return self.shortfall_model_.summary(X, self.both_targets(X, y)[:, 1], **options)

    def both_targets(self, X: Any, y: ArrayLike) -> NDArray[np.float64]:
        """Return y and the targets of the second step, which follow from y and the quantile.

        Parameters
        ----------
        X, y : array-like
            The data of the fit.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        check_is_fitted(self)
        y = np.asarray(y, dtype=np.float64)
        return np.column_stack([y, self._surrogate(self.quantile_model_.predict(X), y)])

    def save_certificate(
        self, path: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> None:
        """Write the proofs of both steps to a file that `rectiline.verify.check_all` checks.

        The file is about the two columns of `both_targets`, bit by bit. Whoever doubts the second
        one compares it with the formula of this class: the file holds the quantile's coefficients.

        Parameters
        ----------
        path : str or path
        X, y : array-like
            The data of the fit.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.

        Examples
        --------
        >>> import io
        >>> import numpy as np
        >>> import rectiline as rl
        >>> rng = np.random.default_rng(0)
        >>> X, y, file = rng.uniform(1, 3, (200, 1)), rng.standard_normal(200), io.BytesIO()
        >>> model = rl.ExpectedShortfallRegressor(quantile=0.9).fit(X, y)
        >>> model.save_certificate(file, X, y)
        >>> found = rl.verify.check_all(file, [(X, model.both_targets(X, y))])
        >>> [one.gap < 1e-6 for one in found]
        [True, True]
        """
        models = (self.quantile_model_, self.shortfall_model_)
        again = [
            proved_again(model, "save_certificate", X, target, sample_weight)
            for model, target in zip(models, self.both_targets(X, y).T, strict=True)
        ]
        save_steps(path, again, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.regressor_tags.poor_score = True  # it predicts a tail, not the mean
        return tags


def _take_least_norm(model: PLQRegressor, X: Any) -> None:
    """Replace the coefficients by the shortest ones with the same predictions on these rows."""
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    centre = rows.mean(axis=0) if model.fit_intercept else np.zeros(rows.shape[1])
    spread = rows - centre
    solved = np.linalg.lstsq(spread, spread @ model.coef_, rcond=None)
    shortest = np.asarray(solved[0], dtype=np.float64)
    model.intercept_ = float(model.intercept_ + centre @ (model.coef_ - shortest))
    model.coef_ = shortest
