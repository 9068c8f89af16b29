"""`LinearSVC` and `LinearSVR` with scikit-learn's parameters, fitted by our estimators.

The losses, the meaning of C and the one-vs-rest scheme are the same. Two things are not: liblinear
penalises the intercept (as a column of the value `intercept_scaling`), which these classes do by
adding that column, and it has solvers with limits on iterations of their own, which are ignored.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model._base import LinearClassifierMixin, LinearModel, SparseCoefMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

import rectiline as rl

_TOL = 1e-9
_COMMON: dict[str, list[Any]] = {
    "dual": ["boolean", StrOptions({"auto"})],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
}


def _with_intercept_column(X: Any, value: float) -> Any:
    column = np.full((X.shape[0], 1), float(value))
    return sp.hstack([X, column], format="csr") if sp.issparse(X) else np.hstack([X, column])


class _Fits(BaseEstimator):
    """Fits `_model` on the data with the column of the intercept and takes its answer over."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, model: Any) -> Any:
        if self.fit_intercept:
            model.fit(_with_intercept_column(X, self.intercept_scaling), y, sample_weight)
            self.coef_ = model.coef_[..., :-1]
            self.intercept_ = self.intercept_scaling * model.coef_[..., -1]
        else:
            model.fit(X, y, sample_weight)
            self.coef_, self.intercept_ = model.coef_, 0.0
        self.n_iter_ = int(np.max(model.n_iter_))
        return model


class LinearSVC(LinearClassifierMixin, SparseCoefMixin, _Fits):
    """`rectiline.PLQClassifier` in the place of `sklearn.svm.LinearSVC`."""

    _parameter_constraints = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        **_COMMON,
    }

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.penalty, self.loss, self.dual, self.tol, self.C = penalty, loss, dual, tol, C
        self.multi_class, self.fit_intercept = multi_class, fit_intercept
        self.intercept_scaling, self.class_weight = intercept_scaling, class_weight
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter

    def fit(self, X, y, sample_weight=None):
        self._validate_params()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        model = rl.PLQClassifier(
            self.loss,
            penalty=self.penalty,
            C=self.C,
            class_weight=self.class_weight,
            multi_class=self.multi_class,
            fit_intercept=False,
            tol=_TOL,
        )
        self.classes_ = self._fit(X, y, sample_weight, model).classes_
        return self


class LinearSVR(RegressorMixin, LinearModel, _Fits):
    """`rectiline.PLQRegressor` in the place of `sklearn.svm.LinearSVR`."""

    _parameter_constraints = {
        "epsilon": [Real],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        **_COMMON,
    }

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.epsilon, self.tol, self.C, self.loss = epsilon, tol, C, loss
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.dual, self.verbose = dual, verbose
        self.random_state, self.max_iter = random_state, max_iter

    def fit(self, X, y, sample_weight=None):
        self._validate_params()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        model = rl.PLQRegressor(
            self.loss,
            loss_params={"epsilon": self.epsilon},
            penalty="l2",
            C=self.C,
            fit_intercept=False,
            tol=_TOL,
        )
        self._fit(X, y, sample_weight, model)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return super().predict(X)
