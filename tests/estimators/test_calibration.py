"""Probabilities by calibration: only when asked for, near the truth, coefficients unchanged."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import PredefinedSplit

import rectiline as rl
from rectiline.constraints import Fairness
from rectiline.estimators import PLQClassifier
from rectiline.problems.blocks import fold_of_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1500, 2))
TRUE = 1.0 / (1.0 + np.exp(-(0.5 + X @ [1.5, -1.0])))
Y = np.where(RNG.uniform(size=1500) < TRUE, "yes", "no")


def test_probabilities_exist_only_when_asked_for():
    model = PLQClassifier().fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "calibration='sigmoid'" in str(caught.value.__cause__)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_near_the_truth(method):
    plain = PLQClassifier("smoothed_hinge").fit(X, Y)
    model = PLQClassifier("smoothed_hinge", calibration=method).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    found = model.predict_proba(X)
    assert found.shape == (1500, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.mean(np.abs(found[:, 1] - TRUE)) < 0.05


def test_it_is_scikit_learns_calibration():
    model = PLQClassifier(calibration="sigmoid").fit(X, Y)
    theirs = CalibratedClassifierCV(PLQClassifier(), method="sigmoid", cv=5, ensemble=False)
    expected = theirs.fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected)


def test_names_weights_and_sensitive_features_reach_the_folds():
    frame = pd.DataFrame(X, columns=["a", "b"])
    group = (X[:, 0] > 0).astype(int)
    model = PLQClassifier(
        calibration="sigmoid", monotone={"a": 1}, constraints=Fairness(tolerance=0.5)
    ).fit(frame, Y, sample_weight=np.ones(1500), sensitive_features=group)
    assert np.isfinite(model.predict_proba(frame)).all() and "calibrated_" in vars(model)
    model.set_params(calibration=None).fit(frame, Y, sensitive_features=group)
    assert "calibrated_" not in vars(model)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    found = PLQClassifier(calibration="sigmoid").fit(X, y).predict_proba(X)
    assert found.shape == (150, 3) and np.mean(found.argmax(axis=1) == y) > 0.9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_blocks_get_the_probabilities_of_arrays(n_classes, method, weighted):
    rng = np.random.default_rng(0)
    n = 3000
    X = rng.standard_normal((n, 3))
    z = X @ [1.0, 2.0, 3.0] + 2 * rng.standard_normal(n)
    y = np.where(z > 0, "up", "down") if n_classes == 2 else np.digitize(z, [-2, 2])
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    rows = rl.rows.from_arrays(X, y, weight, block_rows=700)
    options = {"loss": "squared_hinge", "tol": 1e-9}
    found = rl.PLQClassifier(calibration=method, **options).fit(rows)
    folds = PredefinedSplit(fold_of_rows(np.arange(n), 5))
    expected = CalibratedClassifierCV(
        rl.PLQClassifier(**options), method=method, cv=folds, ensemble=False
    ).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(X), atol=1e-7)
    np.testing.assert_array_equal(found.predict_proba(rows), found.predict_proba(X))
    np.testing.assert_array_equal(found.calibrated_.predict_proba(X), found.predict_proba(X))
