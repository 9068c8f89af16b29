"""Estimators give their problems back, and prove their answers again on the same data."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import rectiline as rl
from rectiline.constraints import Fairness
from rectiline.estimators import (
    PLQClassifier,
    PLQClassifierCV,
    PLQRegressor,
    PLQRegressorCV,
    QuantileRegressor,
    QuantileRegressorCV,
)

X, Y = load_diabetes(return_X_y=True, as_frame=True)
IRIS = load_iris(return_X_y=True, as_frame=True)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, Y.size)
TWO = np.c_[Y, np.sqrt(Y)]
LEVELS = {"quantile": [0.8, 0.2], "alpha": 0.01}

CASES = {
    "regressor": (PLQRegressor(), X, Y),
    "outputs": (PLQRegressor("absolute", penalty="l1"), X, TWO),
    "bounds": (PLQRegressor(constraints={"bmi": ">=0"}, monotone={"bp": -1}), X, Y),
    "classifier": (PLQClassifier(), *IRIS),
    "ovo": (PLQClassifier(multi_class="ovo", class_weight="balanced"), *IRIS),
    "two classes": (PLQClassifier(C=0.1), IRIS[0], IRIS[1] > 0),
    "quantile": (QuantileRegressor(quantile=0.3, alpha=0.02), X, Y),
    "quantiles": (QuantileRegressor(**LEVELS), X, Y),
    "list of one": (QuantileRegressor(quantile=[0.3], alpha=0.02), X, Y),
    "non-crossing": (QuantileRegressor(non_crossing=True, **LEVELS), X, Y),
    "shared": (QuantileRegressor(shared_slopes=True, **LEVELS), X, Y),
    "classifier search": (PLQClassifierCV(Cs=3, cv=2), *IRIS),
    "regressor search": (PLQRegressorCV("absolute", Cs=3, cv=2, penalty="elasticnet"), X, Y),
    "quantile search": (QuantileRegressorCV(alphas=3, cv=2), X, Y),
}


def listed(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", CASES)
def test_verify_is_the_certificate(name):
    model, data, target = CASES[name]
    weight = None if len(target) != Y.size else WEIGHT
    model.fit(data, target, sample_weight=weight)
    proofs = model.verify(data, target, sample_weight=weight)
    assert isinstance(proofs, tuple) == isinstance(model.certificate_, tuple)
    for again, first in zip(listed(proofs), listed(model.certificate_), strict=True):
        assert again.primal == pytest.approx(first.primal, rel=1e-12)
        assert again.relative_gap <= max(model.tol, 1e-9)
    problems = listed(model.problem(data, target, sample_weight=weight))
    assert all(isinstance(one, rl.Problem) for one in problems)
    assert len(problems) == len(listed(proofs))


def test_a_fit_and_its_problem_have_one_answer():
    model = PLQRegressor(penalty="l1", C=0.1).fit(X, Y)
    problem = PLQRegressor(penalty="l1", C=0.1).problem(X, Y)
    assert problem.feature_names is not None and problem.loss == model.loss_
    solution = rl.solve(problem, tol=1e-9)
    np.testing.assert_allclose(solution.coef, model.coef_, atol=1e-5)
    assert problem.certify(solution).primal == pytest.approx(model.certificate_.primal)


@pytest.mark.parametrize("weighted", [False, True])
def test_certificates_are_in_units_of_the_documented_objective(weighted):
    weight = WEIGHT if weighted else None
    quantile = QuantileRegressor(quantile=0.3, alpha=0.02).fit(X, Y, weight)
    error = Y - quantile.predict(X)
    loss = np.average(np.maximum(0.3 * error, -0.7 * error), weights=weight)
    expected = loss + 0.02 * np.abs(quantile.coef_).sum()
    assert quantile.certificate_.primal == pytest.approx(expected, rel=1e-9)
    shared = QuantileRegressor(shared_slopes=True, **LEVELS).fit(X, Y, weight)
    error = Y.to_numpy()[:, None] - shared.predict(X)
    level = np.array(LEVELS["quantile"])
    losses = np.maximum(level * error, (level - 1) * error)
    expected = np.average(losses, axis=0, weights=weight).mean()
    expected += 0.01 * np.abs(shared.coef_[0]).sum()
    assert shared.certificate_.primal == pytest.approx(expected, rel=1e-9)
    plain = PLQRegressor("absolute", C=0.5).fit(X, Y, weight)
    error = np.abs(Y - plain.predict(X))
    expected = 0.5 * np.sum(error if weight is None else weight * error)
    expected += 0.5 * plain.coef_ @ plain.coef_
    assert plain.certificate_.primal == pytest.approx(expected, rel=1e-9)


def test_a_wrong_answer_does_not_verify():
    model = PLQRegressor().fit(X, Y)
    solution = model.solution_
    object.__setattr__(solution, "coef", solution.coef + 100.0)
    assert model.verify(X, Y).relative_gap > 1e-3


def test_fairness_reaches_the_problem():
    group = (IRIS[0].iloc[:, 0] > 5.8).to_numpy()
    model = PLQClassifier(constraints=[Fairness(tolerance=0.01)])
    model.fit(IRIS[0], IRIS[1] > 0, sensitive_features=group)
    assert model.verify(IRIS[0], IRIS[1] > 0, sensitive_features=group).relative_gap <= 1e-6


def test_other_data_and_missing_fits():
    model = PLQRegressor("absolute").fit(X, Y)
    with pytest.raises(ValueError, match="verify needs the data of the fit: it had 442 samples"):
        model.verify(X[:100], Y[:100])
    with pytest.raises(NotFittedError):
        PLQRegressor().verify(X, Y)
    with pytest.raises(NotFittedError):
        PLQRegressorCV().problem(X, Y)
    with pytest.raises(NotFittedError):
        QuantileRegressorCV().problem(X, Y)


def test_asking_leaves_the_model_as_it_was():
    model = PLQRegressor().fit(X, Y)
    before = pickle.dumps(vars(model))
    model.problem(pd.DataFrame({"other": Y, "names": Y}), Y)
    model.verify(X, Y)
    assert pickle.dumps(vars(model)) == before
