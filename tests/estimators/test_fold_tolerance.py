"""Folds are solved to a modest tolerance: they choose as exact ones do, and the fit is exact."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import scale
from sklearn.utils._param_validation import InvalidParameterError

from rectiline.estimators import (
    PLQClassifier,
    PLQClassifierCV,
    PLQRegressor,
    PLQRegressorCV,
    QuantileRegressor,
    QuantileRegressorCV,
)


def synthetic(n, d, kind, signal, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = signal * X[:, :3].sum(axis=1)
    if kind == "labels":
        return X, np.where(z + rng.normal(size=n) > 0, 1, -1)
    return X, z + rng.standard_t(3, n)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


CASES = {
    "cancer raw": (load_breast_cancer(return_X_y=True), PLQClassifierCV()),
    "cancer scaled": (cancer(), PLQClassifierCV(penalty="elasticnet")),
    "cancer l1": (load_breast_cancer(return_X_y=True), PLQClassifierCV(penalty="l1")),
    "wine": (load_wine(return_X_y=True), PLQClassifierCV()),
    "diabetes": (load_diabetes(return_X_y=True), PLQRegressorCV()),
    "diabetes quantile": (load_diabetes(return_X_y=True), QuantileRegressorCV(quantile=0.7)),
    "labels": (synthetic(1500, 20, "labels", 0.5), PLQClassifierCV()),
    "weak labels": (synthetic(1500, 20, "labels", 0.1), PLQClassifierCV()),
    "targets": (synthetic(1500, 20, "targets", 0.5), PLQRegressorCV(loss="absolute")),
    "weak targets": (synthetic(1500, 20, "targets", 0.1), PLQRegressorCV(loss="absolute")),
    "weak quantile": (synthetic(1500, 20, "targets", 0.1), QuantileRegressorCV(l1_ratios=[0.5])),
}


@pytest.mark.parametrize("name", CASES)
def test_the_choice_is_as_good_as_that_of_exact_folds(name):
    (X, y), model = CASES[name]
    rough = model.set_params(fold_tol=1e-3).fit(X, y).cv_results_["mean_test_score"]
    exact = model.set_params(fold_tol=1e-6).fit(X, y).cv_results_
    scores, noise = exact["mean_test_score"], exact["std_test_score"]
    lost = scores.max() - scores[np.argmax(rough)]
    assert lost <= 0.2 * noise[np.argmax(scores)]


def test_the_fit_itself_is_as_good_as_asked_for():
    X, y = synthetic(4000, 20, "labels", 0.5)
    model = PLQClassifierCV(Cs=6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert 1e-6 < model.path_.relative_gaps.max() <= 1e-3  # a large table: as the folds are
    tight = PLQClassifierCV(Cs=6, fold_tol=1e-6).fit(X, y)
    assert tight.path_.relative_gaps.max() <= 1e-6
    same = PLQClassifier(C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-3)


@pytest.mark.parametrize(
    ("search", "plain", "data"),
    [
        (PLQClassifierCV(Cs=[0.1, 1.0], fold_tol=0.1), PLQClassifier(), cancer()),
        (PLQRegressorCV(Cs=[0.1, 1.0], fold_tol=0.1), PLQRegressor(), CASES["diabetes"][0]),
        (QuantileRegressorCV(alphas=[0.1, 1.0]), QuantileRegressor(), CASES["diabetes"][0]),
    ],
    ids=["classifier", "regressor", "quantiles"],
)
def test_a_loose_search_ends_in_a_plain_fit(search, plain, data):
    search.fit(*data)
    chosen = {"C": search.C_} if hasattr(search, "C_") else {"alpha": search.alpha_}
    plain.set_params(**chosen).fit(*data)
    np.testing.assert_allclose(search.coef_, plain.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(search.intercept_, plain.intercept_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("wrong", [0.0, 1.0, -1e-3, "small"])
def test_fold_tol_is_checked(wrong):
    with pytest.raises(InvalidParameterError, match="fold_tol"):
        PLQRegressorCV(fold_tol=wrong).fit(*CASES["diabetes"][0])
