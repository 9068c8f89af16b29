"""Folds are as exact as fits, unless `fold_tol` says otherwise."""

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


def gene_table():
    """Few rows, many columns of different sizes, a weak signal."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 1500)) * np.exp(rng.normal(size=1500))
    return X, np.where(X[:, :20].sum(axis=1) + 3 * rng.normal(size=50) > 0, 1, -1)


CASES = {
    "cancer": (cancer(), PLQClassifierCV(penalty="elasticnet")),
    "wine": (load_wine(return_X_y=True), PLQClassifierCV()),
    "diabetes quantile": (load_diabetes(return_X_y=True), QuantileRegressorCV(quantile=0.7)),
    "genes, squared hinge": (gene_table(), PLQClassifierCV("squared_hinge")),
    "genes, hinge": (gene_table(), PLQClassifierCV()),
    "hinge": (synthetic(4000, 15, "labels", 0.1), PLQClassifierCV()),
    "hinge, l1": (synthetic(4000, 15, "labels", 0.1), PLQClassifierCV(penalty="l1")),
    "absolute": (synthetic(4000, 15, "targets", 0.1), PLQRegressorCV("absolute")),
    "huber": (synthetic(4000, 15, "targets", 0.1), PLQRegressorCV("huber")),
}


@pytest.mark.parametrize("name", CASES)
def test_the_default_chooses_as_much_tighter_folds_do(name):
    """The choice is the same, and its score moves by less than a tenth of its standard error.

    At other strengths single samples may change sides: solutions under L1 need not be unique.
    """
    (X, y), model = CASES[name]
    model.set_params(**{"alphas" if isinstance(model, QuantileRegressorCV) else "Cs": 12})
    default = model.set_params(fold_tol=None).fit(X, y).cv_results_["mean_test_score"].copy()
    exact = model.set_params(tol=1e-10).fit(X, y).cv_results_
    scores, error = exact["mean_test_score"], exact["std_test_score"] / np.sqrt(5)
    best = int(np.argmax(scores))
    assert np.argmax(default) == best
    assert abs(default[best] - scores[best]) <= 0.1 * error[best] + 1e-12


def test_the_fit_itself_is_as_good_as_asked_for():
    X, y = synthetic(4000, 20, "labels", 0.5)
    model = PLQClassifierCV(Cs=6, fold_tol=1e-3).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert 1e-6 < model.path_.relative_gaps.max() <= 1e-3  # as the folds are
    tight = PLQClassifierCV(Cs=6).fit(X, y)
    assert tight.path_.relative_gaps.max() <= 1e-6
    same = PLQClassifier(C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-3)


@pytest.mark.filterwarnings("ignore:QuantileRegressor. the penalty of the default:UserWarning")
@pytest.mark.parametrize(
    ("search", "plain", "data"),
    [
        (PLQClassifierCV(Cs=[0.1, 1.0], fold_tol=0.1), PLQClassifier(), cancer()),
        (
            PLQRegressorCV(Cs=[0.1, 1.0], fold_tol=0.1),
            PLQRegressor(),
            load_diabetes(return_X_y=True),
        ),
        (
            QuantileRegressorCV(alphas=[0.1, 1.0]),
            QuantileRegressor(),
            load_diabetes(return_X_y=True),
        ),
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
        PLQRegressorCV(fold_tol=wrong).fit(*load_diabetes(return_X_y=True))
