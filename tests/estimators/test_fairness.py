"""Fairness constraints hold on the training data, and the table says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rectiline.constraints import DemographicParity, EqualOpportunity, Fairness
from rectiline.estimators import PLQClassifier, PLQClassifierCV, PLQRegressor


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) + 0.5 * group[:, None] * np.array([1, 0, 1, 0])
    y = (X @ [1, 1, 0.5, 0] + rng.normal(size=300) > 0.8).astype(int)
    return X, y, group


def spread(values, group, mask=None):
    keep = np.ones(group.size, bool) if mask is None else mask
    means = [values[keep & (group == g)].mean() for g in np.unique(group)]
    return np.ptp(means)


def test_without_constraints_the_groups_differ(data):
    X, y, group = data
    model = PLQClassifier().fit(X, y, sensitive_features=group)
    assert spread(model.decision_function(X), group) > 0.5


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.1])
def test_covariance(data, tolerance):
    X, y, group = data
    model = PLQClassifier(constraints=[Fairness(tolerance=tolerance)])
    model.fit(X, y, sensitive_features=group)
    centred = group - group.mean()
    assert abs(np.mean(centred * model.decision_function(X))) <= tolerance + 1e-9
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_demographic_parity(data, tolerance):
    X, y, group = data
    labels = np.array(["a", "b", "c"])[group]
    model = PLQClassifier(constraints=[DemographicParity(tolerance=tolerance)])
    model.fit(X, y, sensitive_features=pd.Series(labels, name="team"))
    assert spread(model.decision_function(X), group) <= tolerance + 1e-8
    table = pd.DataFrame(model.fairness_)
    assert list(table["column"].unique()) == ["team"] and list(table["group"]) == list("abc")
    assert np.ptp(table["mean_decision"]) <= tolerance + 1e-8


def test_equal_opportunity(data):
    X, y, group = data
    model = PLQClassifier(constraints=EqualOpportunity(tolerance=0.02))
    model.fit(X, y, sensitive_features=group)
    assert spread(model.decision_function(X), group, y == 1) <= 0.02 + 1e-8
    table = model.fairness_
    np.testing.assert_allclose(
        table["true_positive_rate"],
        [(model.predict(X)[(y == 1) & (group == g)] == 1).mean() for g in range(3)],
    )


def test_each_class_of_several_is_fair(data):
    X, _, group = data
    y = np.digitize(X[:, 0], [-0.5, 1.0])
    model = PLQClassifier(constraints=[DemographicParity(tolerance=0.1)])
    model.fit(X, y, sensitive_features=group)
    for column in model.decision_function(X).T:
        assert spread(column, group) <= 0.1 + 1e-8
    with pytest.raises(ValueError, match="'ovr'"):
        model.set_params(multi_class="ovo").fit(X, y, sensitive_features=group)


def test_regression(data):
    X, _, group = data
    y = X.sum(axis=1)
    model = PLQRegressor(constraints=[DemographicParity(tolerance=0.1)])
    model.fit(X, y, sensitive_features=group)
    assert spread(model.predict(X), group) <= 0.1 + 1e-8
    with pytest.raises(ValueError, match="positive"):
        PLQRegressor(constraints=[EqualOpportunity()]).fit(X, y, sensitive_features=group)


def test_folds_are_fair_too(data):
    X, y, group = data
    model = PLQClassifierCV(Cs=[0.1, 1.0], cv=3, constraints=[Fairness(tolerance=0.01)])
    model.fit(X, y, sensitive_features=group)
    assert abs(np.mean((group - group.mean()) * model.decision_function(X))) <= 0.01 + 1e-9


def test_messages(data):
    X, y, group = data
    with pytest.raises(ValueError, match="sensitive_features"):
        PLQClassifier(constraints=[Fairness(tolerance=0.1)]).fit(X, y)
    with pytest.raises(ValueError, match="one row per sample"):
        PLQClassifier().fit(X, y, sensitive_features=group[:-1])
    with pytest.raises(ValueError, match="distinct values"):
        DemographicParity(np.arange(100.0))
    with pytest.raises(ValueError, match="tolerance"):
        EqualOpportunity(tolerance=-1.0)
