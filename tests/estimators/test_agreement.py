"""Objectives of scikit-learn's estimators, whose answers are made accurate first."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from rectiline.estimators import PLQClassifier, PLQRegressor, QuantileRegressor
from rectiline.losses import Huber, PiecewiseLQ, SquaredHinge

X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)


def pinball(model, X, y, q, alpha, weight=None):
    error = y - X @ model.coef_ - model.intercept_
    loss = np.average(np.maximum(q * error, (q - 1) * error), weights=weight)
    return loss + alpha * np.abs(model.coef_).sum()


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_iris])
def test_raw_classification_data_are_certified_without_a_warning(load):
    X, y = load(return_X_y=True)
    model = PLQClassifier().fit(X, y)
    proofs = model.certificate_ if isinstance(model.certificate_, tuple) else (model.certificate_,)
    assert all(proof.relative_gap <= 1e-6 and proof.violation == 0 for proof in proofs)
    assert model.score(X, y) > 0.94


def test_raw_regression_data_are_certified_without_a_warning():
    model = PLQRegressor().fit(X_DIABETES, Y_DIABETES)
    assert model.certificate_.relative_gap <= 1e-6


def test_linear_svc():
    X = StandardScaler().fit_transform(X_CANCER)
    rival = svm.SVC(kernel="linear", C=0.5, tol=1e-10).fit(X, Y_CANCER)
    model = PLQClassifier(C=0.5, tol=1e-9).fit(X, Y_CANCER)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, rival.intercept_, atol=1e-6)


def test_linear_svc_without_an_intercept():
    X = StandardScaler().fit_transform(X_CANCER)
    rival = svm.LinearSVC(C=0.1, tol=1e-12, max_iter=200_000, fit_intercept=False)
    rival.fit(X, Y_CANCER)
    model = PLQClassifier("squared_hinge", C=0.1, fit_intercept=False).fit(X, Y_CANCER)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-7)


def test_linear_svr():
    X = StandardScaler().fit_transform(X_DIABETES)
    y = Y_DIABETES / Y_DIABETES.std()
    rival = svm.SVR(kernel="linear", C=0.3, epsilon=0.2, tol=1e-10).fit(X, y)
    model = PLQRegressor("epsilon_insensitive", loss_params={"epsilon": 0.2}, C=0.3).fit(X, y)
    np.testing.assert_allclose(model.coef_, rival.coef_[0], atol=2e-5)  # the rival's accuracy


def test_ridge():
    rival = linear_model.Ridge(alpha=0.7).fit(X_DIABETES, Y_DIABETES)
    model = PLQRegressor("squared_error", C=1 / 0.7).fit(X_DIABETES, Y_DIABETES)
    np.testing.assert_allclose(model.coef_, rival.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, rival.intercept_, rtol=1e-9)


def test_huber_objective_beats_any_other_point():
    X = StandardScaler().fit_transform(X_DIABETES)
    loss = Huber(delta=30.0)
    model = PLQRegressor(loss, C=2.0).fit(X, Y_DIABETES)

    def objective(coef, intercept):
        z = X @ coef + intercept
        return 2.0 * loss.value(Y_DIABETES, z).sum() + 0.5 * coef @ coef

    best = objective(model.coef_, model.intercept_)
    assert best == pytest.approx(model.certificate_.primal, rel=1e-12)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1):
        moved = objective(model.coef_ + scale * rng.normal(size=10), model.intercept_)
        assert moved >= best * (1 - 1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantile_regressor(alpha, quantile):
    rival = linear_model.QuantileRegressor(quantile=quantile, alpha=alpha)
    rival.fit(X_DIABETES, Y_DIABETES)
    model = QuantileRegressor(quantile=quantile, alpha=alpha, solver="highs")
    model.fit(X_DIABETES, Y_DIABETES)
    ours, theirs = (pinball(one, X_DIABETES, Y_DIABETES, quantile, alpha) for one in (model, rival))
    assert ours <= theirs * (1 + 1e-8)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-5 * np.abs(rival.coef_).max())


def test_quantile_regressor_with_weights():
    weight = np.random.default_rng(0).integers(0, 4, Y_DIABETES.size).astype(float)
    rival = linear_model.QuantileRegressor(quantile=0.3, alpha=0.01)
    rival.fit(X_DIABETES, Y_DIABETES, weight)
    model = QuantileRegressor(quantile=0.3, alpha=0.01).fit(X_DIABETES, Y_DIABETES, weight)
    ours, theirs = (
        pinball(one, X_DIABETES, Y_DIABETES, 0.3, 0.01, weight) for one in (model, rival)
    )
    assert ours == pytest.approx(theirs, rel=1e-8)


def test_a_custom_loss_is_the_named_one():
    pieces = [(1, -2, 1), (0, 0, 0)]  # (1 - t)^2 left of 1
    custom = PiecewiseLQ([1.0], pieces, of="margin")
    one = PLQClassifier(custom).fit(X_CANCER, Y_CANCER)
    other = PLQClassifier(SquaredHinge()).fit(X_CANCER, Y_CANCER)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-9)


def test_one_vs_one_is_scikit_learns():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rival = svm.SVC(kernel="linear", tol=1e-10, decision_function_shape="ovr").fit(X, y)
    model = PLQClassifier(multi_class="ovo").fit(X, y)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(X), rival.decision_function(X), atol=1e-4)
    assert (model.predict(X) == rival.predict(X)).all()
