"""What users do around a fit: frames, sparse data, pipelines, searches, clones, refits."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn import clone, config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from rectiline.constraints import Fairness, LinearInequality
from rectiline.estimators import PLQClassifier, PLQRegressor, QuantileRegressor
from rectiline.exceptions import ConvergenceWarning, InfeasibleError
from rectiline.losses import Huber
from rectiline.penalties import L1, Ridge

X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    "model",
    [
        PLQClassifier(Huber(), penalty=L1(2.0), constraints=[LinearInequality([1.0, 0.0], 1.0)]),
        PLQRegressor(constraints={"a": ">=0"}, monotone={"b": 1}, order=[["a", "b"]]),
        QuantileRegressor(quantile=[0.1, 0.9], non_crossing=True),
    ],
)
def test_clone_and_pickle(model):
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert repr(copy) == repr(model)


def test_fitted_estimators_pickle():
    model = PLQClassifier().fit(X_CANCER, Y_CANCER)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X_CANCER), model.predict(X_CANCER))
    assert again.certificate_ == model.certificate_


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray])
def test_storage_does_not_matter(convert):
    expected = PLQClassifier("squared_hinge").fit(X_CANCER, Y_CANCER)
    model = PLQClassifier("squared_hinge").fit(convert(X_CANCER), Y_CANCER)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7, atol=1e-10)
    assert (model.predict(convert(X_CANCER)) == expected.predict(X_CANCER)).all()


def test_float32_is_near_float64():
    X = StandardScaler().fit_transform(X_CANCER)
    single = PLQClassifier().fit(X.astype(np.float32), Y_CANCER)
    np.testing.assert_allclose(single.coef_, PLQClassifier().fit(X, Y_CANCER).coef_, atol=1e-4)


def test_names_of_columns():
    model = PLQRegressor().fit(X_DIABETES, Y_DIABETES)
    assert list(model.feature_names_in_) == list(X_DIABETES.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X_DIABETES.rename(columns={"age": "years"}))


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(X_DIABETES)
    model = PLQRegressor(monotone={"bmi": 1}).fit(frame, Y_DIABETES)
    assert list(model.feature_names_in_) == list(X_DIABETES.columns)


def test_pipeline_and_search():
    steps = make_pipeline(StandardScaler(), PLQClassifier())
    grid = {"plqclassifier__C": [0.1, 1.0], "plqclassifier__loss": ["hinge", "squared_hinge"]}
    search = GridSearchCV(steps, grid, cv=3).fit(X_CANCER, Y_CANCER)
    assert search.best_score_ > 0.95


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="pipelines of older versions do not route weights to the score",
)
def test_sensitive_features_are_routed_through_a_search():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, Y_CANCER.size)
    with config_context(enable_metadata_routing=True):
        model = PLQClassifier(constraints=[Fairness(tolerance=0.01)])
        model.set_fit_request(sensitive_features=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        steps = make_pipeline(scaler, model)
        search = GridSearchCV(steps, {"plqclassifier__C": [0.1, 1.0]}, cv=3)
        search.fit(X_CANCER, Y_CANCER, sensitive_features=group, sample_weight=np.ones(group.size))
        assert np.abs(search.best_estimator_[-1].fairness_["covariance"]).max() <= 0.01 + 1e-9


def test_signs_bounds_and_orders_by_name():
    model = PLQRegressor(
        "absolute",
        penalty=None,
        constraints={"s1": ">=0", "s2": (None, 50.0), "s3": 1.5},
        monotone={"age": 1, "sex": -1},
        order=[["bmi", "bp"]],
    ).fit(X_DIABETES, Y_DIABETES)
    coef = dict(zip(model.feature_names_in_, model.coef_, strict=True))
    assert coef["s1"] >= 0 and coef["s2"] <= 50 and coef["s3"] == 1.5
    assert coef["age"] >= 0 >= coef["sex"] and coef["bmi"] <= coef["bp"] + 1e-9
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"constraints": {"height": ">=0"}}, "no column 'height'"),
        ({"constraints": {"age": "> 0"}}, "'>=', '<=' or '=='"),
        ({"constraints": {"age": ">=1", 0: "<=0"}}, "lower bound 1 > upper bound 0"),
        ({"constraints": [3]}, "must be a Constraint such as"),
        ({"monotone": {"age": 2}}, "must be 1"),
        ({"order": [["age"]]}, "not a chain"),
        ({"loss": "hinge"}, "losses of the residual"),
        ({"loss": "hubert"}, "Did you mean 'huber'"),
        ({"penalty": "group"}, "penalty_params"),
        ({"penalty_params": {"q": 1}}, "no parameters"),
    ],
)
def test_messages(keywords, message):
    with pytest.raises((ValueError, TypeError), match=message):
        PLQRegressor(**keywords).fit(X_DIABETES, Y_DIABETES)


def test_a_failing_refit_leaves_the_fit_intact():
    model = PLQRegressor().fit(X_DIABETES, Y_DIABETES)
    before, predicted = dict(vars(model)), model.predict(X_DIABETES)
    model.set_params(constraints=[LinearInequality([[1.0, 0.0], [-1.0, 0.0]], -1.0)])
    with pytest.raises(InfeasibleError) as caught:
        model.fit(X_DIABETES.iloc[:, :2].to_numpy(), Y_DIABETES)
    assert caught.value.certificate.proves
    model.set_params(constraints=())
    assert vars(model).keys() == before.keys() and model.n_features_in_ == 10
    np.testing.assert_array_equal(model.predict(X_DIABETES), predicted)


def test_a_default_that_makes_every_coefficient_zero_is_told():
    with pytest.warns(UserWarning, match="default alpha=1 makes every coefficient zero"):
        QuantileRegressor().fit(X_DIABETES, Y_DIABETES)
    QuantileRegressor(alpha=2.0).fit(X_DIABETES, Y_DIABETES)  # asked for: nothing is said


def test_limits_return_the_best_answer_with_a_warning():
    model = PLQClassifier(max_iter=2, solver="rehline")
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model.fit(X_CANCER, Y_CANCER)
    assert model.status_ == "iteration_limit"
    assert np.isfinite(model.coef_).all() and model.certificate_.gap > 0


def test_multi_output_regression_is_one_fit_per_column():
    Y = np.column_stack([Y_DIABETES, -Y_DIABETES, np.roll(Y_DIABETES, 1)])
    model = PLQRegressor(n_jobs=2).fit(X_DIABETES, Y)
    assert model.coef_.shape == (3, 10) and model.dual_coef_.shape == (3, 442)
    for k in range(3):
        single = PLQRegressor().fit(X_DIABETES, Y[:, k])
        np.testing.assert_allclose(model.coef_[k], single.coef_, rtol=1e-9, atol=1e-12)


def test_class_weight_and_removed_classes():
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 2, 0.0, 1.0)
    model = PLQClassifier().fit(X, y, weight)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    reduced = PLQClassifier().fit(X[y < 2], y[y < 2])
    np.testing.assert_allclose(model.coef_, reduced.coef_, rtol=1e-7, atol=1e-10)
    doubled = PLQClassifier(class_weight={0: 2.0, 1: 1.0, 2: 1.0}).fit(X, y)
    by_hand = PLQClassifier().fit(X, y, np.where(y == 0, 2.0, 1.0))
    np.testing.assert_allclose(doubled.coef_, by_hand.coef_, rtol=1e-7, atol=1e-10)


def test_warm_start_reuses_the_last_fit():
    model = PLQRegressor("absolute", C=1.0, warm_start=True).fit(X_DIABETES, Y_DIABETES)
    first = model.coef_.copy()
    model.set_params(C=1.01).fit(X_DIABETES, Y_DIABETES)
    assert model.status_ == "solved" and np.abs(model.coef_ - first).max() < 5


def test_every_penalty_by_name():
    X = StandardScaler().fit_transform(X_DIABETES)
    groups = [[0, 1], [2, 3], [4, 5, 6, 7, 8, 9]]
    for penalty, params in (
        ("l1", None),
        ("elasticnet", None),
        ("group", {"groups": groups}),
        ("sparse_group", {"groups": groups}),
        ("l1", {"weights": "adaptive"}),
        ("slope", {"q": 0.2}),
        (None, None),
        (Ridge(3.0), None),
    ):
        model = PLQRegressor(penalty=penalty, penalty_params=params).fit(X, Y_DIABETES)
        assert model.status_ == "solved", penalty


def test_notebook_shows_the_certificate():
    model = PLQClassifier()
    assert "certificate" not in model._repr_html_()
    model.fit(*load_iris(return_X_y=True))
    assert "relative gap" in model._repr_html_()
    assert "relative gap" in model._repr_mimebundle_()["text/html"]


def test_the_model_of_a_frame_knows_positions_too():
    frame = pd.DataFrame(X_CANCER)
    with pytest.raises(ValueError, match="has no column names"):
        PLQClassifier(monotone={"a": 1}).fit(frame, Y_CANCER)
    model = PLQClassifier(monotone={0: 1, -1: -1}).fit(frame, Y_CANCER)
    assert model.coef_[0, 0] >= 0 >= model.coef_[0, -1]
