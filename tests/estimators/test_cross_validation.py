"""CV estimators: their table is what scikit-learn's search finds, their paths are certified."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from rectiline.estimators import (
    PLQClassifier,
    PLQClassifierCV,
    PLQRegressor,
    PLQRegressorCV,
    QuantileRegressor,
    QuantileRegressorCV,
)
from rectiline.exceptions import NoAnswerError

X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_CANCER = StandardScaler().fit_transform(X_CANCER)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_classifier_scores_are_those_of_single_fits(multi_class):
    X, y = load_iris(return_X_y=True)
    Cs = [0.01, 0.1, 1.0]
    model = PLQClassifierCV(Cs=Cs, cv=4, multi_class=multi_class).fit(X, y)
    for C, score in zip(Cs, model.cv_results_["mean_test_score"], strict=True):
        single = PLQClassifier(C=C, multi_class=multi_class)
        assert score == pytest.approx(cross_val_score(single, X, y, cv=4).mean(), abs=1e-12)
    best = PLQClassifier(C=model.C_, multi_class=multi_class).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-5, atol=1e-7)


def test_regressor_scores_are_those_of_single_fits():
    Cs = [0.1, 1.0, 10.0]
    width = {"delta": 60.0}  # "auto" would find another one on each fold
    model = PLQRegressorCV(
        Cs=Cs, loss_params=width, cv=KFold(3), scoring="neg_mean_absolute_error", n_jobs=2
    )
    model.fit(X_DIABETES, Y_DIABETES)
    for C, score in zip(Cs, model.cv_results_["mean_test_score"], strict=True):
        expected = cross_val_score(
            PLQRegressor(C=C, loss_params=width),
            X_DIABETES,
            Y_DIABETES,
            cv=KFold(3),
            scoring="neg_mean_absolute_error",
        )
        assert score == pytest.approx(expected.mean(), rel=1e-4)
    assert model.C_ == 10.0


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_default_grid_is_certified_from_zeros_on(penalty):
    model = PLQClassifierCV(Cs=8, penalty=penalty, cv=3, l1_ratios=[0.3, 0.9])
    model.fit(X_CANCER, Y_CANCER)
    assert model.path_.relative_gaps.max() <= 1e-6
    assert np.all(np.diff(model.Cs_) > 0)
    assert model.score(X_CANCER, Y_CANCER) > 0.95
    rows = 16 if penalty == "elasticnet" else 8
    assert model.cv_results_["param_C"].size == rows
    assert ("param_l1_ratio" in model.cv_results_) == (penalty == "elasticnet")


def test_quantiles_share_one_alpha():
    model = QuantileRegressorCV(quantile=[0.2, 0.8], alphas=5, cv=3).fit(X_DIABETES, Y_DIABETES)
    assert model.coef_.shape == (2, 10) and len(model.path_) == 2
    same = QuantileRegressor(quantile=[0.2, 0.8], alpha=model.alpha_).fit(X_DIABETES, Y_DIABETES)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-5, atol=1e-5)


def test_multi_output():
    Y = np.column_stack([Y_DIABETES, -Y_DIABETES])
    model = PLQRegressorCV(Cs=[1.0, 10.0], cv=3).fit(X_DIABETES, Y)
    assert model.coef_.shape == (2, 10) and isinstance(model.path_, tuple)


def test_groups_reach_the_splitter():
    groups = np.arange(Y_DIABETES.size) % 7
    model = PLQRegressorCV(Cs=[1.0, 10.0], cv=GroupKFold(3))
    model.fit(X_DIABETES, Y_DIABETES, groups=groups)
    assert model.verify(X_DIABETES, Y_DIABETES, groups=groups).relative_gap <= model.tol
    with pytest.raises(TypeError, match="groups"):
        model.fit(X_DIABETES, Y_DIABETES, colour="blue")
    with config_context(enable_metadata_routing=True):
        routed = PLQRegressorCV(Cs=[1.0, 10.0], cv=GroupKFold(3).set_split_request(groups=True))
        routed.fit(X_DIABETES, Y_DIABETES, groups=groups)
    assert routed.C_ == model.C_


@pytest.mark.parametrize(
    ("keywords", "message"),
    [({"Cs": [-1.0]}, "positive"), ({"penalty": None}, "no strength"), ({"Cs": 0}, "Cs")],
)
def test_messages(keywords, message):
    with pytest.raises(ValueError, match=message):
        PLQRegressorCV(**keywords).fit(X_DIABETES, Y_DIABETES)


def test_a_time_limit_is_for_the_whole_search():
    model = PLQClassifierCV(solver="newton", penalty="l1", cv=3, time_limit=1e-9)
    with pytest.raises(NoAnswerError, match="time_limit="):
        model.fit(X_CANCER, Y_CANCER)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_default_score_of_a_regression_is_r2(outputs):
    Y = np.column_stack([Y_DIABETES, np.sqrt(Y_DIABETES)])[:, :outputs]
    Y = Y[:, 0] if outputs == 1 else Y
    weight = np.random.default_rng(0).uniform(0.5, 2.0, Y_DIABETES.size)
    keywords = {"Cs": [1.0, 100.0], "cv": KFold(3)}
    fast = PLQRegressorCV(**keywords).fit(X_DIABETES, Y, sample_weight=weight)
    slow = PLQRegressorCV(scoring="r2", **keywords).fit(X_DIABETES, Y, sample_weight=weight)
    for fold in range(3):
        column = f"split{fold}_test_score"
        np.testing.assert_allclose(fast.cv_results_[column], slow.cv_results_[column], rtol=1e-9)


@pytest.mark.parametrize("kind", [PLQRegressorCV, QuantileRegressorCV, PLQClassifierCV])
def test_a_fold_without_weight_is_not_scored(kind):
    X, y = (X_CANCER, Y_CANCER) if kind is PLQClassifierCV else (X_DIABETES, Y_DIABETES)
    weight = np.ones(y.size)
    folds = list(KFold(3).split(X))
    weight[folds[1][1]] = 0.0
    grid = {"alphas": [0.1, 0.01]} if kind is QuantileRegressorCV else {"Cs": [0.1, 1.0]}
    model = kind(cv=folds, **grid).fit(X, y, sample_weight=weight)
    table = model.cv_results_
    assert np.isnan(table["split1_test_score"]).all()
    others = 0.5 * (table["split0_test_score"] + table["split2_test_score"])
    np.testing.assert_allclose(table["mean_test_score"], others)
    weight[:] = 1.0
    weight[folds[0][1]] = 0.0
    with pytest.raises(ValueError, match="No fold holds out"):
        kind(cv=folds[:1], **grid).fit(X, y, sample_weight=weight)
