"""Losses as scorers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import get_scorer, hinge_loss, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import rectiline as rl
from rectiline.estimators import PLQClassifier, PLQRegressorCV, make_scorer
from rectiline.losses import Asymmetric, Hinge, Pinball

X, Y = load_diabetes(return_X_y=True)


def test_regression_losses_score_predictions():
    model = LinearRegression().fit(X, Y)
    weight = np.random.default_rng(0).uniform(0, 1, Y.size)
    for scorer in (
        make_scorer("pinball", quantile=0.2),
        pickle.loads(pickle.dumps(make_scorer(Pinball(0.2)))),
    ):
        expected = -mean_pinball_loss(Y, model.predict(X), alpha=0.2, sample_weight=weight)
        assert scorer(model, X, Y, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    several = LinearRegression().fit(X, np.c_[Y, -Y])
    found = rl.make_scorer("absolute")(several, X, np.c_[Y, -Y])
    expected = get_scorer("neg_mean_absolute_error")(several, X, np.c_[Y, -Y])
    assert found == pytest.approx(expected)


def test_margin_losses_score_decisions():
    data, labels = load_breast_cancer(return_X_y=True)
    words = np.where(labels, "yes", "no")
    model = RidgeClassifier().fit(data, words)
    expected = -hinge_loss(words, model.decision_function(data), labels=["no", "yes"])
    assert make_scorer(Hinge())(model, data, words) == pytest.approx(expected)
    one_class = words == "yes"
    scorer = make_scorer(Hinge(), labels=("no", "yes"))
    assert scorer(model, data[one_class], words[one_class]) > expected
    with pytest.raises(ValueError, match="one class only"):
        make_scorer(Hinge())(model, data[one_class], words[one_class])
    with pytest.raises(ValueError, match="y holds 'no'"):
        make_scorer(Hinge(), labels=("maybe", "yes"))(model, data, words)


def test_in_searches():
    loss = Asymmetric(over=1, under=4)
    search = PLQRegressorCV(loss, Cs=4, cv=KFold(3), scoring=make_scorer(loss)).fit(X, Y)
    assert (search.cv_results_["mean_test_score"] < 0).all()
    grid = GridSearchCV(PLQClassifier(), {"C": [0.1, 1.0]}, scoring=make_scorer("hinge"), cv=3)
    assert grid.fit(*load_breast_cancer(return_X_y=True)).best_score_ < 0
    assert cross_val_score(LinearRegression(), X, Y, scoring=make_scorer(loss)).shape == (5,)


def test_what_is_refused():
    with pytest.raises(ValueError, match="Did you mean 'huber'"):
        make_scorer("hubber")
    with pytest.raises(ValueError, match="it has no labels"):
        make_scorer("huber", labels=(0, 1))
    with pytest.raises(ValueError, match="one prediction per target"):
        model = rl.QuantileRegressor(quantile=[0.1, 0.9], alpha=0.1).fit(X, Y)
        make_scorer("absolute")(model, X, Y)
